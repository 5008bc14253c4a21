// SPDX-License-Identifier: Apache-2.0
#include "event_state.hpp"
#include "require.hpp"

#include "spi/failure.hpp"
#include "spi/lifetime.hpp"

#include <hal/config.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace hal {

namespace detail {

StreamState& require(const Stream& stream, const char* operation) {
  spi::require_usable(operation);
  if (!stream) [[unlikely]] {
    throw Error(Errc::invalid_state, operation,
                "this hal::Stream names no stream: make one with Device::create_stream");
  }
  return *stream.state();
}

void note_enqueued(StreamState& stream, const char* operation) {
  static const bool wait_for_each = config::boolean("HAL_SYNC");
  stream.note_enqueued();
  if (!wait_for_each) [[likely]]
    return;
  try {
    stream.synchronize(HAL_TIMEOUT_INFINITE, operation);
  } catch (const Error& error) {
    // A host function that enqueues on its own stream cannot wait for it.
    if (error.code() != Errc::invalid_state || error.origin()) throw;
  }
}

namespace {

/// An event of another backend, as one of that backend that is recorded once and never again: it
/// keeps the point it had at the time of the call.
class ForeignPoint {
 public:
  explicit ForeignPoint(const Event& event)
      : event_(Device(event.state()->shared_device()).create_event({.timing = false})) {
    const Stream stream = event_.device().create_stream();
    stream.wait(event);
    stream.record(event_);
  }
  void operator()() const { event_.synchronize(); }

 private:
  Event event_;
};

}  // namespace
}  // namespace detail

Stream Device::create_stream() const { return create_stream(StreamOptions{}); }

Stream Device::create_stream(const StreamOptions& options) const {
  spi::require_usable("Device::create_stream");
  const int priority = has(Feature::priorities) ? options.priority : 0;
  return Stream(detail::StreamState::create(state_, priority));
}

Device Stream::device() const {
  return Device(detail::require(*this, "Stream::device").shared_device());
}

std::uint64_t Stream::id() const { return detail::require(*this, "Stream::id").id(); }

int Stream::priority() const { return detail::require(*this, "Stream::priority").priority(); }

void Stream::enqueue_launch(const hal_host_launch& launch) const {
  constexpr const char* operation = "Stream::launch";
  detail::StreamState& state = detail::require(*this, operation);
  const detail::DeviceState& device = state.device();
  const hal_backend& api = device.api();
  if (api.stream_launch_host == nullptr || !device.has(Feature::host_code)) {
    throw Error(Errc::unsupported, operation,
                "the device runs no C++ callables of the process (no stream_launch_host): launch a "
                "kernel compiled for it, or use a device with Feature::host_code",
                device.id());
  }
  if (launch.extent[0] == 0 || launch.extent[1] == 0 || launch.extent[2] == 0) return;
  spi::FailureBuffer failure;
  spi::check(api.stream_launch_host(state.handle(), &launch, &failure), failure, operation,
             device.id());
  detail::note_enqueued(state, operation);
}

void Stream::enqueue_host_function(const hal_host_function& function) const {
  constexpr const char* operation = "Stream::call";
  detail::StreamState& state = detail::require(*this, operation);
  const detail::DeviceState& device = state.device();
  if (device.api().stream_host_function == nullptr) {
    spi::throw_unsupported(operation, "stream_host_function", device.id());
  }
  spi::FailureBuffer failure;
  spi::check(device.api().stream_host_function(state.handle(), &function, &failure), failure,
             operation, device.id());
  detail::note_enqueued(state, operation);
}

void Stream::keep(Owner owner, const std::source_location& where) const {
  detail::StreamState& state = *state_;
  if (state.device().api().stream_host_function == nullptr) {
    state.wait_until_reached(state.enqueued());
    return;
  }
  call([owner = std::move(owner)] {}, "release of an owner", where);
}

void Stream::await_work() const noexcept { state_->wait_until_reached(state_->enqueued()); }

