// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <hal/hal.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

/// A HAL stream and what one would write instead, with one interface: `push_empty` enqueues work
/// that does nothing, `push` a function, `finish` waits for all.
namespace bench {

inline const hal::Device& host() {
  static const hal::Device device = hal::device("host:0");
  return device;
}

class HalQueue {
 public:
  void push_empty() {
    stream_.launch([](std::size_t) {}, hal::over(1));
  }
  template <typename F>
  void push(F&& f) {
    stream_.call(std::forward<F>(f));
  }
  void finish() { stream_.synchronize(); }
  [[nodiscard]] const hal::Stream& stream() const { return stream_; }

 private:
  hal::Stream stream_ = host().create_stream();
};

/// The in-order queue of the textbook: one thread, a mutex, a condition variable.
class ThreadQueue {
 public:
  ThreadQueue() = default;
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;
  ~ThreadQueue() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  void push_empty() {
    push([] {});
  }
  void push(std::function<void()> f) {
    {
      const std::scoped_lock lock(mutex_);
      queue_.push_back(std::move(f));
    }
    changed_.notify_one();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return queue_.empty() && !running_; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::function<void()> f = std::move(queue_.front());
      queue_.pop_front();
      running_ = true;
      lock.unlock();
      f();
      lock.lock();
      running_ = false;
      if (queue_.empty()) idle_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> queue_;
  bool running_ = false;
  bool stop_ = false;
  std::thread worker_{[this] { work(); }};
};

/// `task_arena::enqueue` into an arena with one worker. Cheaper than a stream must be: it promises
/// no order, and `finish` only counts.
class ArenaQueue {
 public:
  void push_empty() {
    push([] {});
  }
  template <typename F>
  void push(F f) {
    ++pushed_;
    arena_.enqueue([this, f = std::move(f)] {
      f();
      done_.fetch_add(1);
      done_.notify_one();
    });
  }
  void finish() {
    for (std::size_t done = done_; done != pushed_; done = done_)
      done_.wait(done);
  }

 private:
  std::size_t pushed_ = 0;
  std::atomic<std::size_t> done_ = 0;
  oneapi::tbb::task_arena arena_{1, 0};
};

/// `task_group`: the waiting thread runs what it waits for, as a HAL stream's waiter does.
class GroupQueue {
 public:
  void push_empty() {
    group_.run([] {});
  }
  void finish() { group_.wait(); }

 private:
  oneapi::tbb::task_group group_;
};

}  // namespace bench
