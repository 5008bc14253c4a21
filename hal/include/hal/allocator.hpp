// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace hal {

namespace detail {
class StreamState;
class PressureListener;
class PressureListeners;

/// A place in a stream's order: after the `sequence`th piece of work, counted from 1.
struct StreamPoint {
  std::shared_ptr<StreamState> stream;
  std::uint64_t sequence = 0;
};
}  // namespace detail

/// One counter of an allocator, in bytes. `total` only grows.
struct MemoryCounter {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t total = 0;
};

struct AllocatorStatistics {
  MemoryCounter requested;              ///< as asked for by buffers that are alive
  MemoryCounter allocated;              ///< the same, rounded as the allocator rounds
  MemoryCounter reserved;               ///< taken from the device
  std::int64_t device_allocations = 0;  ///< calls of the driver that took memory
  std::int64_t device_releases = 0;     ///< calls of the driver that gave it back
  std::int64_t live_blocks = 0;
  std::int64_t cached_blocks = 0;  ///< given back by buffers and kept for the next
};

/// One block taken from the device, as it was when the snapshot was made.
struct MemoryBlock {
  const void* address = nullptr;
  std::size_t bytes = 0;            ///< of the whole block
  std::size_t requested_bytes = 0;  ///< as asked for by the buffer that has it; 0: cached
  std::uint64_t stream = 0;         ///< id of the stream it was last handed out to; 0: to none
  bool live = false;                ///< a buffer has it; else it is cached
};

/// Told how many bytes are missing.
using PressureCallback = std::function<void(std::size_t bytes)>;

/// Ends what `Allocator::on_pressure` began when destroyed; waits for the callback if it is running
/// on other threads. May outlive the allocator.
class HAL_API PressureSubscription {
 public:
  PressureSubscription() noexcept = default;
  PressureSubscription(PressureSubscription&&) noexcept;
  PressureSubscription& operator=(PressureSubscription&&) noexcept;
  ~PressureSubscription();

 private:
  friend class detail::PressureListeners;
  explicit PressureSubscription(std::shared_ptr<detail::PressureListener> listener) noexcept;
  std::shared_ptr<detail::PressureListener> listener_;
};

/// Stream-ordered memory of one device. `Device::allocate` is the usual way to it. Usable from any
/// thread. Memory given back is kept for later requests of the same stream at once, of other
/// streams when the work that used it is known to be done.
///
/// All of it is about the device's own memory, `MemoryKind::device`. Pinned and managed memory is
/// kept for later too, but has no limit, is in no statistics or snapshot and calls nobody when it
/// runs out. Only `trim` gives back memory of every kind.
class HAL_API Allocator {
 public:
  virtual ~Allocator() = default;

  /// At least `bytes` (> 0) bytes aligned to `alignment` (a power of two), usable in the order of
  /// `stream`; if that is empty, at once and from any stream. Does not wait, unless the device is
  /// full and cached memory has to be waited for. Throws `out_of_memory`.
  [[nodiscard]] virtual void* allocate(std::size_t bytes, std::size_t alignment,
                                       const std::shared_ptr<detail::StreamState>& stream) = 0;

  /// Gives back what `allocate` returned, to be used again after all of `uses`. Never waits. An
  /// address that is not allocated here (given back twice, foreign, inside a block) throws
  /// `invalid_argument` and changes nothing.
  virtual void release(void* address, std::span<const detail::StreamPoint> uses) = 0;

  [[nodiscard]] virtual AllocatorStatistics statistics() const = 0;
  /// Sets every peak to its current value.
  virtual void reset_peaks() = 0;
  /// Every block taken from the device and not given back to it, by address.
  [[nodiscard]] virtual std::vector<MemoryBlock> snapshot() const = 0;

  /// The most the allocator may take of the device's own memory; 0: no limit. `HAL_MEMORY_LIMIT` at
  /// first.
  [[nodiscard]] virtual std::size_t limit() const = 0;
  virtual void set_limit(std::size_t bytes) = 0;

  /// Calls `callback`, until the subscription ends, when the device or the limit refuses memory and
  /// giving back what is idle was not enough: it may release buffers that it can do without, and
  /// the request tries again. Once a request, on the thread that allocates, several threads at
  /// once. Not for a request above the limit. What it allocates itself calls no callbacks. What it
  /// throws is logged. It may end its own subscription, not one whose callback may be ending this
  /// one. Throws `invalid_argument` when it is empty.
  [[nodiscard]] virtual PressureSubscription on_pressure(PressureCallback callback) = 0;

  /// Gives cached memory of every kind whose last use is done back; returns how many bytes, pinned
  /// and managed ones included. Does not wait.
  virtual std::size_t trim() = 0;

 protected:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
};

}  // namespace hal
