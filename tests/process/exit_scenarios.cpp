// SPDX-License-Identifier: Apache-2.0
#include "process/scenarios.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>

namespace process {
namespace {

/// Set by a handler that runs before HAL's own: it is registered later, once a device is started.
std::atomic<bool> exiting{false};

void note_exit() {
  exiting = true;
  exiting.notify_all();
}

/// Enqueues work that is running when the process begins to end, goes on for a while and then says
/// so, and a lot of work behind it that must not begin any more.
void run_into_exit(const Everything& all) {
  static std::atomic<bool> running{false};
  std::atexit(note_exit);
  all.stream.call([] {
    running = true;
    running.notify_all();
    exiting.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    say("running work is done");
  });
  for (int index = 0; index < 100; ++index)
    all.stream.call([] { say("queued work ran"); });
  running.wait(false);
}

int return_from_main() {
  const Everything all;
  run_into_exit(all);
  return 5;
}

int call_exit() {
  const Everything all;
  run_into_exit(all);
  std::exit(6);
}

/// The handles are gone long before the process ends, the work is not.
int exit_without_handles() {
  run_into_exit(Everything());
  return 7;
}

int exit_with_a_kernel_running() {
  const Everything all;
  static std::atomic<bool> running{false};
  std::atexit(note_exit);
  all.stream.launch(
      [](std::size_t index) {
        if (index != 0) return;
        running = true;
        running.notify_all();
        exiting.wait(false);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        say("running work is done");
      },
      hal::over(100).with_grain(1));
  running.wait(false);
  return 8;
}

int exit_while_a_thread_waits() {
  static const Everything& all = *new Everything;  // the thread goes on while statics are destroyed
  run_into_exit(all);
  std::thread([] {
    (void)outcome([] { all.stream.synchronize(); });
    (void)outcome([] { all.event.synchronize(); });
  }).detach();
  return 9;
}

int exit_while_a_thread_enqueues() {
  static const Everything& all = *new Everything;  // the thread goes on while statics are destroyed
  static std::atomic<bool> started{false};
  std::thread([] {
    while (outcome([] { all.stream.fill(all.buffer, 1); }) == "ok")
      started = true;
  }).detach();
  while (!started)
    std::this_thread::yield();
  return 10;
}

int exit_from_another_thread() {
  const Everything all;
  run_into_exit(all);
  std::thread([] { std::exit(11); }).join();
  return 1;
}

/// What the end of the process, begun on another thread, may cut short with an error.
template <typename Wait>
void wait_for_the_end(Wait&& wait) {
  if (outcome(wait) == "invalid_state") std::this_thread::sleep_for(std::chrono::hours(1));
}

int exit_in_a_host_function() {
  const Everything all;
  all.stream.call([] { std::exit(12); });
  wait_for_the_end([&] {
    all.stream.call([] { say("queued work ran"); });
    all.stream.synchronize();
  });
  return 1;
}

int exit_in_a_kernel() {
  const Everything all;
  all.stream.launch(
      [](std::size_t index) {
        if (index == 0) std::exit(13);
      },
      hal::over(1));
  wait_for_the_end([&] { all.stream.synchronize(std::chrono::hours(1)); });
  return 1;
}

int quick_exit() {
  const Everything all;
  const Gate gate(all.stream);
  gate.wait_until_reached();
  std::quick_exit(14);
}

int immediate_exit() {
  const Everything all;
  const Gate gate(all.stream);
  gate.wait_until_reached();
  ::_exit(15);
}

/// Constructed before HAL is started, so destroyed after HAL has ended.
std::unique_ptr<Everything> static_before;

int static_destructor_after() {
  static_before = std::make_unique<Everything>();
  if (!works(*static_before, 1)) return 1;
  for (int round = 0; round < 1000; ++round)
    static_before->stream.fill(static_before->buffer, 1);
  return 16;
}

/// Constructed after HAL is started, so destroyed before HAL has ended.
int static_destructor_before() {
  (void)hal::device("host:0");
  static const Everything all;
  if (!works(all, 1)) return 1;
  for (int round = 0; round < 1000; ++round)
    all.stream.fill(all.buffer, round);
  return 17;
}

/// A static object that uses HAL while it is destroyed.
class UsesHalAtTheEnd {
 public:
  ~UsesHalAtTheEnd() {
    if (all_ != nullptr) say("late fill: " + outcome([&] { all_->stream.fill(all_->buffer, 1); }));
  }
  void start() { all_ = std::make_unique<Everything>(); }

 private:
  std::unique_ptr<Everything> all_;
};
UsesHalAtTheEnd uses_hal_at_the_end;

int use_in_a_static_destructor() {
  uses_hal_at_the_end.start();
  return 18;
}

int shut_down_then_exit() {
  const Everything all;
  if (!works(all, 1)) return 1;
  hal::shutdown();
  return 19;
}

constexpr Scenario scenarios[] = {
    {"return-from-main", return_from_main},
    {"call-exit", call_exit},
    {"exit-without-handles", exit_without_handles},
    {"exit-with-a-kernel-running", exit_with_a_kernel_running},
    {"exit-while-a-thread-waits", exit_while_a_thread_waits},
    {"exit-while-a-thread-enqueues", exit_while_a_thread_enqueues},
    {"exit-from-another-thread", exit_from_another_thread},
    {"exit-in-a-host-function", exit_in_a_host_function},
    {"exit-in-a-kernel", exit_in_a_kernel},
    {"quick-exit", quick_exit},
    {"immediate-exit", immediate_exit},
    {"static-destructor-after", static_destructor_after},
    {"static-destructor-before", static_destructor_before},
    {"use-in-a-static-destructor", use_in_a_static_destructor},
    {"shut-down-then-exit", shut_down_then_exit},
};

}  // namespace

std::span<const Scenario> exit_scenarios() { return scenarios; }

}  // namespace process
