// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/device.hpp>
#include <hal/export.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace hal {

namespace detail {
class EventState;
}

struct EventOptions {
  /// Whether the event carries the time it completed, for `elapsed_ms`.
  bool timing = true;
};

enum class EventStatus {
  not_recorded,  ///< nothing to wait for: waits return at once
  pending,
  complete,
};

/// A point in a stream's order. A cheap handle: copies name the same event. Recording it again
/// moves it; waits enqueued before keep the point they were enqueued for. Usable from any thread.
class HAL_API Event {
 public:
  /// Names no event; using it throws `invalid_state`.
  Event() noexcept = default;

  [[nodiscard]] Device device() const;
  /// Never repeated in a process, unlike native handles.
  [[nodiscard]] std::uint64_t id() const;

  /// Never waits. Throws the first cause if the recorded work failed.
  [[nodiscard]] EventStatus query() const;

  /// Waits for the latest record; returns at once if there is none. Throws the first cause if the
  /// recorded work failed. On the host the waiting thread may run the stream's work itself.
  void synchronize() const;
  /// Gives up with `timeout` after that time; never runs work itself.
  void synchronize(std::chrono::nanoseconds timeout) const;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  friend bool operator==(const Event& a, const Event& b) noexcept { return a.state_ == b.state_; }

  /// For HAL's own use.
  explicit Event(std::shared_ptr<detail::EventState> state) noexcept : state_(std::move(state)) {}
  [[nodiscard]] const std::shared_ptr<detail::EventState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::EventState> state_;
};

/// Milliseconds between the completion of two records, negative if `end` came first. Both events
/// must belong to one device, have timing, be recorded and complete: else `invalid_argument` or
/// `invalid_state`. Does not wait.
[[nodiscard]] HAL_API double elapsed_ms(const Event& begin, const Event& end);

}  // namespace hal
