// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench {

/// Copies with stores that go around the caches, in the widest form this CPU has. `from` and `to`
/// may have any alignment.
void nontemporal_copy(std::byte* to, const std::byte* from, std::size_t bytes);

/// "AVX-512", "AVX2", or on other CPUs "memcpy", which then stands in.
[[nodiscard]] const char* nontemporal_kind();

}  // namespace bench
