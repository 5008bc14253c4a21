// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "size_class_pool.hpp"
#include "upstream.hpp"

#include <hal/allocator.hpp>
#include <hal/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hal::memory {

/// The device itself, through its backend's table.
class DeviceUpstream final : public Upstream {
 public:
  /// `device` outlives this.
  explicit DeviceUpstream(detail::DeviceState& device) noexcept : device_(device) {}

  [[nodiscard]] const std::string& device() const noexcept override;
  [[nodiscard]] void* reserve(const hal_allocation& request) override;
  void release(const hal_allocation& request, void* address) noexcept override;
  [[nodiscard]] bool reached(const detail::StreamPoint& point) noexcept override;
  void wait(const detail::StreamPoint& point) noexcept override;
  [[nodiscard]] std::uint64_t stream_id(const detail::StreamState* stream) const noexcept override;
  [[nodiscard]] std::optional<MemoryInfo> memory_info() noexcept override;

 private:
  detail::DeviceState& device_;
};

/// All memory of one device: a pool for each kind. What is seen as the device's `Allocator` is the
/// pool of its own memory; pinned and managed memory is pooled too, since it takes a driver far
/// longer to make, but is the host's and so outside the limit and the statistics. `trim` is of all.
class DeviceMemory final : public Allocator {
 public:
  explicit DeviceMemory(detail::DeviceState& device);

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment,
                               const std::shared_ptr<detail::StreamState>& stream) override;
  void release(void* address, std::span<const detail::StreamPoint> uses) override;
  [[nodiscard]] AllocatorStatistics statistics() const override;
  void reset_peaks() override;
  [[nodiscard]] std::vector<MemoryBlock> snapshot() const override;
  [[nodiscard]] std::size_t limit() const override;
  void set_limit(std::size_t bytes) override;
  [[nodiscard]] PressureSubscription on_pressure(PressureCallback callback) override;
  std::size_t trim() override;

  /// Memory of any kind, usable at once and from any stream.
  [[nodiscard]] void* allocate(std::size_t bytes, const AllocationOptions& options);
  void release(MemoryKind kind, void* address, std::size_t bytes,
               std::span<const detail::StreamPoint> uses);

 private:
  [[nodiscard]] SizeClassPool& pool(MemoryKind kind) noexcept;

  detail::DeviceState& device_;
  DeviceUpstream upstream_;
  SizeClassPool own_;
  SizeClassPool pinned_;
  SizeClassPool managed_;
};

/// The allocator of a device as `spi::make_allocator` made it.
[[nodiscard]] DeviceMemory& memory_of(detail::DeviceState& device);

}  // namespace hal::memory
