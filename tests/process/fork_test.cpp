// SPDX-License-Identifier: Apache-2.0
#include "process/program.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <sstream>
#include <string>

using Catch::Matchers::ContainsSubstring;
using process::describe;
using process::run;

TEST_CASE("every call of a child forked after a device was started is an invalid state") {
  const process::Result result = run("child-calls");
  INFO(describe(result));
  REQUIRE(result.status == 0);
  std::istringstream lines(result.out);
  int calls = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line == "parent works") continue;
    CAPTURE(line);
    CHECK(line.ends_with(": invalid_state"));
    ++calls;
  }
  CHECK(calls == 25);
  CHECK_THAT(result.out, ContainsSubstring("parent works"));
}

TEST_CASE("the error of a forked child says that it was forked") {
  const process::Result result = run("child-message");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK_THAT(result.out, ContainsSubstring("fork"));
}

TEST_CASE("a forked child may destroy what it inherited, and its parent goes on") {
  const process::Result result = run("child-destroys");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "child destroyed everything\nparent works\n");
}

TEST_CASE("a fork with work in flight leaves the parent's work alone and the child free to exit") {
  const process::Result result = run("fork-with-work-in-flight");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "child: invalid_state\nparent's work is done\n");
}

TEST_CASE("a process that only listed devices may fork and use them on both sides") {
  const process::Result result = run("fork-before-start");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "child works\nparent works\n");
}

TEST_CASE("children forked before anything was started all work at once") {
  const process::Result result = run("many-children");
  INFO(describe(result));
  CHECK(result.status == 0);
}

TEST_CASE("a program that started a device may become another") {
  const process::Result result = run("exec-after-start");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "it works\n");
}

TEST_CASE("a child that becomes another program starts afresh") {
  const process::Result result = run("child-execs");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "it works\nparent works\n");
}
