// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using conformance::device;
using conformance::Gate;

namespace {

/// Handles to one of everything, with work in flight between them.
struct Everything {
  hal::Device device;
  hal::Stream first;
  hal::Stream second;
  hal::Event event;
  hal::TypedBuffer<int> buffer;

  /// Lets go of the handle with this number.
  void drop(std::size_t number) {
    const std::array<std::function<void()>, 5> drops{
        [this] { device = {}; }, [this] { first = {}; }, [this] { second = {}; },
        [this] { event = {}; }, [this] { buffer = {}; }};
    drops[number]();
  }
};

Everything make_everything() {
  Everything all;
  all.device = device();
  all.first = all.device.create_stream();
  all.second = all.device.create_stream();
  all.event = all.device.create_event();
  all.buffer = all.device.allocate<int>(1000, all.first);
  return all;
}

/// The first stream writes the buffer, the second waits for that and copies it out.
void enqueue_work(const Everything& all, const std::shared_ptr<std::vector<int>>& out, int value) {
  all.first.fill(all.buffer, value);
  all.first.record(all.event);
  all.second.wait(all.event);
  all.second.copy(*out, all.buffer, out);
}

/// Calls `check(order)` for every order in which five handles can be let go.
template <typename F>
void for_every_order(F&& check) {
  std::array<std::size_t, 5> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    CAPTURE(order);
    check(order);
  } while (std::ranges::next_permutation(order).found);
}

}  // namespace

TEST_CASE("handles let go in every order with work in flight harm none of it") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  int value = 0;
  for_every_order([&](const std::array<std::size_t, 5>& order) {
    ++value;
    auto out = std::make_shared<std::vector<int>>(1000);
    std::promise<void> done;
    std::future<void> finished = done.get_future();
    {
      Everything all = make_everything();
      Gate gate(all.first);
      enqueue_work(all, out, value);
      all.second.call([done = std::move(done)]() mutable { done.set_value(); });
      for (const std::size_t number : order)
        all.drop(number);
      gate.open();
    }
    finished.wait();
    REQUIRE(*out == std::vector<int>(1000, value));
  });
}

TEST_CASE("handles let go in every order without waiting harm no later work") {
  int value = 0;
  for_every_order([&](const std::array<std::size_t, 5>& order) {
    ++value;
    auto out = std::make_shared<std::vector<int>>(1000);
    const hal::Stream last = device().create_stream();
    {
      Everything all = make_everything();
      enqueue_work(all, out, value);
      last.wait(all.second.record());
      for (const std::size_t number : order)
        all.drop(number);
    }
    last.synchronize();
    REQUIRE(*out == std::vector<int>(1000, value));
  });
}

TEST_CASE("handles let go in every order after a failure harm nobody") {
  if (!conformance::can_fail()) return conformance::not_applicable("no work can be made to fail");
  for_every_order([&](const std::array<std::size_t, 5>& order) {
    auto out = std::make_shared<std::vector<int>>(1000, -1);
    const hal::Stream last = device().create_stream();
    {
      Everything all = make_everything();
      conformance::fail(all.first, "dropped");
      enqueue_work(all, out, 1);
      last.wait(all.second.record());
      for (const std::size_t number : order)
        all.drop(number);
    }
    REQUIRE(conformance::outcome([&] { last.synchronize(); }) == "launch_failed");
    REQUIRE(*out == std::vector<int>(1000, -1));
  });
}

TEST_CASE("a stream whose last handle is gone still runs what is enqueued") {
  if (!device().has(hal::Feature::host_function)) {
    return conformance::not_applicable("it calls no host functions");
  }
  std::promise<void> done;
  std::atomic<int> count{0};
  {
    const hal::Stream stream = device().create_stream();
    for (int index = 0; index < 1000; ++index)
      stream.call([&count] { ++count; });
    stream.call([&done] { done.set_value(); });
  }
  done.get_future().wait();
  CHECK(count == 1000);
}

TEST_CASE("waiting for a device waits for the work of streams whose last handle is gone") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream opener = device().create_stream();
  std::atomic<bool> done{false};
  Gate gate(opener);
  {
    const hal::Stream dropped = device().create_stream();
    dropped.wait(opener.record());
    dropped.call([&done] {
      // Long enough that a wait which does not look for this stream is over before.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
  }
  gate.open();
  device().synchronize();
  CHECK(done);
}

TEST_CASE("a failure on a stream whose last handle is gone is nobody's any more") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream opener = device().create_stream();
  Gate gate(opener);
  {
    const hal::Stream dropped = device().create_stream();
    dropped.wait(opener.record());
    dropped.call([] { throw std::runtime_error("nobody waits"); });
  }
  gate.open();
  CHECK(conformance::outcome([] { device().synchronize(); }) == "ok");
}

TEST_CASE("an event outlives its stream and a wait outlives its event") {
  hal::Event event;
  {
    const hal::Stream stream = device().create_stream();
    const auto buffer = device().allocate<int>(1000, stream);
    stream.fill(buffer, 1);
    event = stream.record();
  }
  event.synchronize();
  CHECK(event.query() == hal::EventStatus::complete);

  if (!conformance::can_hold_up()) return;
  const hal::Stream source = device().create_stream();
  const hal::Stream waiter = device().create_stream();
  Gate gate(source);
  {
    const hal::Event short_lived = source.record();
    waiter.wait(short_lived);
  }
  CHECK(waiter.query() == hal::StreamStatus::busy);
  gate.open();
  waiter.synchronize();
}

TEST_CASE("what was made on a device keeps it alive") {
  std::optional<hal::Device> other(hal::device(device().id()));
  const hal::Stream stream = other->create_stream();
  const auto buffer = other->allocate<int>(10, stream);
  const hal::Event event = other->create_event();
  other.reset();
  stream.fill(buffer, 2);
  stream.record(event);
  CHECK(stream.read(buffer) == std::vector<int>(10, 2));
  CHECK(stream.device() == device());
  CHECK(event.device() == device());
  CHECK(buffer.device() == device());
}

TEST_CASE("a host function may hold the last handle of its own stream, buffer and event") {
  if (!device().has(hal::Feature::host_function)) {
    return conformance::not_applicable("it calls no host functions");
  }
  for (int round = 0; round < 100; ++round) {
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> finished = done->get_future();
    {
      hal::Stream stream = device().create_stream();
      hal::TypedBuffer<int> buffer = device().allocate<int>(100, stream);
      hal::Event event = stream.record();
      const hal::Stream enqueue = stream;
      enqueue.call([stream = std::move(stream), buffer = std::move(buffer),
                    event = std::move(event), done] { done->set_value(); });
    }
    done.reset();
    finished.wait();
  }
  device().synchronize();
}
