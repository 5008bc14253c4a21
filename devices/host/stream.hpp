// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command_queue.hpp"
#include "failure.hpp"
#include "ref.hpp"
#include "signal.hpp"
#include "spin_lock.hpp"

#include <hal/backend.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace hal::host {

class HostDevice;

/// How a wait ended.
enum class Waited {
  completed,
  timed_out,
  dropped,  ///< the device was quiesced: what is queued will never run
};

/// An in-order queue of commands. At any time at most one thread drains it: a worker of the device,
/// or a thread that waits for it.
class HostStream : public RefCounted<HostStream> {
 public:
  HostStream(HostDevice& device, std::uint64_t id) noexcept;
  ~HostStream();

  [[nodiscard]] HostDevice& device() const noexcept { return device_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

  /// Appends a command of `bytes` bytes made by `make(room)`; then true, or false without memory.
  template <typename Make>
  [[nodiscard]] bool enqueue(std::size_t bytes, std::size_t alignment, Make&& make) noexcept;

  /// Enqueue a record or a wait. Where the stream is idle they take effect at once or park it,
  /// without a worker being bothered.
  [[nodiscard]] bool record(const Ref<Signal>& signal, const hal_site& site) noexcept;
  [[nodiscard]] bool wait_for(const Ref<Signal>& signal, const hal_site& site) noexcept;

  /// Position of the last command enqueued, from 1.
  [[nodiscard]] std::uint64_t enqueued() noexcept;
  [[nodiscard]] bool completed(std::uint64_t sequence) const noexcept {
    return completed_.load(std::memory_order_acquire) >= sequence;
  }
  [[nodiscard]] FailureRef failure() noexcept;
  void forget_failure() noexcept;

  /// Waits until `sequence` is completed. Without a time limit the calling thread may drain the
  /// stream itself up to there.
  Waited wait(std::uint64_t sequence, std::int64_t timeout_ns) noexcept;
  /// Whether the calling thread is running a command of this stream.
  [[nodiscard]] bool runs_on_this_thread() const noexcept;

  /// Drains on a worker until the stream is empty, parked, or others have waited long enough.
  void work() noexcept;
  /// Ends every wait on it: the device was quiesced.
  void release_waiters() noexcept { wake_waiters(); }
  /// A signal it was parked on is done. `by_worker`: a worker of the device says so and will take
  /// it itself if it has nothing else to do.
  void resume(bool by_worker) noexcept;
  /// Of a stream it waited for; the first cause.
  void adopt_failure(const FailureRef& failure) noexcept;
  [[nodiscard]] bool drained_by_worker() const noexcept { return drained_by_worker_; }
  /// How many drains of this device's streams are on the calling thread's stack.
  [[nodiscard]] static int depth_on_this_thread(const HostDevice& device) noexcept;
  /// Called by the drainer, or under the lock while idle, with the signal's lock held.
  void set_parked() noexcept;

  HostStream* next_ready = nullptr;  // the scheduler's
  bool in_ready_list = false;        // the scheduler's

 private:
  enum class State : std::uint8_t {
    idle,     // nothing queued
    ready,    // work queued, nobody has begun
    running,  // a thread drains it
    parked,   // its next command waits for a signal
  };

  [[nodiscard]] bool take() noexcept;
  void drain(std::uint64_t until, bool by_worker) noexcept;
  [[nodiscard]] bool turn_is_over(std::uint64_t& turn_ends) const noexcept;
  /// Runs the front command; false when it is blocked, and then the stream may be anybody's
  /// already.
  [[nodiscard]] bool execute(Command& command) noexcept;
  void fail(const Command& command, hal_status status, const hal_failure& text) noexcept;
  [[nodiscard]] bool spin(std::uint64_t sequence, std::uint64_t deadline,
                          bool may_help) const noexcept;
  void sleep(std::uint64_t sequence, std::uint64_t deadline, bool may_help) noexcept;
  void wake_waiters() noexcept;
  [[nodiscard]] bool make_ready_if_idle() noexcept;
  void announce() noexcept;
  /// A span of no length, of a record or wait that took effect when it was enqueued.
  void trace_instant(std::int32_t kind, std::uint64_t sequence,
                     const hal_site& site) const noexcept;
  void hand_over() noexcept;

  HostDevice& device_;
  const std::uint64_t id_;
  SpinLock lock_;
  std::atomic<State> state_{State::idle};
  CommandQueue queue_;
  std::uint64_t enqueued_ = 0;
  FailureRef failure_;
  std::atomic<bool> failed_{false};
  bool drained_by_worker_ = false;  // the drainer's

  static constexpr std::uint64_t nobody = UINT64_MAX;
  alignas(64) std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> wake_at_{nobody};  // the earliest sequence that a sleeper waits for
  std::atomic<std::uint32_t> epoch_{0};         // what sleepers sleep on
};

template <typename Make>
bool HostStream::enqueue(std::size_t bytes, std::size_t alignment, Make&& make) noexcept {
  bool begin = false;
  {
    const std::lock_guard guard(lock_);
    void* room = queue_.reserve(bytes, alignment);
    if (room == nullptr) return false;
    Command* command = make(room);
    if (command == nullptr) return false;
    command->sequence = ++enqueued_;
    queue_.append(command, bytes);
    begin = make_ready_if_idle();
  }
  if (begin) announce();
  return true;
}

}  // namespace hal::host
