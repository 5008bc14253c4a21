// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include "numa.hpp"
#include "signal.hpp"
#include "stream.hpp"

#include <hal/detail/closure.hpp>

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hal::host {

namespace {

const char* kind_name(std::int32_t kind) noexcept {
  static constexpr const char* names[] = {"launch",        "copy",   "fill",
                                          "host function", "record", "wait"};
  return names[kind];
}

std::string_view base_name(const char* path) noexcept {
  const std::string_view whole(path);
  return whole.substr(whole.find_last_of('/') + 1);
}

}  // namespace

HostDevice::HostDevice(int index, const DeviceShare& share, bool huge_pages,
                       std::shared_ptr<HostExecutor> executor, const hal_services& services)
    : index_(index),
      services_(services),
      binding_(share.node ? std::make_unique<NumaBinding>(*share.node) : nullptr),
      memory_{huge_pages, binding_.get()},
      executor_(std::move(executor)),
      arena_(share.cores, binding_.get()),
      scheduler_(*this, arena_) {}

void HostDevice::quiesce() noexcept {
  scheduler_.quiesce();
  // The lock is not for sleeping under; a stream that ends meanwhile has no waiters.
  std::vector<Ref<HostStream>> streams;
  {
    const std::lock_guard guard(lock_);
    for (HostStream* stream : streams_)
      if (stream->try_add_ref()) streams.push_back(Ref<HostStream>::adopt(stream));
  }
  for (const Ref<HostStream>& stream : streams)
    stream->release_waiters();
}

void HostDevice::add(HostEvent& event) {
  const std::lock_guard guard(lock_);
  events_.insert(&event);
}

void HostDevice::remove(HostEvent& event) noexcept {
  const std::lock_guard guard(lock_);
  events_.erase(&event);
}

void HostDevice::add(HostStream& stream) {
  const std::lock_guard guard(lock_);
  streams_.insert(&stream);
}

void HostDevice::remove(HostStream& stream) noexcept {
  const std::lock_guard guard(lock_);
  streams_.erase(&stream);
}

void HostDevice::trace(hal_span span, const HostStream& stream, std::uint64_t sequence,
                       std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept {
  span.device_index = index_;
  span.stream = stream.id();
  span.sequence = sequence;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  services_.trace("host", &span);
}

void HostDevice::note_origin(hal_failure& failure, const hal_span& span, const HostStream& stream,
                             std::uint64_t sequence) const noexcept {
  failure.has_origin = 1;
  failure.origin_stream = stream.id();
  failure.origin_sequence = sequence;
  const char* const name = span.site.name;
  std::snprintf(failure.origin_operation, sizeof(failure.origin_operation),
                name != nullptr ? "%s '%s'" : "%s", kind_name(span.kind), name);
  failure.origin_location[0] = '\0';
  if (span.site.file != nullptr) {
    const std::string_view file = base_name(span.site.file);
    std::snprintf(failure.origin_location, sizeof(failure.origin_location), "%.*s:%u",
                  static_cast<int>(file.size()), file.data(), span.site.line);
  }
  std::snprintf(failure.origin_device, sizeof(failure.origin_device), "host:%d", index_);
}

}  // namespace hal::host
