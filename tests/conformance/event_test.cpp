// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using conformance::device;
using conformance::Gate;
using conformance::outcome;
using conformance::upload;

namespace {

hal::EventOptions without_timing() {
  hal::EventOptions options;
  options.timing = false;
  return options;
}

}  // namespace

TEST_CASE("an event never recorded says so and nobody waits for it") {
  const hal::Event event = device().create_event();
  const hal::Stream stream = device().create_stream();
  CHECK(event.query() == hal::EventStatus::not_recorded);
  event.synchronize();
  event.synchronize(0ns);
  stream.wait(event);
  stream.synchronize();
  CHECK(event.query() == hal::EventStatus::not_recorded);
  CHECK(event.device() == device());
}

TEST_CASE("an event that names none throws invalid_state, whatever is asked of it") {
  const hal::Event none;
  const hal::Stream stream = device().create_stream();
  const hal::Event event = stream.record();
  stream.synchronize();
  CHECK(!none);
  CHECK(outcome([&] { (void)none.device(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.id(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.query(); }) == "invalid_state");
  CHECK(outcome([&] { none.synchronize(); }) == "invalid_state");
  CHECK(outcome([&] { none.synchronize(1s); }) == "invalid_state");
  CHECK(outcome([&] { stream.record(none); }) == "invalid_state");
  CHECK(outcome([&] { stream.wait(none); }) == "invalid_state");
  CHECK(outcome([&] { (void)hal::elapsed_ms(none, event); }) == "invalid_state");
  CHECK(outcome([&] { (void)hal::elapsed_ms(event, none); }) == "invalid_state");
}

TEST_CASE("a recorded event is complete once its stream has come past it") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(1000, stream);
  stream.fill(buffer, 1);
  const hal::Event event = stream.record();
  event.synchronize();
  CHECK(event.query() == hal::EventStatus::complete);
  event.synchronize(0ns);
  const hal::Event copy = event;
  CHECK(copy == event);
  CHECK(copy.id() == event.id());
}

TEST_CASE("an event is pending while the work before it is held up") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  Gate gate(stream);
  const hal::Event event = stream.record();
  CHECK(event.query() == hal::EventStatus::pending);
  const hal::Error error = conformance::error_of([&] { event.synchronize(1ms); });
  CHECK(error.code() == hal::Errc::timeout);
  CHECK(outcome([&] { event.synchronize(0ns); }) == "timeout");
  gate.open();
  event.synchronize(1h);
  CHECK(event.query() == hal::EventStatus::complete);
}

TEST_CASE("an event does not wait for work enqueued after it") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  const hal::Event event = stream.record();
  Gate gate(stream);
  event.synchronize();
  CHECK(event.query() == hal::EventStatus::complete);
  CHECK(stream.query() == hal::StreamStatus::busy);
}

TEST_CASE("recording again moves an event") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream first = device().create_stream();
  const hal::Stream second = device().create_stream();
  const hal::Event event = first.record();
  event.synchronize();
  Gate gate(second);
  second.record(event);
  CHECK(event.query() == hal::EventStatus::pending);
  gate.open();
  event.synchronize();
  CHECK(event.query() == hal::EventStatus::complete);
}

TEST_CASE("a wait keeps the point of an event that it was enqueued for") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream source = device().create_stream();
  const hal::Stream waiter = device().create_stream();
  const hal::Stream elsewhere = device().create_stream();
  const hal::Event event = device().create_event();
  source.record(event);
  waiter.wait(event);
  source.synchronize();
  Gate gate(elsewhere);
  elsewhere.record(event);
  waiter.synchronize();
  CHECK(event.query() == hal::EventStatus::pending);

  waiter.wait(event);
  CHECK(outcome([&] { waiter.synchronize(1ms); }) == "timeout");
  gate.open();
  waiter.synchronize();
}

TEST_CASE("recording a new event gives one of the stream's device, recorded") {
  const hal::Stream stream = device().create_stream();
  const hal::Event event = stream.record();
  CHECK(event.device() == device());
  CHECK(event.query() != hal::EventStatus::not_recorded);
  stream.synchronize();
  CHECK(event.query() == hal::EventStatus::complete);
}

TEST_CASE("elapsed time follows the order of the records") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(1 << 18, stream);
  const hal::Event begin = stream.record();
  for (int round = 0; round < 10; ++round)
    stream.fill(buffer, round);
  const hal::Event end = stream.record();
  stream.synchronize();
  if (!device().has(hal::Feature::timing)) {
    CHECK(outcome([&] { (void)hal::elapsed_ms(begin, end); }) == "unsupported");
    return conformance::not_applicable("its events carry no time; it says unsupported");
  }
  CHECK(hal::elapsed_ms(begin, end) > 0.0);
  CHECK(hal::elapsed_ms(end, begin) < 0.0);
  CHECK(hal::elapsed_ms(begin, begin) == 0.0);
  CHECK(std::abs(hal::elapsed_ms(begin, end) + hal::elapsed_ms(end, begin)) < 1e-6);
}

