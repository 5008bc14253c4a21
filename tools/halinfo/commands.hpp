// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace halinfo {

struct Options {
  bool json = false;
  std::vector<std::string> devices;  ///< ids asked for; empty: all
};

// Each command writes its answer to standard output and returns the exit status of the program.
// What makes it impossible to answer is thrown.

/// Backends and devices. 1 when a device asked for does not exist or a plug-in cannot be loaded.
[[nodiscard]] int run_list(const Options& options);

/// The checks. 0: healthy, perhaps with warnings; 1: critical; 2: something could not be assessed.
[[nodiscard]] int run_doctor(const Options& options);

/// The variables. 1 when the value of one does not parse.
[[nodiscard]] int run_config(const Options& options);

}  // namespace halinfo
