// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `HAL_API` marks what the shared library exports; everything else stays hidden. Static builds
/// define `HAL_STATIC`.
#if defined(HAL_STATIC)
#define HAL_API
#else
#define HAL_API __attribute__((visibility("default")))
#endif
