// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Limits of the control groups around this process: versions 1 and 2, parents included. `root`
/// stands before /proc and before the places where control groups are mounted.
namespace hal::host {

/// The tightest quota of CPU time, in CPUs; 0: there is none.
[[nodiscard]] double read_cpu_quota(const std::string& root);

struct MemoryLimit {
  std::uint64_t limit_bytes = 0;      ///< the tightest
  std::uint64_t available_bytes = 0;  ///< what the group that has least left may still take
};

/// Nothing when no group limits memory.
[[nodiscard]] std::optional<MemoryLimit> read_memory_limit(const std::string& root);

}  // namespace hal::host
