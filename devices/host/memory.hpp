// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>

namespace hal::host {

class NumaBinding;

/// Memory of the process, aligned to at least 64 bytes, in huge pages where asked for and large
/// enough. Null when there is none.
[[nodiscard]] void* allocate(const hal_allocation& request, const NumaBinding* binding) noexcept;
void release(const hal_allocation& request, void* address) noexcept;

}  // namespace hal::host
