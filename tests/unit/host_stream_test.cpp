// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/new_process.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

/// What the host device promises beyond the conformance suite: who runs what, and that no
/// arrangement of waiting threads keeps work from being run.
namespace {

using namespace std::chrono_literals;

hal::Device host() { return hal::device("host:0"); }

int cores() { return static_cast<int>(host().properties().compute_units.value()); }

/// Holds workers inside host functions, each of a stream of its own, until `open`.
class BusyWorkers {
 public:
  explicit BusyWorkers(int count = cores()) {
    std::vector<std::future<void>> begun;
    for (int i = 0; i < count; ++i) {
      streams_.push_back(host().create_stream());
      auto started = std::make_shared<std::promise<void>>();
      begun.push_back(started->get_future());
      streams_.back().call([started, gate = gate_] {
        started->set_value();
        gate.wait();
      });
    }
    for (const std::future<void>& each : begun)
      each.wait();
  }
  ~BusyWorkers() { open(); }

  void open() {
    if (opened_) return;
    opened_ = true;
    promise_.set_value();
    for (const hal::Stream& stream : streams_)
      stream.synchronize();
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> gate_ = promise_.get_future().share();
  std::vector<hal::Stream> streams_;
  bool opened_ = false;
};

}  // namespace

TEST_CASE("a thread that waits runs its stream's work itself when every worker is busy") {
  BusyWorkers busy;
  const hal::Stream stream = host().create_stream();
  std::thread::id ran_on;
  stream.call([&] { ran_on = std::this_thread::get_id(); });
  stream.synchronize();
  CHECK(ran_on == std::this_thread::get_id());
}

TEST_CASE("a thread that waits runs only its own stream's work") {
  BusyWorkers busy;
  const hal::Stream other = host().create_stream();
  std::atomic<bool> other_ran{false};
  other.call([&] { other_ran = true; });
  const hal::Stream stream = host().create_stream();
  std::atomic<std::size_t> items{0};
  stream.launch([&items](std::size_t) { ++items; }, hal::over(5000).with_grain(1));
  stream.synchronize();
  CHECK(items == 5000);
  CHECK_FALSE(other_ran);
  busy.open();
  other.synchronize();
  CHECK(other_ran);
}

TEST_CASE("a thread that waits for the end of a loop runs no other stream's work meanwhile") {
  if (cores() < 2) return;  // a loop is not shared
  BusyWorkers busy(cores() - 1);
  const std::thread::id here = std::this_thread::get_id();
  const hal::Stream other = host().create_stream();
  std::atomic<bool> shared{false};
  std::atomic<bool> other_ran{false};
  std::thread::id other_ran_on;
  const auto wait_for = [](const std::atomic<bool>& flag, std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!flag && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  };
  const hal::Stream stream = host().create_stream();
  stream.launch(
      [&](std::size_t) {
        // The one free worker holds the loop's other half, so that this thread comes to its end and
        // waits while `other` is ready and has nobody.
        if (std::this_thread::get_id() == here) return wait_for(shared, 30s);
        shared = true;
        other.call([&] {
          other_ran_on = std::this_thread::get_id();
          other_ran = true;
        });
        wait_for(other_ran, 50ms);
      },
      hal::over(2).with_grain(1));
  stream.synchronize();
  busy.open();
  other.synchronize(std::chrono::hours(1));
  CHECK(shared);
  CHECK(other_ran);
  CHECK(other_ran_on != here);
}

TEST_CASE("a thread that waits with a time limit runs nothing itself") {
  BusyWorkers busy;
  const hal::Stream stream = host().create_stream();
  std::thread::id ran_on;
  stream.call([&] { ran_on = std::this_thread::get_id(); });
  CHECK_THROWS_AS(stream.synchronize(1ms), hal::Error);
  CHECK(ran_on == std::thread::id());
  busy.open();
  stream.synchronize(std::chrono::hours(1));
  CHECK(ran_on != std::thread::id());
  CHECK(ran_on != std::this_thread::get_id());
}

TEST_CASE("host functions on every worker may wait for a stream that nobody else runs") {
  const hal::Stream last = host().create_stream();
  std::promise<void> open;
  const std::shared_future<void> gate = open.get_future().share();
  const hal::Stream blocker = host().create_stream();
  blocker.call([gate] { gate.wait(); });
  const hal::Event opened = blocker.record();
  last.wait(opened);
  std::atomic<int> done{0};
  last.launch([&done](std::size_t) { ++done; }, hal::over(1));

  std::vector<hal::Stream> waiting;
  for (int i = 0; i < cores() + 2; ++i) {
    waiting.push_back(host().create_stream());
    waiting.back().call([last, &done] {
      last.synchronize();
      ++done;
    });
  }
  open.set_value();
  for (const hal::Stream& stream : waiting)
    stream.synchronize();
  CHECK(done == cores() + 3);
}

TEST_CASE("workers asleep inside host functions are woken for the stream they wait for") {
  std::promise<void> open;
  std::promise<void> all_busy;
  std::promise<void> begun;
  const std::shared_future<void> gate = open.get_future().share();
  const std::shared_future<void> go_on = all_busy.get_future().share();
  const hal::Stream last = host().create_stream();
  std::atomic<int> waiting{0};
  std::vector<hal::Stream> streams;
  for (int i = 0; i < cores(); ++i) {
    streams.push_back(host().create_stream());
    streams.back().call([last, go_on, &waiting] {
      ++waiting;
      go_on.wait();
      last.synchronize();
    });
  }
  while (waiting < cores())
    std::this_thread::yield();

  // With every worker busy, the thread that waits for it runs `blocker`: not a worker, so that
  // nobody but those asleep is left for `last`.
  const hal::Stream blocker = host().create_stream();
  blocker.call([gate, &begun] {
    begun.set_value();
    gate.wait();
  });
  last.wait(blocker.record());
  bool done = false;
  last.call([&done] { done = true; });
  std::thread helper([&] { blocker.synchronize(); });
  begun.get_future().wait();
  all_busy.set_value();
  std::this_thread::sleep_for(20ms);  // past the time for which a waiting thread spins
  open.set_value();
  for (const hal::Stream& stream : streams)
    stream.synchronize();
  helper.join();
  CHECK(done);
}

TEST_CASE("streams that never run dry leave a turn to others") {
  std::atomic<bool> stop{false};
  std::vector<hal::Stream> endless;
  std::vector<std::unique_ptr<std::function<void()>>> feeders;
  for (int i = 0; i < cores(); ++i) {
    endless.push_back(host().create_stream());
    feeders.push_back(std::make_unique<std::function<void()>>());
    std::function<void()>& feed = *feeders.back();
    feed = [&stop, &feed, stream = endless.back()] {
      if (!stop) stream.call([&feed] { feed(); });
    };
    endless.back().call([&feed] { feed(); });
  }
  const hal::Stream stream = host().create_stream();
  stream.call([&stop] { stop = true; });
  // With a limit this thread does not help: a worker must come.
  stream.synchronize(std::chrono::hours(1));
  CHECK(stop);
  for (const hal::Stream& each : endless)
    each.synchronize();
}

TEST_CASE("a chain through many streams runs whatever thread waits for its end") {
  constexpr int length = 300;
  std::vector<hal::Stream> streams;
  for (int i = 0; i < 16; ++i)
    streams.push_back(host().create_stream());
  int value = 0;
  for (int i = 0; i < length; ++i) {
    const hal::Stream& stream = streams[static_cast<std::size_t>(i) % streams.size()];
    const hal::Stream& next = streams[static_cast<std::size_t>(i + 1) % streams.size()];
    stream.call([&value, i] { value = value == i ? i + 1 : -1; });
    next.wait(stream.record());
  }
  streams[length % streams.size()].synchronize();
  CHECK(value == length);
}

TEST_CASE("loops of several streams share the cores without losing an item") {
  constexpr std::size_t count = 200'000;
  std::vector<hal::Stream> streams;
  std::vector<std::unique_ptr<std::vector<int>>> marks;
  for (int i = 0; i < 4; ++i) {
    streams.push_back(host().create_stream());
    marks.push_back(std::make_unique<std::vector<int>>(count, 0));
    for (int round = 0; round < 5; ++round) {
      streams.back().launch([](std::size_t at, int* mark) { ++mark[at]; }, hal::over(count),
                            marks.back()->data());
    }
  }
  for (const hal::Stream& stream : streams)
    stream.synchronize();
  for (const auto& mark : marks) {
    CHECK(std::all_of(mark->begin(), mark->end(), [](int times) { return times == 5; }));
  }
}

TEST_CASE("two- and three-dimensional loops of every proportion cover each index once") {
  const hal::Stream stream = host().create_stream();
  const std::size_t shapes[][3] = {{1, 1, 5000}, {1, 3, 4000}, {3, 1, 4000},   {7, 900, 3},
                                   {500, 9, 2},  {2, 2, 2},    {1, 100000, 1}, {100, 100, 7}};
  for (const auto& shape : shapes) {
    const std::size_t rows = shape[1];
    const std::size_t columns = shape[2];
    std::vector<int> marks(shape[0] * rows * columns, 0);
    for (const std::size_t grain : {std::size_t{1}, std::size_t{64}, std::size_t{1024}}) {
      stream.launch([rows, columns](std::size_t z, std::size_t y, std::size_t x,
                                    int* mark) { ++mark[(z * rows + y) * columns + x]; },
                    hal::over(shape[0], rows, columns).with_grain(grain), marks.data());
    }
    stream.synchronize();
    CHECK(std::all_of(marks.begin(), marks.end(), [](int times) { return times == 3; }));
  }
}

namespace {

/// Runs loops on the calling thread, in two halves, and counts them.
class Halves final : public hal::HostExecutor {
 public:
  [[nodiscard]] int concurrency() const noexcept override { return 2; }
  void parallel_for(std::size_t count, std::size_t, Body body) override {
    ++loops;
    body.run(body.context, 0, count / 2);
    body.run(body.context, count / 2, count);
  }
  std::atomic<int> loops{0};
};

}  // namespace

TEST_CASE("an executor installed before the first device runs the loops of host devices") {
  hal_test::in_new_process({}, [] {
    auto executor = std::make_shared<Halves>();
    hal::set_host_executor(executor);
    const hal::Stream stream = host().create_stream();
    std::vector<int> marks(100'000, 0);
    stream.launch([](std::size_t i, int* mark) { ++mark[i]; }, hal::over(marks.size()),
                  marks.data());
    stream.synchronize();
    CHECK(executor->loops == 1);
    CHECK(std::all_of(marks.begin(), marks.end(), [](int times) { return times == 1; }));
  });
}

TEST_CASE("an executor cannot be installed once a host device is open") {
  (void)host();
  try {
    hal::set_host_executor(std::make_shared<Halves>());
    FAIL("installed");
  } catch (const hal::Error& error) {
    CHECK(error.code() == hal::Errc::invalid_state);
  }
}
