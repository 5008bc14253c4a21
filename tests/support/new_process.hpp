// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "catch.hpp"
#include "self.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace hal_test {

/// The test case that is running, as Catch2's command line inside single quotes of a shell names
/// it.
inline std::string this_test_case() {
  std::string pattern;
  for (const char c : Catch::getResultCapture().getCurrentTestName()) {
    if (c == ',' || c == '[' || c == '\\') pattern += '\\';
    if (c == '\'') {
      pattern += "'\\''";
    } else {
      pattern += c;
    }
  }
  return pattern;
}

/// Runs `body`, with its assertions, in a process of its own that has not used HAL yet: this
/// program again, in the same test case. At most once a test case. `environment` is as for
/// `run_self`.
template <typename Body>
void in_new_process(std::vector<std::string> environment, Body&& body) {
  // Printed by the new process, so that one that finds no test case to run is a failure.
  constexpr const char* greeting = "this is the new process";
  if (std::getenv("HAL_TEST_IN_NEW_PROCESS") != nullptr) {
    std::puts(greeting);
    body();
    return;
  }
  environment.emplace_back("HAL_TEST_IN_NEW_PROCESS=1");
  const Finished child = run_self(this_test_case(), environment);
  INFO(child.output);
  CHECK(child.output.find(greeting) != std::string::npos);
  CHECK(child.exit_status == 0);
}

}  // namespace hal_test
