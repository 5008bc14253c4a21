// SPDX-License-Identifier: Apache-2.0
#include <hal/buffer.hpp>

#include "device_memory.hpp"
#include "spi/buffer_state.hpp"
#include "spi/device_state.hpp"
#include "spi/failure.hpp"
#include "spi/lifetime.hpp"
#include "spi/stream_state.hpp"

#include <hal/device.hpp>
#include <hal/error.hpp>
#include <hal/log.hpp>
#include <hal/stream.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <string>

namespace hal {

namespace detail {

namespace {

constexpr const char* allocate_operation = "Device::allocate";

void require_kind(const DeviceState& device, MemoryKind kind) {
  const bool offered = kind == MemoryKind::device ||
                       (kind == MemoryKind::pinned && device.has(Feature::pinned)) ||
                       (kind == MemoryKind::managed && device.has(Feature::managed));
  if (offered) return;
  throw Error(Errc::unsupported, allocate_operation,
              fmt::format("{} has no {} memory; ask Device::has for what it offers", device.id(),
                          name(kind)),
              device.id());
}

void require_alignment(const DeviceState& device, std::size_t alignment) {
  if (alignment == 0 || std::has_single_bit(alignment)) return;
  throw Error(Errc::invalid_argument, allocate_operation,
              fmt::format("the alignment is {}, but must be a power of two", alignment),
              device.id());
}

}  // namespace

BufferState::BufferState(std::shared_ptr<DeviceState> device, std::size_t bytes,
                         std::shared_ptr<StreamState> stream)
    : device_(std::move(device)), bytes_(bytes), home_(std::move(stream)) {
  if (bytes_ == 0) return;
  data_ = memory::memory_of(*device_).allocate(bytes_, device_->memory_alignment(), home_);
}

BufferState::BufferState(std::shared_ptr<DeviceState> device, std::size_t bytes,
                         const AllocationOptions& options)
    : device_(std::move(device)), bytes_(bytes), kind_(options.kind) {
  require_kind(*device_, options.kind);
  require_alignment(*device_, options.alignment);
  if (bytes_ == 0) return;
  data_ = memory::memory_of(*device_).allocate(bytes_, options);
}

BufferState::~BufferState() {
  if (data_ == nullptr || !spi::usable()) return;
  try {
    if (home_ != nullptr) other_uses_.push_back({home_, home_->enqueued()});
    memory::memory_of(*device_).release(kind_, data_, bytes_, other_uses_);
  } catch (const std::exception& error) {
    log::write(log::Level::error, fmt::format("a buffer is lost: {}", error.what()));
  }
}

void BufferState::record_use(const std::shared_ptr<StreamState>& stream) {
  // What the stream will have done by the time the buffer is released is noted then.
  if (stream == home_ || data_ == nullptr) return;
  const std::uint64_t sequence = stream->enqueued();
  const std::lock_guard lock(mutex_);
  const auto same = std::ranges::find(other_uses_, stream, &StreamPoint::stream);
  if (same != other_uses_.end()) {
    same->sequence = std::max(same->sequence, sequence);
    return;
  }
  // Streams that come and go would pile up in a buffer that stays.
  if (other_uses_.size() == other_uses_.capacity()) {
    std::erase_if(other_uses_,
                  [](const StreamPoint& use) { return use.stream->reached(use.sequence); });
  }
  other_uses_.push_back({stream, sequence});
}

}  // namespace detail

// ---- views ----------------------------------------------------------------------------------

BufferView BufferView::slice(std::size_t offset, std::size_t count) const {
  if (offset > size_bytes_ || count > size_bytes_ - offset) {
    throw Error(Errc::invalid_argument, "BufferView::slice",
                fmt::format("{} bytes from offset {} are not inside a view of {} bytes", count,
                            offset, size_bytes_),
                device_ == nullptr ? std::string() : device_->id());
  }
  void* data = data_ == nullptr ? nullptr : static_cast<std::byte*>(data_) + offset;
  return {data, count, device_, owner_};
}

// ---- buffers --------------------------------------------------------------------------------

void* Buffer::data() const noexcept { return state_ == nullptr ? nullptr : state_->data(); }

std::size_t Buffer::size_bytes() const noexcept { return state_ == nullptr ? 0 : state_->bytes(); }

MemoryKind Buffer::kind() const noexcept {
  return state_ == nullptr ? MemoryKind::device : state_->kind();
}

Device Buffer::device() const {
  if (state_ == nullptr) {
    throw Error(Errc::invalid_state, "Buffer::device",
                "the buffer holds nothing; make one with Device::allocate");
  }
  return Device(state_->device());
}

BufferView Buffer::view() const noexcept {
  if (state_ == nullptr) return {};
  return {state_->data(), state_->bytes(), state_->device().get()};
}

BufferView Buffer::view(std::size_t offset, std::size_t count) const {
  return view().slice(offset, count);
}

BufferView Buffer::keep_alive() const noexcept {
  if (state_ == nullptr) return {};
  return {state_->data(), state_->bytes(), state_->device().get(), state_};
}

void Buffer::record_use(const Stream& stream) const {
  if (state_ == nullptr) return;
  if (!stream) {
    throw Error(Errc::invalid_state, "Buffer::record_use",
                "the stream is empty; make one with Device::create_stream", state_->device()->id());
  }
  state_->record_use(stream.state()->shared_from_this());
}

// ---- allocation -----------------------------------------------------------------------------

namespace {

void require_device(const std::shared_ptr<detail::DeviceState>& device) {
  spi::require_usable("Device::allocate");
  if (device != nullptr) return;
  throw Error(Errc::invalid_state, "Device::allocate",
              "this Device names no device; get one from hal::device or hal::default_device");
}

}  // namespace

Buffer Device::allocate_bytes(std::size_t bytes, const Stream& stream) const {
  require_device(state_);
  if (!stream) {
    throw Error(Errc::invalid_state, "Device::allocate",
                "the stream is empty; make one with Device::create_stream", id());
  }
  if (&stream.state()->device() != state_.get()) {
    throw Error(Errc::invalid_argument, "Device::allocate",
                fmt::format("the stream belongs to {}; give a stream of {}",
                            stream.state()->device().id(), id()),
                id());
  }
  return Buffer(
      std::make_shared<detail::BufferState>(state_, bytes, stream.state()->shared_from_this()));
}

Buffer Device::allocate_bytes(std::size_t bytes, const AllocationOptions& options) const {
  require_device(state_);
  return Buffer(std::make_shared<detail::BufferState>(state_, bytes, options));
}

}  // namespace hal
