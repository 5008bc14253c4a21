// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/version.hpp>

#define HAL_QUOTED(text) #text
#define HAL_DOTTED(major, minor, patch) \
  HAL_QUOTED(major) "." HAL_QUOTED(minor) "." HAL_QUOTED(patch)

/// "0.1.0" as a literal.
#define HAL_VERSION_TEXT HAL_DOTTED(HAL_VERSION_MAJOR, HAL_VERSION_MINOR, HAL_VERSION_PATCH)
