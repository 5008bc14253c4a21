// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/self.hpp"

#include <hal/log.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;
using hal::log::Level;

namespace log = hal::log;

/// Messages go to `lines` ("warning: text"), at `level`, as long as this lives.
class Capture {
 public:
  explicit Capture(Level level) : before_(log::level()) {
    log::set_level(level);
    log::set_sink([this](Level of, std::string_view message) {
      lines.push_back(std::string(name(of)) + ": " + std::string(message));
    });
  }
  ~Capture() {
    log::set_sink({});
    log::set_level(before_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::vector<std::string> lines;

 private:
  Level before_;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("writes a message of every level", "[.][log-child]") {
  for (const Level level : {Level::error, Level::warning, Level::info, Level::debug}) {
    log::write(level, "a message");
  }
}

TEST_CASE("messages up to the level are passed on, others are not") {
  Capture capture(Level::info);
  log::write(Level::error, "a");
  log::write(Level::warning, "b");
  log::write(Level::info, "c");
  log::write(Level::debug, "d");
  CHECK(capture.lines == Lines{"error: a", "warning: b", "info: c"});
}

TEST_CASE("off silences errors too, and nothing is written at level off") {
  Capture capture(Level::off);
  log::write(Level::error, "a");
  log::write(Level::off, "b");
  CHECK(capture.lines.empty());
}

TEST_CASE("the level set is the level in force") {
  const Capture capture(Level::debug);
  CHECK(log::level() == Level::debug);
  log::set_level(Level::error);
  CHECK(log::level() == Level::error);
}

TEST_CASE("a sink that throws loses the message and nothing else") {
  Capture capture(Level::warning);
  log::set_sink([&](Level, std::string_view message) {
    if (message == "bad") throw std::runtime_error("full");
    capture.lines.emplace_back(message);
  });
  log::write(Level::error, "bad");
  log::write(Level::error, "good");
  CHECK(capture.lines == Lines{"good"});
}

TEST_CASE("a sink that logs does not recurse") {
  Capture capture(Level::warning);
  log::set_sink([&](Level, std::string_view message) {
    capture.lines.emplace_back(message);
    log::write(Level::error, "from the sink");
  });
  log::write(Level::error, "first");
  log::write(Level::error, "second");
  CHECK(capture.lines == Lines{"first", "second"});
}

TEST_CASE("a sink may replace itself") {
  Capture capture(Level::warning);
  log::set_sink([&, held = std::string("old sink")](Level, std::string_view) {
    log::set_sink([&](Level, std::string_view message) { capture.lines.emplace_back(message); });
    capture.lines.push_back(held);  // what it captured is still there
  });
  log::write(Level::error, "first");
  log::write(Level::error, "second");
  CHECK(capture.lines == Lines{"old sink", "second"});
}

TEST_CASE("a sink is never called by two threads at once") {
  Capture capture(Level::warning);
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  int count = 0;  // not atomic, on purpose
  log::set_sink([&](Level, std::string_view) {
    if (inside.fetch_add(1) != 0) ++overlaps;
    ++count;
    inside.fetch_sub(1);
  });
  std::vector<std::thread> threads;
  for (int index = 0; index < 4; ++index) {
    threads.emplace_back([] {
      for (int round = 0; round < 1000; ++round)
        log::write(Level::error, "x");
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  CHECK(overlaps == 0);
  CHECK(count == 4000);
}

TEST_CASE("by default warnings and errors go to standard error, a line each") {
  const auto child = hal_test::run_self("[log-child]", {"HAL_LOG="});
  CHECK(child.exit_status == 0);
  CHECK_THAT(child.output, ContainsSubstring("hal: error: a message\nhal: warning: a message\n"));
  CHECK_THAT(child.output, !ContainsSubstring("hal: info:"));
}

TEST_CASE("HAL_LOG chooses the level") {
  const auto all = hal_test::run_self("[log-child]", {"HAL_LOG=debug"});
  CHECK_THAT(all.output, ContainsSubstring("hal: info: a message\nhal: debug: a message\n"));
  const auto none = hal_test::run_self("[log-child]", {"HAL_LOG=off"});
  CHECK(none.exit_status == 0);
  CHECK_THAT(none.output, !ContainsSubstring("hal: "));
}

TEST_CASE("a HAL_LOG that does not parse is reported once and means warning") {
  const auto child = hal_test::run_self("[log-child]", {"HAL_LOG=loud"});
  CHECK(child.exit_status == 0);
  const std::string report =
      "hal: warning: HAL_LOG is 'loud': set it to off, error, warning, info or debug\n";
  CHECK_THAT(child.output, ContainsSubstring(report));
  CHECK(child.output.find(report) == child.output.rfind(report));
  CHECK_THAT(child.output, ContainsSubstring("hal: warning: a message"));
  CHECK_THAT(child.output, !ContainsSubstring("hal: info:"));
}
