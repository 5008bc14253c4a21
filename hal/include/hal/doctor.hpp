// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hal {

enum class Severity {
  ok,        ///< as it should be
  info,      ///< worth knowing, nothing to do
  warning,   ///< works, but not as well as it could
  critical,  ///< something a person asked for cannot work
  unknown,   ///< could not be assessed
};

[[nodiscard]] HAL_API std::string_view name(Severity severity) noexcept;

/// The outcome of one check.
struct Finding {
  std::string id;  ///< "backend.cuda", "host.quota": stable, for scripts
  Severity severity = Severity::ok;
  std::string found;   ///< what was found, one sentence
  std::string advice;  ///< what to do; empty when there is nothing to do
};

/// Checks this machine and this process's surroundings: variables, backends and their reasons,
/// cores and quota, memory, and that the host device computes. Never throws; what cannot be checked
/// is a finding of severity `unknown`.
[[nodiscard]] HAL_API std::vector<Finding> diagnose() noexcept;

}  // namespace hal
