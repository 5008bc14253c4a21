// SPDX-License-Identifier: Apache-2.0
#include <hal/config.hpp>
#include <hal/error.hpp>
#include <hal/log.hpp>

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hal::log {
namespace {

constexpr int not_read = std::numeric_limits<int>::min();
constinit std::atomic<int> current_level{not_read};

class Output {
 public:
  void replace(Sink sink) {
    auto next = sink ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
    const std::lock_guard lock(mutex_);
    sink_ = std::move(next);
  }

  void write(Level level, std::string_view message) {
    const std::lock_guard lock(mutex_);
    if (writing_) return;  // a sink that logs would never end
    writing_ = true;
    const auto sink = sink_;  // kept, since the sink may replace itself
    try {
      sink ? (*sink)(level, message) : print(level, message);
    } catch (...) {
      // A sink that throws loses the message, as documented.
    }
    writing_ = false;
  }

 private:
  /// One call of `fwrite`, so that lines of several processes do not mix.
  static void print(Level level, std::string_view message) {
    const std::string line = fmt::format("hal: {}: {}\n", name(level), message);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

  std::recursive_mutex mutex_;  ///< recursive: a sink may call back
  std::shared_ptr<const Sink> sink_;
  bool writing_ = false;
};

/// Never destroyed: messages are also written while the process ends.
Output& output() {
  static Output& instance = *new Output;
  return instance;
}

Level level_named(std::string_view text) noexcept {
  for (const Level level : {Level::off, Level::error, Level::info, Level::debug}) {
    if (name(level) == text) return level;
  }
  return Level::warning;
}

/// The level `HAL_LOG` asks for, unless the program has set one meanwhile.
Level read_level() noexcept {
  Level wanted = Level::warning;
  std::optional<Error> problem;
  try {
    wanted = level_named(config::text("HAL_LOG"));
  } catch (const Error& error) {
    problem = error;
  } catch (...) {
    // Without memory to read it, the built-in level holds.
  }
  int expected = not_read;
  if (!current_level.compare_exchange_strong(expected, static_cast<int>(wanted))) {
    return static_cast<Level>(expected);
  }
  if (problem) write(Level::warning, problem->message());
  return wanted;
}

}  // namespace

void set_sink(Sink sink) { output().replace(std::move(sink)); }

void set_level(Level level) noexcept { current_level.store(static_cast<int>(level)); }

Level level() noexcept {
  const int known = current_level.load(std::memory_order_relaxed);
  return known == not_read ? read_level() : static_cast<Level>(known);
}

void write(Level level, std::string_view message) noexcept {
  if (level < Level::error || level > log::level()) return;
  try {
    output().write(level, message);
  } catch (...) {
    // Without memory for a message there is nobody left to tell.
  }
}

}  // namespace hal::log
