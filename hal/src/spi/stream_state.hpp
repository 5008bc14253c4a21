// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_state.hpp"

#include <hal/backend.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace hal::detail {

/// A stream and how far it is known to have come. Bodies are in streams/. Whatever in HAL remembers
/// a stream's work refers to this; the handles of users refer to a token, so that it can be told
/// when the last of them is gone.
class StreamState : public std::enable_shared_from_this<StreamState> {
 public:
  StreamState(std::shared_ptr<DeviceState> device, int priority);
  ~StreamState();
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;

  /// A new stream, as a user's handle holds it: adds it to its device.
  [[nodiscard]] static std::shared_ptr<StreamState> create(std::shared_ptr<DeviceState> device,
                                                           int priority);
  /// Whether any user's handle is left.
  [[nodiscard]] bool has_handle() const noexcept {
    return !abandoned_.load(std::memory_order_acquire);
  }

  [[nodiscard]] DeviceState& device() const noexcept { return *device_; }
  [[nodiscard]] const std::shared_ptr<DeviceState>& shared_device() const noexcept {
    return device_;
  }
  [[nodiscard]] hal_stream_handle handle() const noexcept { return handle_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] int priority() const noexcept { return priority_; }

  /// Called after each piece of work was given to the backend.
  void note_enqueued() noexcept { enqueued_.fetch_add(1, std::memory_order_release); }
  /// Pieces of work enqueued so far.
  [[nodiscard]] std::uint64_t enqueued() const noexcept {
    return enqueued_.load(std::memory_order_acquire);
  }
  /// Whether the first `sequence` pieces of work are done, as far as can be told without waiting.
  /// Work that failed or was dropped counts as done. Never throws.
  [[nodiscard]] bool reached(std::uint64_t sequence) noexcept;
  /// Waits until they are, whether they failed or not.
  void wait_until_reached(std::uint64_t sequence) noexcept;
  /// All work enqueued up to `sequence` is known to be done.
  void note_done(std::uint64_t sequence) noexcept;

  /// Waits for what is enqueued now; -1: without end. Throws the stream's failure or `timeout`.
  void synchronize(std::int64_t timeout_ns, const char* operation);

 private:
  struct HandleToken;

  std::shared_ptr<DeviceState> device_;
  hal_stream_handle handle_ = nullptr;
  std::uint64_t id_;
  int priority_;
  std::atomic<std::uint64_t> enqueued_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> abandoned_{false};
};

}  // namespace hal::detail