TEST_CASE("elapsed time of events without it is an error that says which") {
  if (!device().has(hal::Feature::timing)) return conformance::not_applicable("no event has time");
  const hal::Stream stream = device().create_stream();
  const hal::Event begin = stream.record();
  const hal::Event untimed = device().create_event(without_timing());
  stream.record(untimed);
  stream.synchronize();
  CHECK(untimed.query() == hal::EventStatus::complete);
  CHECK(outcome([&] { (void)hal::elapsed_ms(begin, untimed); }) == "invalid_argument");
  CHECK(outcome([&] { (void)hal::elapsed_ms(untimed, begin); }) == "invalid_argument");
  const hal::Event never = device().create_event();
  CHECK(outcome([&] { (void)hal::elapsed_ms(begin, never); }) == "invalid_state");
  CHECK(outcome([&] { (void)hal::elapsed_ms(never, begin); }) == "invalid_state");
}

TEST_CASE("elapsed time to an event that is not complete is an invalid state") {
  if (!device().has(hal::Feature::timing)) return conformance::not_applicable("no event has time");
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  const hal::Event begin = stream.record();
  begin.synchronize();
  Gate gate(stream);
  const hal::Event end = stream.record();
  CHECK(outcome([&] { (void)hal::elapsed_ms(begin, end); }) == "invalid_state");
  gate.open();
  stream.synchronize();
  CHECK(hal::elapsed_ms(begin, end) > 0.0);
}

TEST_CASE("a wait for an event already complete costs nothing and orders memory") {
  const hal::Stream first = device().create_stream();
  const hal::Stream second = device().create_stream();
  const auto buffer = upload(first, std::vector<int>(1000, 4));
  const hal::Event event = first.record();
  first.synchronize();
  second.wait(event);
  CHECK(second.read(buffer) == std::vector<int>(1000, 4));
}

TEST_CASE("a stream may wait for its own event") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(10, stream);
  stream.fill(buffer, 1);
  stream.wait(stream.record());
  stream.fill(buffer, 2);
  CHECK(stream.read(buffer) == std::vector<int>(10, 2));
}

TEST_CASE("a diamond of streams joins what its sides made") {
  const hal::Stream top = device().create_stream();
  const hal::Stream left = device().create_stream();
  const hal::Stream right = device().create_stream();
  const hal::Stream bottom = device().create_stream();
  const auto source = device().allocate<int>(1000, top);
  const auto joined = device().allocate<int>(2000, top);
  const hal::Event ready = top.record();
  const hal::Event left_done = device().create_event();
  const hal::Event right_done = device().create_event();
  const hal::Event joined_read = device().create_event();
  for (int round = 0; round < 300; ++round) {
    top.wait(joined_read);
    top.fill(source, round);
    top.record(ready);
    left.wait(ready);
    left.copy(joined.view(0, 1000), source.view());
    left.record(left_done);
    right.wait(ready);
    right.copy(joined.view(1000, 1000), source.view());
    right.record(right_done);
    bottom.wait(left_done);
    bottom.wait(right_done);
    REQUIRE(bottom.read(joined) == std::vector<int>(2000, round));
    bottom.record(joined_read);
  }
}

TEST_CASE("a chain over many streams runs link by link") {
  if (!device().has(hal::Feature::host_function)) {
    return conformance::not_applicable("it calls no host functions");
  }
  constexpr std::size_t links = 64;
  std::vector<hal::Stream> streams;
  for (std::size_t link = 0; link < links; ++link)
    streams.push_back(device().create_stream());
  std::vector<std::size_t> order;
  hal::Event last;
  for (std::size_t round = 0; round < 20; ++round) {
    for (std::size_t link = 0; link < links; ++link) {
      if (last) streams[link].wait(last);
      streams[link].call([&order, link] { order.push_back(link); });
      last = streams[link].record();
    }
  }
  last.synchronize();
  REQUIRE(order.size() == links * 20);
  for (std::size_t index = 0; index < order.size(); ++index) {
    REQUIRE(order[index] == index % links);
  }
}

TEST_CASE("two streams hand over to each other back and forth") {
  const hal::Stream a = device().create_stream();
  const hal::Stream b = device().create_stream();
  const auto x = upload(a, std::vector<int>(64, 0));
  const auto y = device().allocate<int>(64, a);
  const hal::Event a_done = device().create_event();
  const hal::Event b_done = device().create_event();
  for (int round = 0; round < 2000; ++round) {
    a.wait(b_done);
    a.fill(x, round);
    a.record(a_done);
    b.wait(a_done);
    b.copy(y, x);
    b.record(b_done);
  }
  CHECK(b.read(y) == std::vector<int>(64, 1999));
  a.synchronize();
}

TEST_CASE("one event releases many streams") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream source = device().create_stream();
  const auto buffer = upload(source, std::vector<int>(100, 0));
  source.synchronize();
  Gate gate(source);
  source.fill(buffer, 9);
  const hal::Event event = source.record();
  std::vector<hal::Stream> streams;
  std::vector<std::vector<int>> out(50, std::vector<int>(100));
  for (auto& values : out) {
    streams.push_back(device().create_stream());
    streams.back().wait(event);
    streams.back().copy(values, buffer);
  }
  gate.open();
  for (const hal::Stream& stream : streams)
    stream.synchronize();
  for (const auto& values : out)
    REQUIRE(values == std::vector<int>(100, 9));
}
