// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/device.hpp>

#include <string>

namespace hal::core {

/// What the backend tells of a device, without opening it. Features its table has no entries for
/// are taken away. `id` and `operation` are for the error when it tells nothing.
[[nodiscard]] DeviceProperties describe(const hal_backend& table, int index, const std::string& id,
                                        const char* operation);

}  // namespace hal::core
