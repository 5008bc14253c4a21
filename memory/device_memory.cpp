// SPDX-License-Identifier: Apache-2.0
#include "device_memory.hpp"

#include "spi/device_state.hpp"
#include "spi/failure.hpp"
#include "spi/lifetime.hpp"
#include "spi/stream_state.hpp"
#include "spi/trace.hpp"

#include <hal/config.hpp>
#include <hal/error.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace hal::memory {

namespace {

constexpr std::size_t cache_line = 64;

/// Blocks of two streams never share a cache line.
std::size_t granule_of(const detail::DeviceState& device) noexcept {
  return std::bit_ceil(std::max(cache_line, device.memory_alignment()));
}

std::uint64_t id_of(const detail::StreamState* stream) noexcept {
  return stream == nullptr ? 0 : stream->id();
}

}  // namespace

const std::string& DeviceUpstream::device() const noexcept { return device_.id(); }

void* DeviceUpstream::reserve(const hal_allocation& request) {
  void* address = nullptr;
  spi::FailureBuffer failure;
  spi::check(device_.api().memory_allocate(device_.handle(), &request, &address, &failure), failure,
             "Allocator::allocate", device_.id());
  return address;
}

void DeviceUpstream::release(const hal_allocation& request, void* address) noexcept {
  // A process that ends lets go of its memory without a driver's help.
  if (spi::usable()) device_.api().memory_free(device_.handle(), &request, address);
}

bool DeviceUpstream::reached(const detail::StreamPoint& point) noexcept {
  return point.stream->reached(point.sequence);
}

void DeviceUpstream::wait(const detail::StreamPoint& point) noexcept {
  point.stream->wait_until_reached(point.sequence);
}

std::uint64_t DeviceUpstream::stream_id(const detail::StreamState* stream) const noexcept {
  return id_of(stream);
}

std::optional<MemoryInfo> DeviceUpstream::memory_info() noexcept {
  if (device_.api().memory_info == nullptr) return std::nullopt;
  MemoryInfo info;
  spi::FailureBuffer failure;
  const hal_status status =
      device_.api().memory_info(device_.handle(), &info.free_bytes, &info.total_bytes, &failure);
  return status == HAL_STATUS_OK ? std::optional(info) : std::nullopt;
}

DeviceMemory::DeviceMemory(detail::DeviceState& device)
    : device_(device),
      upstream_(device),
      own_(upstream_, HAL_MEMORY_DEVICE, granule_of(device), config::bytes("HAL_MEMORY_LIMIT")),
      pinned_(upstream_, HAL_MEMORY_PINNED, granule_of(device), 0),
      managed_(upstream_, HAL_MEMORY_MANAGED, granule_of(device), 0) {}

void* DeviceMemory::allocate(std::size_t bytes, std::size_t alignment,
                             const std::shared_ptr<detail::StreamState>& stream) {
  spi::require_usable("Allocator::allocate");
  const spi::ScopedSpan span(trace::Kind::allocate, device_.id(), id_of(stream.get()), bytes);
  return own_.allocate(bytes, alignment, stream);
}

void* DeviceMemory::allocate(std::size_t bytes, const AllocationOptions& options) {
  spi::require_usable("Device::allocate");
  const spi::ScopedSpan span(trace::Kind::allocate, device_.id(), 0, bytes);
  const std::size_t alignment =
      options.alignment == 0 ? device_.memory_alignment() : options.alignment;
  SizeClassPool& from = pool(options.kind);
  return options.huge_pages ? from.allocate_huge(bytes, alignment, nullptr)
                            : from.allocate(bytes, alignment, nullptr);
}

void DeviceMemory::release(void* address, std::span<const detail::StreamPoint> uses) {
  release(MemoryKind::device, address, 0, uses);
}

void DeviceMemory::release(MemoryKind kind, void* address, std::size_t bytes,
                           std::span<const detail::StreamPoint> uses) {
  spi::require_usable("Allocator::release");
  const spi::ScopedSpan span(trace::Kind::release, device_.id(),
                             uses.empty() ? 0 : id_of(uses.front().stream.get()), bytes);
  pool(kind).release(address, uses);
}

AllocatorStatistics DeviceMemory::statistics() const {
  spi::require_usable("Allocator::statistics");
  return own_.statistics();
}

void DeviceMemory::reset_peaks() {
  spi::require_usable("Allocator::reset_peaks");
  own_.reset_peaks();
}

std::vector<MemoryBlock> DeviceMemory::snapshot() const {
  spi::require_usable("Allocator::snapshot");
  return own_.snapshot();
}

std::size_t DeviceMemory::limit() const {
  spi::require_usable("Allocator::limit");
  return own_.limit();
}

void DeviceMemory::set_limit(std::size_t bytes) {
  spi::require_usable("Allocator::set_limit");
  own_.set_limit(bytes);
}

PressureSubscription DeviceMemory::on_pressure(PressureCallback callback) {
  spi::require_usable("Allocator::on_pressure");
  return own_.on_pressure(std::move(callback));
}

std::size_t DeviceMemory::trim() {
  spi::require_usable("Allocator::trim");
  return own_.trim() + pinned_.trim() + managed_.trim();
}

SizeClassPool& DeviceMemory::pool(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::pinned:
      return pinned_;
    case MemoryKind::managed:
      return managed_;
    case MemoryKind::device:
      break;
  }
  return own_;
}

DeviceMemory& memory_of(detail::DeviceState& device) {
  return static_cast<DeviceMemory&>(device.allocator());
}

}  // namespace hal::memory

namespace hal::spi {

std::unique_ptr<Allocator> make_allocator(detail::DeviceState& device) {
  return std::make_unique<memory::DeviceMemory>(device);
}

}  // namespace hal::spi
