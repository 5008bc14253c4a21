// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include "stream.hpp"

#include <hal/detail/clock.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

namespace hal::host {

namespace {

constexpr std::uint64_t look_ns = 100'000;
/// Looks about once a microsecond: often enough to be quick, and leaves a thread that waits for
/// what it just enqueued the time to run it itself.
constexpr int pauses_between_looks = 16;

/// What the calling thread works for, while it is a worker.
thread_local const Scheduler* worker_of = nullptr;
thread_local bool start_is_deferred = false;

}  // namespace

void Scheduler::make_ready(HostStream& stream, bool deferred) noexcept {
  {
    const std::lock_guard guard(lock_);
    // Still listed since a waiting thread took it: the entry serves again, and whoever was called
    // for it is still to come.
    if (stream.in_ready_list) return;
    stream.in_ready_list = true;
    stream.add_ref();
    stream.next_ready = nullptr;
    (last_ == nullptr ? first_ : last_->next_ready) = &stream;
    last_ = &stream;
    ready_.fetch_add(1, std::memory_order_seq_cst);
  }
  if (deferred && worker_of == this) {
    start_is_deferred = true;
  } else {
    balance();
  }
}

void Scheduler::start_deferred() noexcept {
  if (!start_is_deferred) return;
  start_is_deferred = false;
  balance();
}

Ref<HostStream> Scheduler::take() noexcept {
  if (ready_.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard guard(lock_);
  HostStream* stream = first_;
  if (stream == nullptr) return {};
  first_ = stream->next_ready;
  if (first_ == nullptr) last_ = nullptr;
  stream->in_ready_list = false;
  ready_.fetch_sub(1, std::memory_order_seq_cst);
  return Ref<HostStream>::adopt(stream);
}

void Scheduler::balance() noexcept {
  if (ready_.load(std::memory_order_seq_cst) > lookers_.load(std::memory_order_seq_cst)) {
    start_worker();
  }
}

void Scheduler::start_worker() noexcept {
  if (dropping()) return;
  int workers = workers_.load(std::memory_order_seq_cst);
  do {
    if (workers >= arena_.concurrency()) return;
  } while (!workers_.compare_exchange_weak(workers, workers + 1, std::memory_order_seq_cst));
  arena_.submit([](void* self) noexcept { static_cast<Scheduler*>(self)->work(); }, this);
}

void Scheduler::work() noexcept {
  const Scheduler* const outer = std::exchange(worker_of, this);
  while (!dropping()) {
    Ref<HostStream> stream = take();
    if (!stream) stream = look();
    if (!stream) break;
    start_is_deferred = false;
    balance();
    stream->work();
  }
  worker_of = outer;
  workers_.fetch_sub(1, std::memory_order_seq_cst);
  // Whoever made a stream ready meanwhile may have counted on this worker.
  if (ready_.load(std::memory_order_seq_cst) > 0) balance();
}

Ref<HostStream> Scheduler::look() noexcept {
  // One core stays free of lookers: for the threads that enqueue.
  const int most = std::max(1, arena_.concurrency() - 1);
  if (lookers_.fetch_add(1, std::memory_order_seq_cst) >= most) {
    lookers_.fetch_sub(1, std::memory_order_seq_cst);
    return {};
  }
  // It may have been woken on the core of the thread that enqueues, which shall go on first.
  std::this_thread::yield();
  const std::uint64_t begin = detail::now_ns();
  Ref<HostStream> found;
  while (!found && !dropping() && !arena_.wants_workers()) {
    for (int pauses = 0; pauses < pauses_between_looks; ++pauses)
      cpu_pause();
    found = take();
    if (!found && detail::now_ns() - begin > look_ns) break;
  }
  lookers_.fetch_sub(1, std::memory_order_seq_cst);
  return found;
}

void Scheduler::quiesce() noexcept {
  dropping_.store(true, std::memory_order_seq_cst);
  const int own_drains = HostStream::depth_on_this_thread(device_);
  const int own_worker = worker_of == this ? 1 : 0;
  while (running_.load(std::memory_order_seq_cst) > own_drains ||
         workers_.load(std::memory_order_seq_cst) > own_worker) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace hal::host
