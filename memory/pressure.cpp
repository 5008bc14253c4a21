// SPDX-License-Identifier: Apache-2.0
#include "pressure.hpp"

#include <hal/log.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace hal {

namespace detail {

namespace {

/// Whose callback this thread is in.
thread_local const PressureListener* current = nullptr;

void note_thrown(const char* text) {
  log::write(log::Level::error,
             fmt::format("a callback given to Allocator::on_pressure threw: {}; make it catch its "
                         "own exceptions",
                         text));
}

}  // namespace

// ---- one callback ---------------------------------------------------------------------------

PressureListener::PressureListener(PressureCallback callback) noexcept
    : callback_(std::move(callback)) {}

/// This thread's stay in a callback that was counted as running.
class PressureListener::Inside {
 public:
  explicit Inside(PressureListener& listener) noexcept : listener_(listener) {
    current = &listener;
  }
  ~Inside() {
    current = nullptr;
    {
      const std::lock_guard lock(listener_.mutex_);
      --listener_.running_;
    }
    listener_.left_.notify_all();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  PressureListener& listener_;
};

bool PressureListener::call(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    ++running_;
  }
  const Inside inside(*this);
  try {
    callback_(bytes);
  } catch (const std::exception& exception) {
    note_thrown(exception.what());
  } catch (...) {
    note_thrown("not a std::exception");
  }
  return true;
}

void PressureListener::end() noexcept {
  const bool inside = current == this;
  PressureCallback ended;
  std::unique_lock lock(mutex_);
  ended_ = true;
  left_.wait(lock, [&] { return running_ == (inside ? 1 : 0); });
  // What the callback captured ends here, unless it is still running.
  if (!inside) ended.swap(callback_);
  lock.unlock();
}

// ---- all of a pool --------------------------------------------------------------------------

PressureSubscription PressureListeners::add(PressureCallback callback) {
  auto added = std::make_shared<PressureListener>(std::move(callback));
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
  listeners_.push_back(added);
  return PressureSubscription(std::move(added));
}

bool PressureListeners::call(std::size_t bytes) {
  if (current != nullptr) return false;
  std::vector<std::weak_ptr<PressureListener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  bool called = false;
  for (const auto& entry : listeners) {
    if (const auto listener = entry.lock()) called |= listener->call(bytes);
  }
  return called;
}

}  // namespace detail

PressureSubscription::PressureSubscription(
    std::shared_ptr<detail::PressureListener> listener) noexcept
    : listener_(std::move(listener)) {}

PressureSubscription::PressureSubscription(PressureSubscription&&) noexcept = default;

PressureSubscription& PressureSubscription::operator=(PressureSubscription&& other) noexcept {
  PressureSubscription ended(std::move(other));
  listener_.swap(ended.listener_);
  return *this;
}

PressureSubscription::~PressureSubscription() {
  if (listener_ != nullptr) listener_->end();
}

}  // namespace hal
