// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor.hpp"
#include "ref.hpp"
#include "spin_lock.hpp"

#include <atomic>
#include <cstdint>

namespace hal::host {

class HostDevice;
class HostStream;

/// Brings ready streams and the workers of a device together. A worker drains streams, looks about
/// for more a while when there are none, and then gives its thread back to the arena.
class Scheduler {
 public:
  Scheduler(HostDevice& device, Arena& arena) noexcept : device_(device), arena_(arena) {}

  /// Queues a stream whose state is `ready` and sees that a worker comes for it.
  /// With `deferred`, the calling worker takes it itself or calls `start_deferred`.
  void make_ready(HostStream& stream, bool deferred = false) noexcept;
  /// Sees that workers come for streams made ready with `deferred`: this one has other work.
  void start_deferred() noexcept;
  /// The stream that has been ready longest, if any.
  [[nodiscard]] Ref<HostStream> take() noexcept;
  /// Whether a stream waits for a worker while all are busy.
  [[nodiscard]] bool crowded() const noexcept {
    return ready_.load(std::memory_order_relaxed) > 0 &&
           workers_.load(std::memory_order_relaxed) >= arena_.concurrency();
  }

  /// From now on nothing queued is begun. Waits until nothing runs, except what the calling thread
  /// itself is running.
  void quiesce() noexcept;
  [[nodiscard]] bool dropping() const noexcept { return dropping_.load(std::memory_order_seq_cst); }

  /// Brackets every drain of a stream, by workers and by helping waiters.
  void enter() noexcept { running_.fetch_add(1, std::memory_order_seq_cst); }
  void leave() noexcept { running_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  void balance() noexcept;
  void start_worker() noexcept;
  void work() noexcept;
  [[nodiscard]] Ref<HostStream> look() noexcept;

  HostDevice& device_;
  Arena& arena_;
  std::atomic<bool> dropping_{false};
  alignas(64) std::atomic<int> ready_{0};
  std::atomic<int> lookers_{0};
  std::atomic<int> workers_{0};
  std::atomic<int> running_{0};
  alignas(64) SpinLock lock_;
  HostStream* first_ = nullptr;
  HostStream* last_ = nullptr;
};

}  // namespace hal::host
