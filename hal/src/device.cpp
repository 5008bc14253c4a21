// SPDX-License-Identifier: Apache-2.0
#include "spi/failure.hpp"
#include "spi/lifetime.hpp"
#include "spi/stream_state.hpp"

#include <hal/device.hpp>
#include <hal/log.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace hal {
namespace {

detail::DeviceState& named(const std::shared_ptr<detail::DeviceState>& state,
                           const char* operation) {
  if (state == nullptr) [[unlikely]] {
    throw Error(Errc::invalid_state, operation,
                "this hal::Device names no device: get one from hal::device(\"host:0\") or "
                "hal::default_device()");
  }
  return *state;
}

detail::DeviceState& in_use(const std::shared_ptr<detail::DeviceState>& state,
                            const char* operation) {
  spi::require_usable(operation);
  return named(state, operation);
}

bool reaches(const detail::DeviceState& device, const detail::DeviceState& peer) {
  if (&device == &peer) return true;
  // Handles mean something to the backend that gave them only.
  if (&device.api() != &peer.api() || device.api().peer_accessible == nullptr) return false;
  return device.api().peer_accessible(device.handle(), peer.handle()) != 0;
}

}  // namespace

const std::string& Device::id() const { return named(state_, "Device::id").id(); }

const std::string& Device::backend() const { return named(state_, "Device::backend").backend(); }

int Device::index() const { return named(state_, "Device::index").index(); }

const DeviceProperties& Device::properties() const {
  return named(state_, "Device::properties").properties();
}

bool Device::has(Feature feature) const { return named(state_, "Device::has").has(feature); }

MemoryInfo Device::memory_info() const {
  constexpr const char* operation = "Device::memory_info";
  detail::DeviceState& device = in_use(state_, operation);
  if (device.api().memory_info == nullptr) {
    spi::throw_unsupported(operation, "memory_info", device.id());
  }
  MemoryInfo info;
  spi::FailureBuffer failure;
  spi::check(
      device.api().memory_info(device.handle(), &info.free_bytes, &info.total_bytes, &failure),
      failure, operation, device.id());
  return info;
}

Allocator& Device::allocator() const { return in_use(state_, "Device::allocator").allocator(); }

void Device::synchronize() const {
  constexpr const char* operation = "Device::synchronize";
  if (const std::optional<Error> first = in_use(state_, operation).wait_for_all(operation)) {
    throw *first;
  }
}

bool Device::can_access(const Device& peer) const {
  constexpr const char* operation = "Device::can_access";
  return reaches(in_use(state_, operation), in_use(peer.state_, operation));
}

void Device::enable_peer_access(const Device& peer) const {
  constexpr const char* operation = "Device::enable_peer_access";
  detail::DeviceState& device = in_use(state_, operation);
  detail::DeviceState& other = in_use(peer.state_, operation);
  if (&device == &other) return;
  if (device.api().peer_enable == nullptr) {
    spi::throw_unsupported(operation, "peer_enable", device.id());
  }
  if (!reaches(device, other)) {
    throw Error(Errc::unsupported, operation,
                "this device cannot reach memory of " + other.id() +
                    ": copy between them with Stream::copy, which needs no peer access",
                device.id());
  }
  spi::FailureBuffer failure;
  spi::check(device.api().peer_enable(device.handle(), other.handle(), &failure), failure,
             operation, device.id());
}

}  // namespace hal

namespace hal::detail {

DeviceState::DeviceState(const hal_backend& api, hal_device_handle handle, std::string backend,
                         int index, DeviceProperties properties)
    : api_(api),
      handle_(handle),
      backend_(std::move(backend)),
      index_(index),
      id_(backend_ + ':' + std::to_string(index)),
      properties_(std::move(properties)) {}

DeviceState::~DeviceState() = default;

Allocator& DeviceState::allocator() {
  std::call_once(allocator_made_, [this] { allocator_ = spi::make_allocator(*this); });
  return *allocator_;
}

void DeviceState::add_stream(const std::shared_ptr<StreamState>& stream) {
  const std::lock_guard guard(mutex_);
  // Those that ended are forgotten here, now and then, so that the list stays as long as it must
  // be.
  if (streams_.size() == streams_.capacity()) {
    std::erase_if(streams_, [](const auto& known) { return known.expired(); });
  }
  streams_.push_back(stream);
}

std::vector<std::shared_ptr<StreamState>> DeviceState::streams() {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<StreamState>> alive;
  for (const auto& known : streams_) {
    if (std::shared_ptr<StreamState> stream = known.lock()) alive.push_back(std::move(stream));
  }
  return alive;
}

void DeviceState::keep_until_done(std::shared_ptr<StreamState> stream) {
  forget_done_orphans();
  const std::lock_guard guard(mutex_);
  orphans_.push_back(std::move(stream));
}

void DeviceState::forget_done_orphans() {
  // Streams end outside the lock: what ends with them may come back here.
  std::vector<std::shared_ptr<StreamState>> done;
  const std::lock_guard guard(mutex_);
  const auto first = std::partition(orphans_.begin(), orphans_.end(), [](const auto& orphan) {
    return !orphan->reached(orphan->enqueued());
  });
  done.assign(std::make_move_iterator(first), std::make_move_iterator(orphans_.end()));
  orphans_.erase(first, orphans_.end());
}

std::optional<Error> DeviceState::wait_for_all(const char* operation) {
  std::optional<Error> first;
  for (const auto& stream : streams()) {
    try {
      stream->synchronize(HAL_TIMEOUT_INFINITE, operation);
    } catch (const Error& error) {
      if (!stream->has_handle()) {
        log::write(
            log::Level::warning,
            std::string("work failed on a stream that nothing names any more: ") + error.what());
      } else if (!first) {
        first = error;
      }
    }
  }
  forget_done_orphans();
  return first;
}

void DeviceState::close() {
  if (closed_.exchange(true)) return;
  // The allocator and the handle stay as they are: a thread that did not know of the end may still
  // be inside a call.
  {
    const std::lock_guard guard(mutex_);
    orphans_.clear();
  }
  api_.device_close(handle_);
}

}  // namespace hal::detail
