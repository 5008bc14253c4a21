// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hal::core {

/// A sentence about another libhal of another version in this process, or empty. Two versions share
/// symbol names but not their state, so neither can be relied upon.
[[nodiscard]] std::string find_other_version();

}  // namespace hal::core
