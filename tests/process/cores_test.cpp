// SPDX-License-Identifier: Apache-2.0
#include "process/program.hpp"
#include "support/catch.hpp"

namespace {

constexpr int cannot_be_tried = 77;

void check_one_core(const char* scenario) {
  const process::Result result = process::run(scenario);
  INFO(process::describe(result));
  if (result.status == cannot_be_tried) {
    WARN("not tried on this machine: " << result.out);
    return;
  }
  CHECK(result.status == 0);
  CHECK(result.out == "cores: 1\ndone\n");
}

}  // namespace

TEST_CASE("a process confined to one core has one, and everything works on it") {
  check_one_core("one-core");
}

TEST_CASE("a process with a quota of one core has one, and everything works on it") {
  check_one_core("quota-of-one-core");
}
