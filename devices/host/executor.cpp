// SPDX-License-Identifier: Apache-2.0
#include "executor.hpp"

#include "numa.hpp"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace hal::host {

namespace {

/// The arena whose loops or workers the calling thread is inside of.
thread_local const Arena* inside = nullptr;

class Entry {
 public:
  explicit Entry(const Arena* arena) noexcept : outer_(std::exchange(inside, arena)) {}
  ~Entry() { inside = outer_; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  const Arena* outer_;
};

/// A loop that several threads share: each takes pieces until none is left. Pieces shrink as the
/// rest does, so that few are taken and all threads end together.
class SharedLoop {
 public:
  SharedLoop(std::size_t count, std::size_t grain, int threads, HostExecutor::Body body) noexcept
      : count_(count), grain_(grain), shares_(static_cast<std::size_t>(threads) * 2), body_(body) {
    taken_.store(0, std::memory_order_release);
  }

  void run() noexcept {
    std::size_t begin = 0;
    std::size_t end = 0;
    while (take(begin, end))
      body_.run(body_.context, begin, end);
    finished_.fetch_add(1, std::memory_order_release);
  }

  /// Orders what all threads wrote before what the caller reads, in terms a race detector sees.
  void join() const noexcept { (void)finished_.load(std::memory_order_acquire); }

 private:
  bool take(std::size_t& begin, std::size_t& end) noexcept {
    begin = taken_.load(std::memory_order_acquire);
    do {
      if (begin >= count_) return false;
      const std::size_t left = count_ - begin;
      end = begin + std::min(left, std::max(grain_, left / shares_));
    } while (!taken_.compare_exchange_weak(begin, end, std::memory_order_acq_rel));
    return true;
  }

  const std::size_t count_;
  const std::size_t grain_;
  const std::size_t shares_;
  const HostExecutor::Body body_;
  alignas(64) std::atomic<std::size_t> taken_;
  std::atomic<int> finished_{0};
};

/// Lets oneTBB have as many workers as all arenas together, so that a waiting thread that sleeps
/// does not cost a core.
void allow_workers(int workers) {
  static std::mutex mutex;
  static tbb::global_control* control = nullptr;  // never destroyed: workers may outlive statics
  static std::size_t allowed = 0;
  const std::lock_guard guard(mutex);
  allowed += static_cast<std::size_t>(workers);
  const auto parameter = tbb::global_control::max_allowed_parallelism;
  // One more than the workers: oneTBB counts a thread of the program among them.
  if (tbb::global_control::active_value(parameter) < allowed + 1) {
    // The smallest control alive counts, so the old one goes after the new one is there.
    delete std::exchange(control, new tbb::global_control(parameter, allowed + 1));
  }
}

}  // namespace

Arena::Arena(int cores, NumaBinding* binding)
    : cores_(cores), arena_(cores + helper_slots, helper_slots) {
  // Before the arena exists, which would ask for them in vain.
  allow_workers(cores);
  arena_.initialize();
  if (binding != nullptr) binding->observe(arena_);
}

bool Arena::entered() noexcept { return inside != nullptr; }

void Arena::submit(void (*task)(void*) noexcept, void* context) noexcept {
  arena_.enqueue([this, task, context] {
    const Entry entry(this);
    task(context);
  });
}

void Arena::parallel_for(std::size_t count, std::size_t grain, Body body) {
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t pieces = count / grain + (count % grain != 0 ? 1 : 0);
  const int threads = static_cast<int>(std::min(pieces, static_cast<std::size_t>(cores_)));
  // A thread without a slot would have to wait for a worker to do its work, and all may be waiting.
  const bool helper = inside != this;
  const bool admitted = !helper || helpers_.fetch_add(1) < helper_slots;
  if (threads <= 1 || !admitted) {
    if (count > 0) body.run(body.context, 0, count);
  } else {
    SharedLoop loop(count, grain, threads, body);
    loops_.fetch_add(1, std::memory_order_relaxed);
    arena_.execute([&] {
      tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(
            0, threads,
            [&](int) {
              const Entry entry(this);
              loop.run();
            },
            tbb::simple_partitioner());
      });
    });
    loops_.fetch_sub(1, std::memory_order_relaxed);
    loop.join();
  }
  if (helper) helpers_.fetch_sub(1);
}

}  // namespace hal::host