void Stream::check_blocks(const Blocks& space) const {
  constexpr const char* operation = "Stream::launch";
  const detail::DeviceState& device = detail::require(*this, operation).device();
  const DeviceProperties& properties = device.properties();
  const auto refuse = [&](const std::string& what, std::uint64_t asked, std::uint64_t limit) {
    throw Error(
        Errc::invalid_argument, operation,
        what + " is " + std::to_string(asked) + ", and the device allows " + std::to_string(limit),
        device.id());
  };
  if (space.block.volume() == 0) {
    throw Error(Errc::invalid_argument, operation, "a block has no threads: give it at least one",
                device.id());
  }
  const std::size_t threads = space.block.volume();
  if (threads > properties.max_threads_per_block.value_or(threads)) {
    refuse("the number of threads a block", threads, *properties.max_threads_per_block);
  }
  const std::size_t block[3] = {space.block.x, space.block.y, space.block.z};
  const std::size_t grid[3] = {space.grid.x, space.grid.y, space.grid.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string which(1, static_cast<char>('x' + axis));
    if (block[axis] > properties.max_block[axis].value_or(block[axis])) {
      refuse("the block's " + which, block[axis], *properties.max_block[axis]);
    }
    if (grid[axis] > properties.max_grid[axis].value_or(grid[axis])) {
      refuse("the grid's " + which, grid[axis], *properties.max_grid[axis]);
    }
  }
}

Event Stream::record() const {
  const detail::StreamState& state = detail::require(*this, "Stream::record");
  Event event = Device(state.shared_device()).create_event();
  record(event);
  return event;
}

void Stream::record(const Event& event) const {
  constexpr const char* operation = "Stream::record";
  detail::StreamState& state = detail::require(*this, operation);
  detail::EventState& target = detail::require(event, operation);
  if (&state.device() != &target.device()) {
    throw Error(Errc::invalid_argument, operation,
                "the event belongs to " + target.device().id() + " and the stream to " +
                    state.device().id() + ": record an event of the stream's device",
                state.device().id());
  }
  spi::FailureBuffer failure;
  spi::check(state.device().api().stream_record(state.handle(), target.handle(), &failure), failure,
             operation, state.device().id());
  target.note_recorded();
  state.note_enqueued();
}

void Stream::wait(const Event& event) const {
  constexpr const char* operation = "Stream::wait";
  detail::StreamState& state = detail::require(*this, operation);
  const detail::EventState& target = detail::require(event, operation);
  if (!target.recorded()) return;
  if (state.device().backend() != target.device().backend()) {
    if (state.device().api().stream_host_function == nullptr) {
      event.synchronize();
    } else {
      call(detail::ForeignPoint(event), "wait for another backend");
    }
    return;
  }
  spi::FailureBuffer failure;
  spi::check(state.device().api().stream_wait(state.handle(), target.handle(), &failure), failure,
             operation, state.device().id());
  detail::note_enqueued(state, operation);
}

StreamStatus Stream::query() const {
  constexpr const char* operation = "Stream::query";
  detail::StreamState& state = detail::require(*this, operation);
  const std::uint64_t before = state.enqueued();
  spi::FailureBuffer failure;
  const hal_status status = state.device().api().stream_query(state.handle(), &failure);
  if (status == HAL_STATUS_NOT_READY) return StreamStatus::busy;
  spi::check(status, failure, operation, state.device().id());
  state.note_done(before);
  return StreamStatus::idle;
}

void Stream::synchronize() const {
  constexpr const char* operation = "Stream::synchronize";
  detail::require(*this, operation).synchronize(HAL_TIMEOUT_INFINITE, operation);
}

void Stream::synchronize(std::chrono::nanoseconds timeout) const {
  constexpr const char* operation = "Stream::synchronize";
  detail::require(*this, operation)
      .synchronize(std::max<std::int64_t>(0, timeout.count()), operation);
}

void Stream::reset_error() const {
  constexpr const char* operation = "Stream::reset_error";
  detail::StreamState& state = detail::require(*this, operation);
  const hal_backend& api = state.device().api();
  if (api.stream_reset_error == nullptr) {
    spi::throw_unsupported(operation, "stream_reset_error", state.device().id());
  }
  spi::FailureBuffer failure;
  spi::check(api.stream_reset_error(state.handle(), &failure), failure, operation,
             state.device().id());
}

}  // namespace hal
