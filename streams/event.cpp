// SPDX-License-Identifier: Apache-2.0
#include "event_state.hpp"

#include "spi/failure.hpp"
#include "spi/lifetime.hpp"
#include "spi/trace.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace hal {

namespace detail {

EventState::EventState(std::shared_ptr<DeviceState> device, const EventOptions& options)
    : device_(std::move(device)), id_(spi::next_id()), timing_(options.timing) {
  spi::FailureBuffer failure;
  const std::uint32_t flags = options.timing ? std::uint32_t{HAL_EVENT_TIMING} : 0U;
  spi::check(device_->api().event_create(device_->handle(), flags, &handle_, &failure), failure,
             "Device::create_event", device_->id());
}

EventState::~EventState() {
  if (spi::usable()) device_->api().event_destroy(handle_);
}

EventState& require(const Event& event, const char* operation) {
  spi::require_usable(operation);
  if (!event) {
    throw Error(Errc::invalid_state, operation,
                "this hal::Event names no event: make one with Device::create_event or "
                "Stream::record");
  }
  return *event.state();
}

namespace {

void synchronize(const Event& event, std::int64_t timeout_ns) {
  constexpr const char* operation = "Event::synchronize";
  const EventState& state = require(event, operation);
  if (!state.recorded()) return;
  const DeviceState& device = state.device();
  const spi::ScopedSpan span(trace::Kind::synchronize, device.id(), 0);
  spi::FailureBuffer failure;
  const hal_status status = device.api().event_synchronize(state.handle(), timeout_ns, &failure);
  if (status == HAL_STATUS_TIMEOUT) {
    throw Error(Errc::timeout, operation,
                "the event did not complete in the time given; its work goes on, so wait again or "
                "longer",
                device.id());
  }
  spi::check(status, failure, operation, device.id());
}

}  // namespace
}  // namespace detail

Event Device::create_event() const { return create_event(EventOptions{}); }

Event Device::create_event(const EventOptions& options) const {
  spi::require_usable("Device::create_event");
  (void)id();  // throws for a device made by default
  return Event(std::make_shared<detail::EventState>(state_, options));
}

Device Event::device() const {
  return Device(detail::require(*this, "Event::device").shared_device());
}

std::uint64_t Event::id() const { return detail::require(*this, "Event::id").id(); }

EventStatus Event::query() const {
  const detail::EventState& state = detail::require(*this, "Event::query");
  if (!state.recorded()) return EventStatus::not_recorded;
  spi::FailureBuffer failure;
  const hal_status status = state.device().api().event_query(state.handle(), &failure);
  if (status == HAL_STATUS_NOT_READY) return EventStatus::pending;
  spi::check(status, failure, "Event::query", state.device().id());
  return EventStatus::complete;
}

void Event::synchronize() const { detail::synchronize(*this, HAL_TIMEOUT_INFINITE); }

void Event::synchronize(std::chrono::nanoseconds timeout) const {
  detail::synchronize(*this, std::max<std::int64_t>(0, timeout.count()));
}

double elapsed_ms(const Event& begin, const Event& end) {
  constexpr const char* operation = "elapsed_ms";
  const detail::EventState& from = detail::require(begin, operation);
  const detail::EventState& to = detail::require(end, operation);
  const std::string& device = from.device().id();
  if (&from.device() != &to.device()) {
    throw Error(Errc::invalid_argument, operation,
                "the events belong to " + device + " and " + to.device().id() +
                    ": time only runs between events of one device",
                device);
  }
  if (!from.timing() || !to.timing()) {
    throw Error(Errc::invalid_argument, operation,
                "an event was made without timing: create both with EventOptions::timing", device);
  }
  if (begin.query() != EventStatus::complete || end.query() != EventStatus::complete) {
    throw Error(Errc::invalid_state, operation,
                "an event is not recorded or not complete: record both and wait for them first",
                device);
  }
  const hal_backend& api = from.device().api();
  if (api.event_elapsed == nullptr) spi::throw_unsupported(operation, "event_elapsed", device);
  double milliseconds = 0;
  spi::FailureBuffer failure;
  spi::check(api.event_elapsed(from.handle(), to.handle(), &milliseconds, &failure), failure,
             operation, device);
  return milliseconds;
}

}  // namespace hal
