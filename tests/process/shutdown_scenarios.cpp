// SPDX-License-Identifier: Apache-2.0
#include "process/scenarios.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace process {
namespace {

int shut_down_before_use() {
  hal::shutdown();
  say("devices: " + outcome([] { (void)hal::devices(); }));
  return 0;
}

int shut_down_twice() {
  const Everything all;
  if (!works(all, 1)) return 1;
  hal::shutdown();
  hal::shutdown();
  say("twice");
  return 0;
}

int calls_after_shutdown() {
  const Everything all;
  if (!works(all, 1)) return 1;
  hal::shutdown();
  say_what_calls_answer(all);
  return 0;
}

int destroy_after_shutdown() {
  std::optional<Everything> all(std::in_place);
  hal::Buffer pinned = all->device.allocate_bytes(100, hal::AllocationOptions{});
  hal::BufferView kept = all->buffer.bytes().keep_alive();
  if (!works(*all, 1)) return 1;
  hal::shutdown();
  all.reset();
  kept = {};
  pinned = {};
  say("destroyed");
  return 0;
}

int shut_down_with_work_in_flight() {
  const Everything all;
  std::vector<int> out(1000);
  Gate gate(all.stream);
  gate.wait_until_reached();
  for (int round = 0; round < 1000; ++round)
    all.stream.fill(all.buffer, round);
  all.stream.copy(out, all.buffer);
  all.stream.call([] { say("last work"); });
  std::jthread opener([gate]() mutable { gate.open(); });
  hal::shutdown();
  say(out == std::vector<int>(1000, 999) ? "all is done" : "work is lost");
  return 0;
}

int shut_down_after_handles_are_gone() {
  {
    const Everything all;
    for (int round = 0; round < 1000; ++round)
      all.stream.fill(all.buffer, round);
    all.stream.call([] { say("last work"); });
  }
  hal::shutdown();
  say("shut down");
  return 0;
}

int shut_down_with_a_failure() {
  const Everything all;
  all.stream.call([] { throw std::runtime_error("the cause"); });
  try {
    hal::shutdown();
  } catch (const hal::Error& error) {
    say(error.message());
  }
  say("again: " + outcome([] { hal::shutdown(); }));
  say("fill: " + outcome([&] { all.stream.fill(all.buffer, 1); }));
  return 0;
}

/// Threads that use HAL while it is shut down work or are refused; none crashes, none hangs.
int shut_down_under_use() {
  const Everything all;
  std::array<std::string, 3> ends;
  {
    std::atomic<int> running{0};
    std::vector<std::jthread> threads;
    for (std::string& end : ends) {
      threads.emplace_back([&all, &end, &running] {
        bool counted = false;
        while (end.empty()) {
          const std::string result = outcome([&] {
            const auto buffer = all.device.allocate<int>(100, all.stream);
            all.stream.fill(buffer, 1);
            all.stream.synchronize();
          });
          if (!std::exchange(counted, true)) ++running;
          if (result != "ok") end = result;
        }
      });
    }
    while (running < 3)
      std::this_thread::yield();
    hal::shutdown();
  }
  for (const std::string& end : ends)
    say(end);
  return 0;
}

constexpr Scenario scenarios[] = {
    {"shut-down-before-use", shut_down_before_use},
    {"shut-down-twice", shut_down_twice},
    {"calls-after-shutdown", calls_after_shutdown},
    {"destroy-after-shutdown", destroy_after_shutdown},
    {"shut-down-with-work-in-flight", shut_down_with_work_in_flight},
    {"shut-down-after-handles-are-gone", shut_down_after_handles_are_gone},
    {"shut-down-with-a-failure", shut_down_with_a_failure},
    {"shut-down-under-use", shut_down_under_use},
};

}  // namespace

std::span<const Scenario> shutdown_scenarios() { return scenarios; }

}  // namespace process
