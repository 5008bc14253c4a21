// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/host_executor.hpp>

namespace hal::host {

/// Copies a box within the process's memory, large ones with all threads of `loops`. Waits.
void copy_box(HostExecutor& loops, const hal_copy& copy) noexcept;

/// Fills a box, large ones with all threads of `loops`. Waits.
void fill_box(HostExecutor& loops, const hal_fill& fill) noexcept;

}  // namespace hal::host
