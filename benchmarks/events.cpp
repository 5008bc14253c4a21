// SPDX-License-Identifier: Apache-2.0
// What ordering two streams costs: enqueueing a record and a wait for it, and the hand-over itself.

#include "gate.hpp"
#include "micro.hpp"
#include "queues.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace bench {
namespace {

/// Both streams are held by one gate, the second through an event: one free core is enough.
void record_wait(benchmark::State& state) {
  constexpr int batch = 10'000;
  const hal::Stream first = host().create_stream();
  const hal::Stream second = host().create_stream();
  const hal::Event event = host().create_event();
  report_median(state, 20, [&] {
    const Gate gate;
    first.call(gate.pass());
    second.wait(first.record());
    gate.await_holder();
    const auto begin = Clock::now();
    for (int i = 0; i < batch; ++i) {
      first.record(event);
      second.wait(event);
    }
    const double seconds = seconds_since(begin);
    gate.open();
    second.synchronize();
    return seconds / batch;
  });
}

/// The same by hand: one queue sets a flag that the other waits for.
void record_wait_thread_queue(benchmark::State& state) {
  constexpr int batch = 10'000;
  ThreadQueue first;
  ThreadQueue second;
  report_median(state, 20, [&] {
    const Gate gates[2];
    std::atomic<int> reached = 0;
    first.push(gates[0].pass());
    second.push(gates[1].pass());
    for (const Gate& gate : gates)
      gate.await_holder();
    const auto begin = Clock::now();
    for (int i = 1; i <= batch; ++i) {
      first.push([&reached, i] {
        reached = i;
        reached.notify_one();
      });
      second.push([&reached, i] {
        for (int now = reached; now < i; now = reached)
          reached.wait(now);
      });
    }
    const double seconds = seconds_since(begin);
    for (const Gate& gate : gates)
      gate.open();
    second.finish();
    first.finish();
    return seconds / batch;
  });
}

/// A chain through two streams: each launch waits for the one before it, on the other stream.
void hand_over_chain(benchmark::State& state) {
  constexpr int hand_overs = 400;
  const hal::Stream streams[2] = {host().create_stream(), host().create_stream()};
  const hal::Event events[2] = {host().create_event(), host().create_event()};
  report_median(state, 20, [&] {
    const Gate gate;
    streams[0].call(gate.pass());
    gate.await_holder();
    for (std::size_t i = 0; i < hand_overs; ++i) {
      streams[i % 2].launch([](std::size_t) {}, hal::over(1));
      streams[i % 2].record(events[i % 2]);
      streams[(i + 1) % 2].wait(events[i % 2]);
    }
    const auto begin = Clock::now();
    gate.open();
    streams[hand_overs % 2].synchronize();
    return seconds_since(begin) / hand_overs;
  });
}

/// One hand-over between streams that have nothing else to do, from the end of one function to the
/// start of the other; what a chain may hide by running both ends on one thread.
void hand_over_single(benchmark::State& state) {
  const hal::Stream first = host().create_stream();
  const hal::Stream second = host().create_stream();
  const hal::Event event = host().create_event();
  report_median(state, 2'000, [&] {
    Clock::time_point left;
    Clock::time_point arrived;
    first.call([&] { left = Clock::now(); });
    first.record(event);
    second.wait(event);
    second.call([&] { arrived = Clock::now(); });
    second.synchronize();
    return std::chrono::duration<double>(arrived - left).count();
  });
}

/// Two threads that take turns; `Turn` is how they tell each other.
template <typename Turn>
void hand_over_threads(benchmark::State& state) {
  constexpr int hand_overs = 400;
  report_median(state, 20, [] {
    Turn turn;
    std::thread other([&] {
      for (int i = 1; i < hand_overs; i += 2)
        turn.take(i);
    });
    turn.take(0);
    turn.await(2);
    const auto begin = Clock::now();
    for (int i = 2; i < hand_overs; i += 2)
      turn.take(i);
    turn.await(hand_overs);
    const double seconds = seconds_since(begin);
    other.join();
    return seconds / (hand_overs - 2);
  });
}

class AtomicTurn {
 public:
  void await(int number) {
    for (int now = next_; now != number; now = next_)
      next_.wait(now);
  }
  void take(int number) {
    await(number);
    next_ = number + 1;
    next_.notify_one();
  }

 private:
  std::atomic<int> next_ = 0;
};

class ConditionTurn {
 public:
  void await(int number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ == number; });
  }
  void take(int number) {
    await(number);
    {
      const std::scoped_lock lock(mutex_);
      next_ = number + 1;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int next_ = 0;
};

void register_all() {
  add("record_wait/hal", record_wait);
  add("record_wait/thread_queue", record_wait_thread_queue);
  add("hand_over/hal", hand_over_chain);
  add("hand_over/atomic_wait", hand_over_threads<AtomicTurn>);
  add("hand_over/condition_variable", hand_over_threads<ConditionTurn>);
  add("hand_over_single/hal", hand_over_single);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::register_all();
  return bench::run_registered(argc, argv);
}
