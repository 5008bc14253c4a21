// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spi/device_state.hpp"

#include <hal/event.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace hal::detail {

class EventState {
 public:
  EventState(std::shared_ptr<DeviceState> device, const EventOptions& options);
  ~EventState();
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;

  [[nodiscard]] DeviceState& device() const noexcept { return *device_; }
  [[nodiscard]] const std::shared_ptr<DeviceState>& shared_device() const noexcept {
    return device_;
  }
  [[nodiscard]] hal_event_handle handle() const noexcept { return handle_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] bool timing() const noexcept { return timing_; }

  /// Tracked here: a driver may report an event never recorded as complete.
  [[nodiscard]] bool recorded() const noexcept { return recorded_.load(std::memory_order_acquire); }
  void note_recorded() noexcept { recorded_.store(true, std::memory_order_release); }

 private:
  std::shared_ptr<DeviceState> device_;
  hal_event_handle handle_ = nullptr;
  std::uint64_t id_;
  bool timing_;
  std::atomic<bool> recorded_{false};
};

/// The event's state; throws `invalid_state` for one made by default.
[[nodiscard]] EventState& require(const Event& event, const char* operation);

}  // namespace hal::detail
