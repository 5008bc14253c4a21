// SPDX-License-Identifier: Apache-2.0
#include "signal.hpp"

#include "commands.hpp"
#include "device.hpp"
#include "stream.hpp"

#include <hal/detail/clock.hpp>

#include <mutex>
#include <utility>

namespace hal::host {

Signal::Signal(HostStream& stream, bool timing) noexcept
    : stream_(Ref<HostStream>::share(&stream)), timing_(timing) {}

Signal::~Signal() = default;

void Signal::complete(FailureRef failure, bool by_worker) noexcept {
  WaitCommand* waiter = nullptr;
  {
    const std::lock_guard guard(lock_);
    if (timing_) time_ns_ = detail::now_ns();
    failure_ = std::move(failure);
    done_.store(true, std::memory_order_release);
    waiter = std::exchange(waiters_, nullptr);
  }
  while (waiter != nullptr) {
    // Once resumed, the stream may run and dispose of the command at any time.
    WaitCommand* next = waiter->next_waiter;
    const Ref<HostStream> stream = Ref<HostStream>::adopt(waiter->parked_stream);
    stream->resume(by_worker);
    waiter = next;
  }
}

bool Signal::park(WaitCommand& waiter, HostStream& stream) noexcept {
  const std::lock_guard guard(lock_);
  if (done_.load(std::memory_order_relaxed)) return false;
  stream.add_ref();
  waiter.parked_stream = &stream;
  waiter.next_waiter = std::exchange(waiters_, &waiter);
  stream.set_parked();
  return true;
}

HostEvent::HostEvent(HostDevice& device, bool timing) : device_(device), timing_(timing) {
  device_.add(*this);
}

HostEvent::~HostEvent() { device_.remove(*this); }

Ref<Signal> HostEvent::latest() const noexcept {
  const std::lock_guard guard(lock_);
  return latest_;
}

void HostEvent::move_to(Ref<Signal> signal) noexcept {
  Ref<Signal> old;
  {
    const std::lock_guard guard(lock_);
    old = std::exchange(latest_, std::move(signal));
  }
}

}  // namespace hal::host
