// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/outcome.hpp"

#include <hal/hal.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// What the suite shares. It knows no backend: it runs over whatever device it is told to.
namespace conformance {

/// The device under test.
[[nodiscard]] const hal::Device& device();
void set_device(hal::Device device);

/// The other devices of its backend, and one device of every other backend.
[[nodiscard]] std::vector<hal::Device> siblings();
[[nodiscard]] std::vector<hal::Device> strangers();

/// Whether a `Gate` can hold a stream up: the device calls host functions, and not within the call
/// that enqueues them.
[[nodiscard]] bool can_hold_up();

/// Whether work can be made to fail on purpose.
[[nodiscard]] bool can_fail();

/// Says that (part of) a test does not apply to this device.
void not_applicable(std::string_view why);

using hal_test::error_of;
using hal_test::outcome;

/// Waits until `condition()` holds; the watchdog ends a test in which it never does.
template <typename F>
void wait_until(F&& condition) {
  while (!condition())
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

/// Holds a stream up from its construction until it is opened, at the latest when it is destroyed.
/// Only one at a time may be closed on a device while others of its streams have to make progress
/// by themselves: a device may have one core.
class Gate {
 public:
  explicit Gate(const hal::Stream& stream);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() noexcept;
  /// Waits until the stream stands before the gate.
  void wait_until_reached() const;

 private:
  struct State {
    std::atomic<bool> reached{false};
    std::atomic<bool> opened{false};
  };
  std::shared_ptr<State> state_;
};

/// A buffer with the values of `host`, copied on `stream`.
template <typename T>
[[nodiscard]] hal::TypedBuffer<T> upload(const hal::Stream& stream, const std::vector<T>& host) {
  auto owner = std::make_shared<const std::vector<T>>(host);
  auto buffer = device().allocate<T>(host.size(), stream);
  stream.copy(buffer, *owner, owner);
  return buffer;
}

/// `count` bytes that look like noise and are the same in every run.
[[nodiscard]] std::vector<unsigned char> noise(std::size_t count, unsigned seed);

/// Makes the stream fail with a host function or kernel that throws `std::runtime_error(text)`.
void fail(const hal::Stream& stream, std::string text);

}  // namespace conformance
