// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology.hpp"

#include <hal/host_executor.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace hal::host {

/// Which part of the machine each host device has.
struct DeviceShare {
  int cores = 1;
  std::optional<NumaNode> node;  ///< with `HAL_HOST_DEVICES=numa`
};

/// One entry a device, as `HAL_HOST_DEVICES` and `HAL_HOST_THREADS` ask. Throws `hal::Error` when
/// they do not parse.
[[nodiscard]] std::vector<DeviceShare> device_shares();

/// The executor installed with `hal::set_host_executor`, or null. From the first call on it is
/// fixed.
[[nodiscard]] std::shared_ptr<HostExecutor> take_installed_executor();

}  // namespace hal::host
