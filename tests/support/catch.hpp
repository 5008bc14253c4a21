// SPDX-License-Identifier: Apache-2.0
#pragma once

// Catch2 as tests here use it, whichever of its two generations is installed: 2.13 (Debian 12) or 3
// (Debian 13). Tests are written in the spelling of version 3.

#if __has_include(<catch2/catch_all.hpp>)

#include <catch2/catch_all.hpp>

#else

#include <catch2/catch.hpp>

namespace Catch::Matchers {

inline auto ContainsSubstring(const std::string& text,
                              CaseSensitive::Choice case_sensitivity = CaseSensitive::Yes) {
  return Contains(text, case_sensitivity);
}

}  // namespace Catch::Matchers

#endif
