// SPDX-License-Identifier: Apache-2.0
#include "spi/trace.hpp"

#include <hal/config.hpp>
#include <hal/error.hpp>
#include <hal/log.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace hal {

constinit std::atomic<int> spi::internal::trace_subscribers{0};

namespace {

struct Subscriber {
  std::uint64_t id = 0;
  trace::Callback callback;
  std::atomic<int> running{0};
  std::atomic<bool> ended{false};
  std::atomic<bool> has_thrown{false};
};

using SubscriberList = std::vector<std::shared_ptr<Subscriber>>;

/// A callback that is running on this thread, and the one it interrupted.
class Frame {
 public:
  explicit Frame(Subscriber& subscriber) noexcept : subscriber_(subscriber), outer_(innermost) {
    innermost = this;
    subscriber_.running.fetch_add(1);
  }
  ~Frame() {
    subscriber_.running.fetch_sub(1);
    if (subscriber_.ended.load()) subscriber_.running.notify_all();
    innermost = outer_;
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  [[nodiscard]] static bool runs(const Subscriber& subscriber) noexcept {
    for (const Frame* frame = innermost; frame != nullptr; frame = frame->outer_) {
      if (&frame->subscriber_ == &subscriber) return true;
    }
    return false;
  }

 private:
  static thread_local Frame* innermost;
  Subscriber& subscriber_;
  Frame* outer_;
};

thread_local Frame* Frame::innermost = nullptr;

/// Who is subscribed. The lock is held to take or replace the list, never while callbacks run.
class Subscribers {
 public:
  std::uint64_t add(trace::Callback callback) {
    auto added = std::make_shared<Subscriber>();
    added->callback = std::move(callback);
    const std::unique_lock lock(mutex_);
    added->id = ++last_id_;
    auto next = std::make_shared<SubscriberList>(*list_);
    next->push_back(added);
    list_ = std::move(next);
    spi::internal::trace_subscribers.fetch_add(1);
    return added->id;
  }

  /// Returns when no other thread runs the callback any more.
  void remove(std::uint64_t id) {
    const std::shared_ptr<Subscriber> removed = take_out(id);
    const bool inside = Frame::runs(*removed);
    const int own = inside ? 1 : 0;
    for (int running = removed->running.load(); running != own; running = removed->running.load()) {
      removed->running.wait(running);
    }
    // Nobody calls it any more: what it captured ends here and not with the last list that has it.
    if (!inside) removed->callback = nullptr;
  }

  [[nodiscard]] std::shared_ptr<const SubscriberList> list() const {
    const std::shared_lock lock(mutex_);
    return list_;
  }

 private:
  std::shared_ptr<Subscriber> take_out(std::uint64_t id) {
    const std::unique_lock lock(mutex_);
    const auto found = std::ranges::find(*list_, id, [](const auto& entry) { return entry->id; });
    std::shared_ptr<Subscriber> removed = *found;
    removed->ended.store(true);
    spi::internal::trace_subscribers.fetch_sub(1);
    try {
      auto next = std::make_shared<SubscriberList>(*list_);
      std::erase(*next, removed);
      list_ = std::move(next);
    } catch (const std::bad_alloc&) {
      // It stays in the list, ended, and is not called.
    }
    return removed;
  }

  mutable std::shared_mutex mutex_;
  std::shared_ptr<const SubscriberList> list_ = std::make_shared<const SubscriberList>();
  std::uint64_t last_id_ = 0;
};

/// Never destroyed: work also ends while the process ends.
Subscribers& subscribers() {
  static Subscribers& instance = *new Subscribers;
  return instance;
}

void note_thrown(Subscriber& subscriber, const char* text) {
  if (subscriber.has_thrown.exchange(true)) return;  // once, not once a span
  log::write(log::Level::error,
             fmt::format("a callback given to trace::subscribe threw, and spans are lost: {}; make "
                         "it catch its own exceptions",
                         text));
}

void deliver(Subscriber& subscriber, const trace::Span& span) {
  if (Frame::runs(subscriber)) return;
  const Frame frame(subscriber);
  // Checked after `running` was raised: `remove` does the two in the opposite order, so either it
  // waits for this frame or this frame sees that it has ended.
  if (subscriber.ended.load()) return;
  try {
    subscriber.callback(span);
  } catch (const std::exception& exception) {
    note_thrown(subscriber, exception.what());
  } catch (...) {
    note_thrown(subscriber, "not a std::exception");
  }
}

}  // namespace

namespace spi {

void emit(const trace::Span& span) noexcept {
  try {
    const std::shared_ptr<const SubscriberList> list = subscribers().list();
    for (const auto& subscriber : *list)
      deliver(*subscriber, span);
  } catch (...) {
    // Locking or logging failed: tracing must not end the program that is traced.
  }
}

namespace {

/// The writer of `HAL_TRACE`. Never destroyed; completed by `finish_configured_trace`.
struct ConfiguredTrace {
  std::mutex mutex;
  std::unique_ptr<trace::ChromeTraceWriter> writer;
  bool started = false;
};

ConfiguredTrace& configured_trace() {
  static ConfiguredTrace& instance = *new ConfiguredTrace;
  return instance;
}

}  // namespace

void start_configured_trace() {
  ConfiguredTrace& configured = configured_trace();
  const std::lock_guard lock(configured.mutex);
  if (configured.started) return;
  const std::string path = config::text("HAL_TRACE");
  if (path.empty()) return;
  configured.writer = std::make_unique<trace::ChromeTraceWriter>(path);
  configured.started = true;
}

void finish_configured_trace() noexcept {
  ConfiguredTrace& configured = configured_trace();
  const std::lock_guard lock(configured.mutex);
  configured.writer.reset();
}

}  // namespace spi

namespace trace {

Subscription::Subscription(Subscription&& other) noexcept : id_(std::exchange(other.id_, 0)) {}

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  const Subscription ended(std::move(*this));
  id_ = std::exchange(other.id_, 0);
  return *this;
}

Subscription::~Subscription() {
  if (id_ != 0) subscribers().remove(id_);
}

Subscription subscribe(Callback callback) {
  if (!callback) {
    throw Error(Errc::invalid_argument, "trace::subscribe",
                "the callback is empty; give a function to call for each span");
  }
  return Subscription(subscribers().add(std::move(callback)));
}

}  // namespace trace
}  // namespace hal
