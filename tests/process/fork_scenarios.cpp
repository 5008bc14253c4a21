// SPDX-License-Identifier: Apache-2.0
#include "process/scenarios.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

namespace process {
namespace {

/// Runs `child` in a forked process, which then exits as a program does; its exit status.
template <typename F>
int in_child(F&& child) {
  const pid_t id = ::fork();
  if (id == 0) {
    int status = 1;
    try {
      status = child();
    } catch (const std::exception& error) {
      say(std::string("child threw ") + error.what());
    }
    std::exit(status);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int child_calls() {
  const Everything all;
  if (!works(all, 1)) return 1;
  const int status = in_child([&] {
    say_what_calls_answer(all);
    return 0;
  });
  say(works(all, 2) ? "parent works" : "parent is broken");
  return status;
}

int child_message() {
  const Everything all;
  return in_child([&] {
    try {
      all.stream.fill(all.buffer, 1);
    } catch (const hal::Error& error) {
      say(error.what());
    }
    return 0;
  });
}

int child_destroys() {
  std::optional<Everything> all(std::in_place);
  if (!works(*all, 1)) return 1;
  const int status = in_child([&] {
    all.reset();
    say("child destroyed everything");
    return 0;
  });
  say(works(*all, 2) ? "parent works" : "parent is broken");
  return status;
}

int fork_with_work_in_flight() {
  const Everything all;
  std::vector<int> out(1000);
  Gate gate(all.stream);
  gate.wait_until_reached();
  all.stream.fill(all.buffer, 7);
  all.stream.copy(out, all.buffer);
  const int status = in_child([&] {
    say("child: " + outcome([&] { all.stream.synchronize(); }));
    return 0;
  });
  gate.open();
  all.stream.synchronize();
  say(out == std::vector<int>(1000, 7) ? "parent's work is done" : "parent's work is lost");
  return status;
}

int fork_before_start() {
  if (hal::device_count() < 1 || hal::backends().empty() || hal::describe_devices().empty()) {
    return 1;
  }
  const int status = in_child([] {
    const Everything all;
    say(works(all, 1) ? "child works" : "child is broken");
    return 0;
  });
  const Everything all;
  say(works(all, 2) ? "parent works" : "parent is broken");
  return status;
}

/// Many children, each of which uses a device of its own while the others do.
int many_children() {
  std::array<pid_t, 8> children{};
  for (pid_t& child : children) {
    child = ::fork();
    if (child == 0) {
      const Everything all;
      std::exit(works(all, 3) ? 0 : 1);
    }
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++failed;
  }
  return failed;
}

int plain() {
  const Everything all;
  say(works(all, 1) ? "it works" : "it is broken");
  return 0;
}

/// Becomes a new program, which starts HAL anew. Returns only if that fails.
int become_plain() {
  std::string program = "hal-process-scenarios";
  std::string scenario = "plain";
  std::array<char*, 3> arguments{program.data(), scenario.data(), nullptr};
  return ::execv("/proc/self/exe", arguments.data());
}

int exec_after_start() {
  const Everything all;
  if (!works(all, 1)) return 1;
  for (int round = 0; round < 1000; ++round)
    all.stream.fill(all.buffer, round);
  const Gate gate(all.stream);
  gate.wait_until_reached();
  return become_plain();
}

/// A child that only execs, as std::system and every shell do, takes nothing from HAL.
int child_execs() {
  const Everything all;
  if (!works(all, 1)) return 1;
  const int status = in_child(become_plain);
  say(works(all, 2) ? "parent works" : "parent is broken");
  return status;
}

constexpr Scenario scenarios[] = {
    {"plain", plain},
    {"child-calls", child_calls},
    {"child-message", child_message},
    {"child-destroys", child_destroys},
    {"fork-with-work-in-flight", fork_with_work_in_flight},
    {"fork-before-start", fork_before_start},
    {"many-children", many_children},
    {"exec-after-start", exec_after_start},
    {"child-execs", child_execs},
};

}  // namespace

std::span<const Scenario> fork_scenarios() { return scenarios; }

}  // namespace process
