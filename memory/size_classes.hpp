// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hal::memory {

/// Four classes a power of two waste less than a quarter. From 8 MiB on the step stays at 2 MiB,
/// the page of GPUs and the huge page of hosts: a quarter of a large block would be too much to
/// waste, and a driver would round to that anyway.
inline constexpr std::size_t largest_class_step = std::size_t{2} << 20;

/// Counters are signed, so no size may exceed this.
inline constexpr std::size_t largest_size = PTRDIFF_MAX;

/// `bytes` (> 0) rounded up to its size class, a multiple of `granule` (a power of two); nothing
/// when no such size exists.
[[nodiscard]] constexpr std::optional<std::size_t> size_class(std::size_t bytes,
                                                              std::size_t granule) noexcept {
  const std::size_t step =
      std::max(granule, std::min(std::bit_floor(bytes) / 4, largest_class_step));
  if (bytes > largest_size - (step - 1)) return std::nullopt;
  return (bytes + step - 1) & ~(step - 1);
}

}  // namespace hal::memory
