// SPDX-License-Identifier: Apache-2.0
#include "process/program.hpp"
#include "support/catch.hpp"

#include <string>

using process::describe;
using process::run;

namespace {

void check_exit(const char* scenario, int status, const std::string& out) {
  const process::Result result = run(scenario);
  INFO(scenario << ": " << describe(result));
  CHECK(result.status == status);
  CHECK(result.out == out);
  CHECK(result.err.empty());
}

}  // namespace

TEST_CASE("a process that ends awaits the work that runs and drops what is queued") {
  check_exit("return-from-main", 5, "running work is done\n");
  check_exit("call-exit", 6, "running work is done\n");
  check_exit("exit-without-handles", 7, "running work is done\n");
}

TEST_CASE("a process that ends awaits a kernel that runs") {
  check_exit("exit-with-a-kernel-running", 8, "running work is done\n");
}

TEST_CASE("a process may end while threads wait for a stream or enqueue on it") {
  check_exit("exit-while-a-thread-waits", 9, "running work is done\n");
  check_exit("exit-while-a-thread-enqueues", 10, "");
}

TEST_CASE("a process may be ended by any of its threads") {
  check_exit("exit-from-another-thread", 11, "running work is done\n");
}

TEST_CASE("a host function or kernel may end the process") {
  check_exit("exit-in-a-host-function", 12, "");
  check_exit("exit-in-a-kernel", 13, "");
}

TEST_CASE("a process that ends at once awaits nothing") {
  check_exit("quick-exit", 14, "");
  check_exit("immediate-exit", 15, "");
}

TEST_CASE("static objects may hold streams, buffers and events, whenever they are destroyed") {
  check_exit("static-destructor-after", 16, "");
  check_exit("static-destructor-before", 17, "");
}

TEST_CASE("a static object that uses HAL once it has ended gets an error") {
  check_exit("use-in-a-static-destructor", 18, "late fill: invalid_state\n");
}

TEST_CASE("a process that has shut HAL down ends as any other") {
  check_exit("shut-down-then-exit", 19, "");
}
