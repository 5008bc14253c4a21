// SPDX-License-Identifier: Apache-2.0
#include "process/scenarios.hpp"

#include <cstddef>
#include <stdexcept>

namespace process {
namespace {

/// "HAL_SYNC boolean", one line a variable.
int list_variables() {
  for (const hal::config::Variable& variable : hal::config::variables()) {
    say(variable.name + ' ' + std::string(hal::config::name(variable.type)));
  }
  return 0;
}

int use_default_device() {
  say(hal::default_device().id());
  return 0;
}

/// "host:0 4", one line a host device: its id and its cores.
int list_host_devices() {
  for (const hal::Device& device : hal::devices()) {
    if (device.backend() != "host") continue;
    say(device.id() + ' ' + std::to_string(device.properties().compute_units.value_or(0)));
  }
  return 0;
}

/// Every host device computes, and hands over to the next.
int use_all_host_devices() {
  std::vector<int> values(1000);
  hal::Event last;
  std::vector<hal::Stream> streams;
  for (const hal::Device& device : hal::devices()) {
    if (device.backend() != "host") continue;
    streams.push_back(device.create_stream());
    if (last) streams.back().wait(last);
    streams.back().launch([](std::size_t i, int* to) { ++to[i]; },
                          hal::over(values.size()).with_grain(10), values.data());
    last = streams.back().record();
  }
  last.synchronize();
  say(values == std::vector<int>(1000, static_cast<int>(streams.size())) ? "right" : "wrong");
  return 0;
}

/// Says which calls throw when each of three kinds of work fails.
int fail_at_once() {
  const hal::Stream stream = hal::device("host:0").create_stream();
  try {
    stream.launch([](std::size_t) { throw std::runtime_error("kernel"); },
                  hal::over(1).named("picky"));
    say("launch returned");
  } catch (const hal::Error& error) {
    say("launch threw " + error.message());
    say(error.origin() ? "in " + error.origin()->operation : "in nothing");
  }
  say("then: " + outcome([&] { stream.synchronize(); }));
  stream.reset_error();
  say("call: " + outcome([&] { stream.call([] { throw std::runtime_error("function"); }); }));
  stream.reset_error();
  say("sound: " + outcome([&] { stream.call([] {}); }));
  return 0;
}

/// One of each kind of work, for the trace.
int work_of_all_kinds() {
  const Everything all;
  if (!works(all, 1)) return 1;
  all.stream.launch([](std::size_t, int*) {}, hal::over(1000).named("a \"quoted\" kernel\n"),
                    all.buffer);
  all.stream.call([] {}, "function");
  Gate gate(all.stream);
  const hal::Stream other = all.device.create_stream();
  other.wait(all.stream.record());
  gate.open();
  other.synchronize();
  all.stream.synchronize();
  return 0;
}

int work_then_shut_down() {
  const int status = work_of_all_kinds();
  hal::shutdown();
  return status;
}

int allocate_four_megabytes() {
  const hal::Device device = hal::device("host:0");
  const hal::Stream stream = device.create_stream();
  say(outcome([&] { (void)device.allocate_bytes(std::size_t{4} << 20U, stream); }));
  return 0;
}

int set_variables() {
  say("unknown: " + outcome([] { hal::config::set("HAL_NONESUCH", "1"); }));
  say("nonsense: " + outcome([] { hal::config::set("HAL_HOST_DEVICES", "many"); }));
  say("out of bounds: " + outcome([] { hal::config::set("HAL_HOST_DEVICES", "1000000"); }));
  hal::config::set("HAL_HOST_DEVICES", "3");
  return list_host_devices();
}

/// Runs all loops itself and counts them.
class CountingExecutor : public hal::HostExecutor {
 public:
  [[nodiscard]] int concurrency() const noexcept override { return 2; }
  void parallel_for(std::size_t count, std::size_t, Body body) override {
    ++loops;
    body.run(body.context, 0, count);
  }
  int loops = 0;
};

int install_an_executor() {
  auto executor = std::make_shared<CountingExecutor>();
  hal::set_host_executor(executor);
  const Everything all;
  std::vector<int> values(100000);
  all.stream.launch([](std::size_t i, int* to) { ++to[i]; }, hal::over(values.size()),
                    values.data());
  all.stream.synchronize();
  say(values == std::vector<int>(100000, 1) ? "right" : "wrong");
  say(executor->loops > 0 ? "by its owner" : "by HAL");
  say("late: " + outcome([&] { hal::set_host_executor(executor); }));
  return 0;
}

constexpr Scenario scenarios[] = {
    {"list-variables", list_variables},
    {"use-default-device", use_default_device},
    {"list-host-devices", list_host_devices},
    {"use-all-host-devices", use_all_host_devices},
    {"fail-at-once", fail_at_once},
    {"work-of-all-kinds", work_of_all_kinds},
    {"work-then-shut-down", work_then_shut_down},
    {"allocate-four-megabytes", allocate_four_megabytes},
    {"set-variables", set_variables},
    {"install-an-executor", install_an_executor},
};

}  // namespace

std::span<const Scenario> settings_scenarios() { return scenarios; }

}  // namespace process
