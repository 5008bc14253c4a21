// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

/// Whether HAL may still be used in this process: not in a forked child, after `hal::shutdown`, or
/// once the process is ending.
namespace hal::spi {

enum class Phase : std::int32_t { usable = 0, forked_child, shut_down, exiting };

namespace internal {
extern std::atomic<Phase> phase;
[[noreturn]] void throw_unusable(std::string_view operation);
}  // namespace internal

/// For calls: throws `invalid_state` saying why HAL cannot be used any more.
inline void require_usable(std::string_view operation) {
  if (internal::phase.load(std::memory_order_relaxed) != Phase::usable) [[unlikely]] {
    internal::throw_unusable(operation);
  }
}

/// For destructors: whether a backend may still be called.
[[nodiscard]] inline bool usable() noexcept {
  return internal::phase.load(std::memory_order_relaxed) == Phase::usable;
}

/// Called when the first device is opened: from then on a forked child cannot use HAL, and the end
/// of the process quiesces the backends.
void note_started();

/// A number no other object of this process has had; starts at 1.
[[nodiscard]] std::uint64_t next_id() noexcept;

}  // namespace hal::spi
