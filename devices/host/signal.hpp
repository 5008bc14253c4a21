// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "failure.hpp"
#include "ref.hpp"
#include "spin_lock.hpp"

#include <atomic>
#include <cstdint>

namespace hal::host {

class HostDevice;
class HostStream;
class WaitCommand;

/// One record of an event: done once its stream has come to it. Later records of the same event
/// make new signals, so waits keep the point they were enqueued for.
class Signal : public RefCounted<Signal> {
 public:
  /// `sequence` is the position of the record on `stream`.
  Signal(HostStream& stream, bool timing) noexcept;
  ~Signal();

  [[nodiscard]] HostStream& stream() const noexcept { return *stream_; }
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  void set_sequence(std::uint64_t sequence) noexcept { sequence_ = sequence; }
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// Of a signal that is done; null: the work before it succeeded.
  [[nodiscard]] const FailureRef& failure() const noexcept { return failure_; }
  [[nodiscard]] bool timed() const noexcept { return timing_; }
  [[nodiscard]] std::uint64_t time_ns() const noexcept { return time_ns_; }

  /// Marks it done and makes every parked stream ready again; `by_worker` as in HostStream::resume.
  void complete(FailureRef failure, bool by_worker) noexcept;

  /// If not done: parks `stream`, whose next command `waiter` is, until it is; then true.
  bool park(WaitCommand& waiter, HostStream& stream) noexcept;

 private:
  Ref<HostStream> stream_;
  std::uint64_t sequence_ = 0;
  bool timing_;
  std::atomic<bool> done_{false};
  std::uint64_t time_ns_ = 0;
  FailureRef failure_;
  SpinLock lock_;
  WaitCommand* waiters_ = nullptr;
};

/// What an event handle names: its latest record.
class HostEvent {
 public:
  HostEvent(HostDevice& device, bool timing);
  ~HostEvent();
  HostEvent(const HostEvent&) = delete;
  HostEvent& operator=(const HostEvent&) = delete;

  [[nodiscard]] bool timing() const noexcept { return timing_; }
  [[nodiscard]] Ref<Signal> latest() const noexcept;
  void move_to(Ref<Signal> signal) noexcept;

 private:
  HostDevice& device_;
  bool timing_;
  mutable SpinLock lock_;
  Ref<Signal> latest_;
};

}  // namespace hal::host
