// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memory/size_class_pool.hpp"
#include "support/catch.hpp"
#include "support/outcome.hpp"

#include <hal/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// A pool on a device that is only counted.
namespace pool_test {

using hal::Errc;
using hal::Error;
using hal::detail::StreamPoint;
using hal::detail::StreamState;
using hal::memory::SizeClassPool;
using hal_test::error_of;

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

/// A stream of the tests: how far it has come. The pool only ever passes it on.
struct FakeStream {
  std::uint64_t id = 7;
  std::atomic<std::uint64_t> done{0};
};

using Stream = std::shared_ptr<StreamState>;

inline FakeStream& fake(const Stream& stream) {
  return *reinterpret_cast<FakeStream*>(stream.get());
}

inline Stream make_stream() {
  auto stream = std::make_shared<FakeStream>();
  auto* state = reinterpret_cast<StreamState*>(stream.get());
  return {std::move(stream), state};
}

/// A device of addresses without memory behind them.
class FakeUpstream final : public hal::memory::Upstream {
 public:
  std::size_t capacity = std::numeric_limits<std::size_t>::max();
  std::size_t misalign_by = 0;
  std::function<void(const StreamPoint&)> on_wait = [](const StreamPoint& point) {
    fake(point.stream).done = point.sequence;
  };
  hal_allocation last{};

  const std::string& device() const noexcept override { return device_; }

  void* reserve(const hal_allocation& request) override {
    const std::lock_guard lock(mutex_);
    last = request;
    if (request.bytes > capacity - used_) {
      throw Error(Errc::out_of_memory, "memory_allocate", "the fake is full", device_);
    }
    next_ = (next_ + request.alignment - 1) / request.alignment * request.alignment;
    const std::uintptr_t address = next_ + misalign_by;
    next_ += request.bytes;
    used_ += request.bytes;
    held_[address] = request.bytes;
    return reinterpret_cast<void*>(address);
  }

  void release(const hal_allocation& request, void* address) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(reinterpret_cast<std::uintptr_t>(address));
    if (found == held_.end() || found->second != request.bytes) {
      ++wrong_releases_;
      return;
    }
    used_ -= found->second;
    held_.erase(found);
  }

  bool reached(const StreamPoint& point) noexcept override {
    return fake(point.stream).done >= point.sequence;
  }
  std::uint64_t stream_id(const StreamState* stream) const noexcept override {
    return stream == nullptr ? 0 : reinterpret_cast<const FakeStream*>(stream)->id;
  }
  void wait(const StreamPoint& point) noexcept override {
    ++waits;
    on_wait(point);
  }
  std::optional<hal::MemoryInfo> memory_info() noexcept override {
    return hal::MemoryInfo{3 * mib, 8 * mib};
  }

  std::size_t used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  int wrong_releases() const {
    const std::lock_guard lock(mutex_);
    return wrong_releases_;
  }
  std::atomic<int> waits{0};

 private:
  const std::string device_ = "fake:0";
  mutable std::mutex mutex_;
  std::uintptr_t next_ = 1 << 20;
  std::size_t used_ = 0;
  int wrong_releases_ = 0;
  std::map<std::uintptr_t, std::size_t> held_;
};

struct Fixture {
  FakeUpstream upstream;
  SizeClassPool pool{upstream, HAL_MEMORY_DEVICE, 64, 0};

  void* take(std::size_t bytes, const Stream& stream = nullptr) {
    return pool.allocate(bytes, 64, stream);
  }
  void give(void* address, std::vector<StreamPoint> uses = {}) { pool.release(address, uses); }
};

}  // namespace pool_test
