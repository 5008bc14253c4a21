// SPDX-License-Identifier: Apache-2.0
// What a launch costs: enqueueing it, running a million of them, and waiting for one.

#include "gate.hpp"
#include "micro.hpp"
#include "queues.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <future>
#include <thread>

namespace bench {
namespace {

/// Pushing empty work behind a piece that runs: nothing but the pushing thread is busy.
template <typename Queue>
void enqueue_held(benchmark::State& state) {
  constexpr int batch = 10'000;
  Queue queue;
  report_median(state, 20, [&] {
    const Gate gate;
    queue.push(gate.pass());
    gate.await_holder();
    const auto begin = Clock::now();
    for (int i = 0; i < batch; ++i)
      queue.push_empty();
    const double seconds = seconds_since(begin);
    gate.open();
    queue.finish();
    return seconds / batch;
  });
}

template <typename Queue>
void million(benchmark::State& state) {
  constexpr int count = 1'000'000;
  Queue queue;
  report_median(state, 3, [&] {
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i)
      queue.push_empty();
    queue.finish();
    return seconds_since(begin) / count;
  });
}

/// One push and the wait for it, timed one by one; reading the clock, some 25 ns, is included.
template <typename Queue>
double push_and_finish(Queue& queue) {
  const auto begin = Clock::now();
  queue.push_empty();
  queue.finish();
  return seconds_since(begin);
}

template <typename Queue>
void round_trip(benchmark::State& state) {
  Queue queue;
  report_median(state, 5000, [&] { return push_and_finish(queue); });
}

template <typename Queue>
void round_trip_after_idle(benchmark::State& state) {
  Queue queue;
  report_median(state, 50, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return push_and_finish(queue);
  });
}

/// `std::async` as a queue whose every piece has a thread of its own.
class AsyncQueue {
 public:
  void push_empty() {
    future_ = std::async(std::launch::async, [] {});
  }
  void finish() { future_.get(); }

 private:
  std::future<void> future_;
};

void do_nothing() {}
void (*volatile nothing)() = &do_nothing;

void plain_call(benchmark::State& state) {
  constexpr int batch = 10'000;
  report_median(state, 20, [] {
    const auto begin = Clock::now();
    for (int i = 0; i < batch; ++i)
      nothing();
    return seconds_since(begin) / batch;
  });
}

void register_all() {
  add("enqueue_held/hal", enqueue_held<HalQueue>);
  add("enqueue_held/tbb_enqueue", enqueue_held<ArenaQueue>);
  add("enqueue_held/thread_queue", enqueue_held<ThreadQueue>);
  add("enqueue_held/plain_call", plain_call);
  add("million/hal", million<HalQueue>);
  add("million/tbb_enqueue", million<ArenaQueue>);
  add("million/thread_queue", million<ThreadQueue>);
  add("round_trip/hal", round_trip<HalQueue>);
  add("round_trip/tbb_group", round_trip<GroupQueue>);
  add("round_trip/thread_queue", round_trip<ThreadQueue>);
  add("round_trip/async", round_trip<AsyncQueue>);
  add("round_trip_idle/hal", round_trip_after_idle<HalQueue>);
  add("round_trip_idle/tbb_group", round_trip_after_idle<GroupQueue>);
  add("round_trip_idle/thread_queue", round_trip_after_idle<ThreadQueue>);
  add("round_trip_idle/async", round_trip_after_idle<AsyncQueue>);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::register_all();
  return bench::run_registered(argc, argv);
}
