// SPDX-License-Identifier: Apache-2.0
#include "process/scenarios.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>

namespace process {

void say(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  // A failure cannot be told to anybody: the test misses the line.
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
}

bool works(const Everything& all, int value) {
  all.stream.fill(all.buffer, value);
  all.stream.record(all.event);
  all.event.synchronize();
  const hal::Stream other = all.device.create_stream();
  other.wait(all.event);
  return other.read(all.buffer) == std::vector<int>(1000, value);
}

void say_what_calls_answer(const Everything& all) {
  std::vector<int> host(1000);
  const auto answer = [](std::string_view call, auto&& f) {
    say(std::string(call) + ": " + outcome(f));
  };
  answer("devices", [] { (void)hal::devices(); });
  answer("device", [] { (void)hal::device("host:0"); });
  answer("default_device", [] { (void)hal::default_device(); });
  answer("create_stream", [&] { (void)all.device.create_stream(); });
  answer("create_event", [&] { (void)all.device.create_event(); });
  answer("allocate", [&] { (void)all.device.allocate<int>(10, all.stream); });
  answer("allocate kind", [&] { (void)all.device.allocate<int>(10, hal::MemoryKind::device); });
  answer("allocator", [&] { (void)all.device.allocator(); });
  answer("memory_info", [&] { (void)all.device.memory_info(); });
  answer("device synchronize", [&] { all.device.synchronize(); });
  answer("copy", [&] { all.stream.copy(host, all.buffer); });
  answer("fill", [&] { all.stream.fill(all.buffer, 1); });
  answer("launch", [&] { all.stream.launch([](std::size_t) {}, hal::over(1)); });
  answer("call", [&] { all.stream.call([] {}); });
  answer("new record", [&] { (void)all.stream.record(); });
  answer("record", [&] { all.stream.record(all.event); });
  answer("wait", [&] { all.stream.wait(all.event); });
  answer("query", [&] { (void)all.stream.query(); });
  answer("synchronize", [&] { all.stream.synchronize(); });
  answer("synchronize timeout", [&] { all.stream.synchronize(std::chrono::seconds(1)); });
  answer("reset_error", [&] { all.stream.reset_error(); });
  answer("read", [&] { (void)all.stream.read(all.buffer); });
  answer("event query", [&] { (void)all.event.query(); });
  answer("event synchronize", [&] { all.event.synchronize(); });
  answer("elapsed_ms", [&] { (void)hal::elapsed_ms(all.event, all.event); });
}

struct Gate::State {
  std::atomic<bool> reached{false};
  std::atomic<bool> opened{false};
};

Gate::Gate(const hal::Stream& stream) : state_(std::make_shared<State>()) {
  stream.call([state = state_] {
    state->reached = true;
    state->reached.notify_all();
    state->opened.wait(false);
  });
}

void Gate::open() noexcept {
  state_->opened = true;
  state_->opened.notify_all();
}

void Gate::wait_until_reached() const { state_->reached.wait(false); }

namespace {

int run_scenario(std::string_view name) {
  for (const auto& group : {fork_scenarios(), shutdown_scenarios(), exit_scenarios(),
                            settings_scenarios(), cores_scenarios()}) {
    for (const Scenario& scenario : group) {
      if (scenario.name == name) return scenario.run();
    }
  }
  std::fprintf(stderr, "there is no scenario '%.*s'\n", static_cast<int>(name.size()), name.data());
  return 2;
}

}  // namespace
}  // namespace process

int main(int argc, char** argv) {
  try {
    return process::run_scenario(argc == 2 ? argv[1] : "");
  } catch (const hal::Error& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
