// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/error.hpp>
#include <hal/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hal {

/// A backend and whether it can be used here.
struct Backend {
  std::string name;         ///< "cuda"; a plug-in that did not load: its path
  std::string description;  ///< "NVIDIA GPUs (CUDA driver)"
  bool available = false;
  Reason reason = Reason::none;  ///< why it is not available
  std::string library;           ///< the library in use or tried; empty: none is needed
  std::string version;           ///< of the driver or runtime; empty: unknown
  std::optional<std::int64_t> vendor_code;
  std::string detail;   ///< one sentence: what was found
  bool plugin = false;  ///< from `HAL_PLUGINS`
};

/// Every backend of this build and every plug-in named in `HAL_PLUGINS`, in the order devices are
/// preferred. Never throws; creates no context and starts no driver.
[[nodiscard]] HAL_API std::vector<Backend> backends() noexcept;

/// How many devices there are in all, or of one backend, found without starting a driver, so that
/// the process may still fork. An unavailable or unknown backend has none.
[[nodiscard]] HAL_API int device_count() noexcept;
[[nodiscard]] HAL_API int device_count(std::string_view backend) noexcept;

/// Loads one plug-in as `HAL_PLUGINS` would, without registering it, and says what it found. A
/// plug-in that crashes takes the process along: probe in a child what is not trusted.
[[nodiscard]] HAL_API Backend probe_plugin(const std::string& path) noexcept;

}  // namespace hal
