// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/allocator.hpp>
#include <hal/device.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace hal::memory {

/// What a pool needs of the device below it. A pool never calls any of this while it holds its
/// lock.
class Upstream {
 public:
  virtual ~Upstream() = default;

  /// For messages: "host:0".
  [[nodiscard]] virtual const std::string& device() const noexcept = 0;

  /// Takes memory from the device. Throws `Error`; `out_of_memory` makes the pool give back what it
  /// has cached and try again.
  [[nodiscard]] virtual void* reserve(const hal_allocation& request) = 0;
  /// Gives back what `reserve` returned for the same request.
  virtual void release(const hal_allocation& request, void* address) noexcept = 0;

  /// Whether the work up to that point is done, failed or not. Does not wait.
  [[nodiscard]] virtual bool reached(const detail::StreamPoint& point) noexcept = 0;
  virtual void wait(const detail::StreamPoint& point) noexcept = 0;
  /// 0: no stream.
  [[nodiscard]] virtual std::uint64_t stream_id(
      const detail::StreamState* stream) const noexcept = 0;

  /// What the device says it has, if it says so.
  [[nodiscard]] virtual std::optional<MemoryInfo> memory_info() noexcept = 0;

 protected:
  Upstream() = default;
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
};

}  // namespace hal::memory
