// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stream_state.hpp"

#include <hal/allocator.hpp>
#include <hal/buffer.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace hal::detail {

/// An owned piece of memory and the points in streams after which it is free. Bodies are in
/// memory/.
class BufferState {
 public:
  /// Memory of `device.allocator()`, in the order of `stream` (may be null).
  BufferState(std::shared_ptr<DeviceState> device, std::size_t bytes,
              std::shared_ptr<StreamState> stream);
  /// Memory of any kind, usable at once and from any stream.
  BufferState(std::shared_ptr<DeviceState> device, std::size_t bytes,
              const AllocationOptions& options);
  ~BufferState();
  BufferState(const BufferState&) = delete;
  BufferState& operator=(const BufferState&) = delete;

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] MemoryKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::shared_ptr<DeviceState>& device() const noexcept { return device_; }

  /// Work enqueued on `stream` up to now uses the memory. Cheap for the stream it was allocated on.
  void record_use(const std::shared_ptr<StreamState>& stream);

 private:
  std::shared_ptr<DeviceState> device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  MemoryKind kind_ = MemoryKind::device;
  std::shared_ptr<StreamState> home_;
  std::mutex mutex_;
  std::vector<StreamPoint> other_uses_;
};

}  // namespace hal::detail
