// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace hal::host {

/// Sleeps while `word` is `expected`; `timeout_ns` < 0: without end. May return early.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  timespec relative{};
  if (timeout_ns >= 0) {
    relative.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
    relative.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
  }
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected,
          timeout_ns < 0 ? nullptr : &relative, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

}  // namespace hal::host
