// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conformance {
namespace {

hal::Device& chosen_device() {
  static hal::Device chosen;
  return chosen;
}

/// Whether a host function runs within the call that enqueues it.
bool runs_in_line(const hal::Device& device) {
  const hal::Stream stream = device.create_stream();
  std::atomic<bool> enqueueing{true};
  bool in_line = false;
  const std::thread::id caller = std::this_thread::get_id();
  stream.call([&] { in_line = enqueueing && std::this_thread::get_id() == caller; });
  enqueueing = false;
  stream.synchronize();
  return in_line;
}

}  // namespace

const hal::Device& device() { return chosen_device(); }

void set_device(hal::Device device) { chosen_device() = std::move(device); }

std::vector<hal::Device> siblings() {
  std::vector<hal::Device> found = hal::devices();
  std::erase_if(found, [](const hal::Device& other) {
    return other == device() || other.backend() != device().backend();
  });
  return found;
}

std::vector<hal::Device> strangers() {
  std::vector<hal::Device> found = hal::devices();
  std::erase_if(found, [](const hal::Device& other) {
    return other.index() != 0 || other.backend() == device().backend();
  });
  return found;
}

bool can_hold_up() {
  static const bool can = device().has(hal::Feature::host_function) && !runs_in_line(device());
  return can;
}

bool can_fail() {
  return device().has(hal::Feature::host_function) || device().has(hal::Feature::host_code);
}

void not_applicable(std::string_view why) {
  WARN("not checked on " << device().id() << ": " << why);
}

Gate::Gate(const hal::Stream& stream) : state_(std::make_shared<State>()) {
  stream.call([state = state_] {
    state->reached = true;
    state->reached.notify_all();
    state->opened.wait(false);
  });
}

Gate::~Gate() { open(); }

void Gate::open() noexcept {
  state_->opened = true;
  state_->opened.notify_all();
}

void Gate::wait_until_reached() const { state_->reached.wait(false); }

std::vector<unsigned char> noise(std::size_t count, unsigned seed) {
  std::vector<unsigned char> bytes(count);
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (unsigned char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<unsigned char>(state >> 24U);
  }
  return bytes;
}

void fail(const hal::Stream& stream, std::string text) {
  if (device().has(hal::Feature::host_function)) {
    stream.call([text = std::move(text)] { throw std::runtime_error(text); }, "failing");
  } else {
    stream.launch([text = std::move(text)](std::size_t) { throw std::runtime_error(text); },
                  hal::over(1).named("failing"));
  }
}

}  // namespace conformance
