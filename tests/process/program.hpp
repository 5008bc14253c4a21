// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Runs hal-process-scenarios in a process of its own and tells how that ended.
namespace process {

struct Result {
  int status = -1;    ///< exit status; -1: it did not exit
  int signal = 0;     ///< what ended it instead; 0: nothing
  bool hung = false;  ///< it was killed, since it did not end by itself
  std::string out;    ///< standard output
  std::string err;    ///< standard error
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs one scenario. Of this process's environment it gets all but `HAL_*`, and `environment`.
[[nodiscard]] Result run(std::string_view scenario, const Environment& environment = {});

/// For the message of a failed check.
[[nodiscard]] std::string describe(const Result& result);

}  // namespace process
