// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>

namespace hal::host {

class NumaBinding;

/// How a host device takes memory.
struct MemoryPolicy {
  bool huge_pages = false;               ///< for all requests, not only those that ask
  const NumaBinding* binding = nullptr;  ///< where the pages shall lie
};

/// Memory of the process, aligned to at least 64 bytes, in huge pages where asked for and large
/// enough. Null when there is none.
[[nodiscard]] void* allocate(const hal_allocation& request, const MemoryPolicy& policy) noexcept;
/// Gives back what was allocated with the same request and policy.
void release(const hal_allocation& request, const MemoryPolicy& policy, void* address) noexcept;

}  // namespace hal::host
