// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <string_view>

#define HAL_VERSION_MAJOR 0
#define HAL_VERSION_MINOR 1
#define HAL_VERSION_PATCH 0

namespace hal {

/// The version of the library that is running, "0.1.0". The macros above are the version of the
/// headers a program was compiled with.
[[nodiscard]] HAL_API std::string_view version() noexcept;

}  // namespace hal
