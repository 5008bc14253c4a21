// SPDX-License-Identifier: Apache-2.0
#include "process/scenarios.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace process {
namespace {

/// Uses streams in the ways that need more than one thing to go on at a time. Says what was wrong.
void use_few_cores() {
  const Everything all;
  say("cores: " + std::to_string(all.device.properties().compute_units.value_or(0)));
  if (!works(all, 1)) say("simple work is wrong");

  std::vector<int> values(100000);
  all.stream.launch([](std::size_t i, int* to) { ++to[i]; },
                    hal::over(values.size()).with_grain(10), values.data());
  all.stream.synchronize();
  if (values != std::vector<int>(values.size(), 1)) say("a launch is wrong");

  const hal::Stream other = all.device.create_stream();
  int handed_over = 0;
  for (int round = 0; round < 1000; ++round) {
    all.stream.call([&handed_over] { ++handed_over; });
    other.wait(all.stream.record());
    other.call([&handed_over] { ++handed_over; });
    all.stream.wait(other.record());
  }
  all.stream.synchronize();
  if (handed_over != 2000) say("handing over is wrong");

  bool waited = false;
  all.stream.call([&] {
    other.call([&waited] { waited = true; });
    other.synchronize();
  });
  all.stream.synchronize();
  if (!waited) say("waiting in a host function is wrong");

  Gate gate(all.stream);
  gate.wait_until_reached();
  if (!works({all.device, other, all.device.create_event(), all.device.allocate<int>(1000, other)},
             2)) {
    say("work beside a stream that is held up is wrong");
  }
  gate.open();
  all.device.synchronize();
  say("done");
}

int one_core() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cannot_be_tried;
  int first = 0;
  while (!CPU_ISSET(first, &allowed))
    ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  if (::sched_setaffinity(0, sizeof(one), &one) != 0) return cannot_be_tried;
  use_few_cores();
  return 0;
}

namespace files = std::filesystem;

/// A control group of version 2 that this process is in, with a quota of one core.
class OneCoreGroup {
 public:
  /// Throws std::runtime_error where groups cannot be made.
  OneCoreGroup()
      : path_(files::path("/sys/fs/cgroup") / ("hal-test-" + std::to_string(::getpid()))) {
    if (!files::exists("/sys/fs/cgroup/cgroup.controllers")) {
      throw std::runtime_error("control groups of version 2 are not mounted at /sys/fs/cgroup");
    }
    files::create_directory(path_);
    try {
      write("cpu.max", "100000 100000");
      write("cgroup.procs", std::to_string(::getpid()));
    } catch (...) {
      remove();
      throw;
    }
  }
  ~OneCoreGroup() {
    std::ofstream("/sys/fs/cgroup/cgroup.procs") << ::getpid();
    remove();
  }
  OneCoreGroup(const OneCoreGroup&) = delete;
  OneCoreGroup& operator=(const OneCoreGroup&) = delete;

 private:
  void write(const char* file, const std::string& text) const {
    std::ofstream stream(path_ / file);
    stream << text << std::flush;
    if (!stream) throw std::runtime_error("cannot write " + (path_ / file).string());
  }
  void remove() const noexcept {
    std::error_code ignored;
    files::remove(path_, ignored);
  }
  files::path path_;
};

int quota_of_one_core() {
  std::optional<OneCoreGroup> group;
  try {
    group.emplace();
  } catch (const std::exception& error) {
    say(error.what());
    return cannot_be_tried;
  }
  use_few_cores();
  return 0;
}

constexpr Scenario scenarios[] = {
    {"one-core", one_core},
    {"quota-of-one-core", quota_of_one_core},
};

}  // namespace

std::span<const Scenario> cores_scenarios() { return scenarios; }

}  // namespace process
