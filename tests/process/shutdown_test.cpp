// SPDX-License-Identifier: Apache-2.0
#include "process/program.hpp"
#include "support/catch.hpp"

#include <sstream>
#include <string>

using Catch::Matchers::ContainsSubstring;
using process::describe;
using process::run;

TEST_CASE("HAL may be shut down before it was used") {
  const process::Result result = run("shut-down-before-use");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "devices: invalid_state\n");
}

TEST_CASE("shutting down twice is fine") {
  const process::Result result = run("shut-down-twice");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "twice\n");
}

TEST_CASE("every call after the shutdown is an invalid state") {
  const process::Result result = run("calls-after-shutdown");
  INFO(describe(result));
  REQUIRE(result.status == 0);
  std::istringstream lines(result.out);
  int calls = 0;
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.ends_with(": invalid_state"));
    ++calls;
  }
  CHECK(calls == 25);
}

TEST_CASE("objects may be destroyed after the shutdown") {
  const process::Result result = run("destroy-after-shutdown");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "destroyed\n");
}

TEST_CASE("the shutdown waits for work in flight") {
  const process::Result result = run("shut-down-with-work-in-flight");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "last work\nall is done\n");
}

TEST_CASE("the shutdown waits for work of streams whose handles are gone") {
  const process::Result result = run("shut-down-after-handles-are-gone");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "last work\nshut down\n");
}

TEST_CASE("the shutdown throws the first failure after everything is closed") {
  const process::Result result = run("shut-down-with-a-failure");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK_THAT(result.out, ContainsSubstring("the cause"));
  CHECK_THAT(result.out, ContainsSubstring("again: ok\nfill: invalid_state\n"));
}

TEST_CASE("threads that use HAL while it is shut down are refused and do not crash") {
  for (int round = 0; round < 5; ++round) {
    const process::Result result = run("shut-down-under-use");
    INFO(describe(result));
    CHECK(result.status == 0);
    CHECK(result.out == "invalid_state\ninvalid_state\ninvalid_state\n");
  }
}
