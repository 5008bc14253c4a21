// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace hal::host {

/// Copies with stores that go past the caches, so that a large copy reads no line it is about to
/// overwrite. Widest instructions the processor has; `memcpy` where it has none.
void stream_copy(std::byte* to, const std::byte* from, std::size_t count) noexcept;

/// Copies of at least this many bytes are faster past the caches: what is copied would not stay in
/// the last level anyway.
[[nodiscard]] std::size_t streaming_threshold() noexcept;

}  // namespace hal::host
