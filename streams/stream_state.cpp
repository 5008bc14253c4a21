// SPDX-License-Identifier: Apache-2.0
#include "spi/stream_state.hpp"

#include "spi/failure.hpp"
#include "spi/lifetime.hpp"
#include "spi/trace.hpp"

#include <utility>

namespace hal::detail {

StreamState::StreamState(std::shared_ptr<DeviceState> device, int priority)
    : device_(std::move(device)), id_(spi::next_id()), priority_(priority) {
  spi::FailureBuffer failure;
  spi::check(device_->api().stream_create(device_->handle(), id_, priority, &handle_, &failure),
             failure, "Device::create_stream", device_->id());
}

/// What all handles of a stream share.
struct StreamState::HandleToken {
  std::shared_ptr<StreamState> state;

  explicit HandleToken(std::shared_ptr<StreamState> stream) : state(std::move(stream)) {}
  HandleToken(const HandleToken&) = delete;
  HandleToken& operator=(const HandleToken&) = delete;
  ~HandleToken() {
    state->abandoned_.store(true, std::memory_order_release);
    if (!spi::usable() || state->reached(state->enqueued())) return;
    DeviceState& device = state->device();
    device.keep_until_done(std::move(state));
  }
};

std::shared_ptr<StreamState> StreamState::create(std::shared_ptr<DeviceState> device,
                                                 int priority) {
  auto state = std::make_shared<StreamState>(std::move(device), priority);
  state->device().add_stream(state);
  StreamState* const stream = state.get();
  return {std::make_shared<HandleToken>(std::move(state)), stream};
}

StreamState::~StreamState() {
  if (spi::usable()) device_->api().stream_destroy(handle_);
}

void StreamState::note_done(std::uint64_t sequence) noexcept {
  std::uint64_t known = done_.load(std::memory_order_relaxed);
  while (known < sequence &&
         !done_.compare_exchange_weak(known, sequence, std::memory_order_release)) {
  }
}

bool StreamState::reached(std::uint64_t sequence) noexcept {
  if (done_.load(std::memory_order_acquire) >= sequence) return true;
  if (!spi::usable()) return false;
  const std::uint64_t before = enqueued();
  spi::FailureBuffer failure;
  // A failed stream runs nothing more of what is queued, so nothing of it touches memory.
  if (device_->api().stream_query(handle_, &failure) == HAL_STATUS_NOT_READY) return false;
  note_done(before);
  return before >= sequence;
}

void StreamState::wait_until_reached(std::uint64_t sequence) noexcept {
  if (done_.load(std::memory_order_acquire) >= sequence || !spi::usable()) return;
  const std::uint64_t before = enqueued();
  spi::FailureBuffer failure;
  const hal_status status =
      device_->api().stream_synchronize(handle_, HAL_TIMEOUT_INFINITE, &failure);
  // Refused: the calling thread is inside a host function of this very stream.
  if (status == HAL_STATUS_INVALID_STATE && failure.has_origin == 0) return;
  note_done(before);
}

void StreamState::synchronize(std::int64_t timeout_ns, const char* operation) {
  const spi::ScopedSpan span(trace::Kind::synchronize, device_->id(), id_);
  const std::uint64_t before = enqueued();
  spi::FailureBuffer failure;
  const hal_status status = device_->api().stream_synchronize(handle_, timeout_ns, &failure);
  if (status == HAL_STATUS_TIMEOUT) {
    throw Error(Errc::timeout, operation,
                "the stream's work was not done in the time given; it goes on, so wait again or "
                "longer",
                device_->id());
  }
  spi::check(status, failure, operation, device_->id());
  note_done(before);
}

}  // namespace hal::detail
