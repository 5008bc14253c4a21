// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using conformance::device;
using conformance::error_of;
using conformance::Gate;
using conformance::outcome;

namespace {

bool work_can_fail() {
  if (conformance::can_fail()) return true;
  conformance::not_applicable("no work of it can be made to fail");
  return false;
}

/// A stream that has failed with `text` and is known to have.
hal::Stream failed_stream(const std::string& text) {
  const hal::Stream stream = device().create_stream();
  conformance::fail(stream, text);
  CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
  return stream;
}

void check_cause(const hal::Error& error, const hal::Stream& stream, const std::string& text) {
  CHECK(error.code() == hal::Errc::launch_failed);
  CHECK_THAT(error.message(), ContainsSubstring(text));
  REQUIRE(error.origin().has_value());
  CHECK(error.origin()->stream == stream.id());
  CHECK(error.origin()->device == stream.device().id());
  CHECK_THAT(error.origin()->operation, ContainsSubstring("failing"));
  CHECK_THAT(error.origin()->location, ContainsSubstring("support.cpp:"));
}

}  // namespace

TEST_CASE("every wait on a failed stream throws the first cause, again and again") {
  if (!work_can_fail()) return;
  const hal::Stream stream = failed_stream("first");
  conformance::fail(stream, "second");
  for (int round = 0; round < 3; ++round) {
    check_cause(error_of([&] { stream.synchronize(); }), stream, "first");
    check_cause(error_of([&] { stream.synchronize(1h); }), stream, "first");
    check_cause(error_of([&] { (void)stream.query(); }), stream, "first");
  }
}

TEST_CASE("an error of a failed stream names the call that found it") {
  if (!work_can_fail()) return;
  const hal::Stream stream = failed_stream("cause");
  const hal::Error synchronize = error_of([&] { stream.synchronize(); });
  CHECK_THAT(synchronize.operation(), ContainsSubstring("synchronize"));
  const hal::Error query = error_of([&] { (void)stream.query(); });
  CHECK_THAT(query.operation(), ContainsSubstring("query"));
  CHECK_THAT(query.what(), ContainsSubstring("cause"));
}

TEST_CASE("reading through a failed stream throws its cause") {
  if (!work_can_fail()) return;
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(10, stream);
  conformance::fail(stream, "unreadable");
  check_cause(error_of([&] { (void)stream.read(buffer); }), stream, "unreadable");
}

TEST_CASE("later work of a failed stream is dropped and enqueueing it does not throw") {
  if (!work_can_fail()) return;
  const hal::Stream stream = device().create_stream();
  std::vector<int> host(10, 1);
  const auto buffer = device().allocate<int>(10, stream);
  stream.fill(buffer, 2);
  conformance::fail(stream, "stop");
  stream.copy(host, buffer);
  stream.fill(buffer, 3);
  CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
  CHECK(outcome([&] { stream.copy(host, buffer); }) == "ok");
  CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
  CHECK(host == std::vector<int>(10, 1));

  stream.reset_error();
  CHECK(stream.read(buffer) == std::vector<int>(10, 2));
}

TEST_CASE("a stream is usable again once its failure is reset") {
  if (!work_can_fail()) return;
  const hal::Stream stream = failed_stream("once");
  for (int round = 0; round < 3; ++round) {
    stream.reset_error();
    CHECK(stream.query() == hal::StreamStatus::idle);
    stream.synchronize();
    const auto buffer = device().allocate<int>(10, stream);
    stream.fill(buffer, round);
    CHECK(stream.read(buffer) == std::vector<int>(10, round));
    conformance::fail(stream, "again");
    check_cause(error_of([&] { stream.synchronize(); }), stream, "again");
  }
}

TEST_CASE("resetting waits for what is enqueued, and on a sound stream does nothing else") {
  if (!work_can_fail()) return;
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(10, stream);
  stream.fill(buffer, 1);
  stream.reset_error();
  CHECK(stream.query() == hal::StreamStatus::idle);
  conformance::fail(stream, "not yet found");
  stream.reset_error();
  CHECK(stream.query() == hal::StreamStatus::idle);
  CHECK(stream.read(buffer) == std::vector<int>(10, 1));
}

TEST_CASE("other streams are not touched by a failure") {
  if (!work_can_fail()) return;
  const hal::Stream sound = device().create_stream();
  const auto buffer = device().allocate<int>(10, sound);
  sound.fill(buffer, 5);
  const hal::Stream failed = failed_stream("alone");
  CHECK(sound.read(buffer) == std::vector<int>(10, 5));
  CHECK(sound.query() == hal::StreamStatus::idle);
}

TEST_CASE("an event recorded after a failure carries its cause, one recorded before does not") {
  if (!work_can_fail()) return;
  const hal::Stream stream = device().create_stream();
  const hal::Event before = stream.record();
  conformance::fail(stream, "between");
  const hal::Event after = stream.record();
  check_cause(error_of([&] { after.synchronize(); }), stream, "between");
  check_cause(error_of([&] { after.synchronize(1h); }), stream, "between");
  check_cause(error_of([&] { (void)after.query(); }), stream, "between");
  CHECK(outcome([&] { before.synchronize(); }) == "ok");
  CHECK(before.query() == hal::EventStatus::complete);

  const hal::Event later = stream.record();
  check_cause(error_of([&] { later.synchronize(); }), stream, "between");
}

TEST_CASE("an event keeps the failure of its record when its stream is reset") {
  if (!work_can_fail()) return;
  const hal::Stream stream = device().create_stream();
  conformance::fail(stream, "recorded");
  const hal::Event event = stream.record();
  CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
  stream.reset_error();
  check_cause(error_of([&] { event.synchronize(); }), stream, "recorded");
  stream.record(event);
  CHECK(outcome([&] { event.synchronize(); }) == "ok");
  CHECK(event.query() == hal::EventStatus::complete);
}

TEST_CASE("a failure passes through a chain of streams to the last with the first cause") {
  if (!work_can_fail()) return;
  constexpr std::size_t links = 6;
  const hal::Stream source = device().create_stream();
  conformance::fail(source, "root cause");
  std::vector<hal::Stream> chain;
  std::vector<int> host(10, 1);
  hal::Event event = source.record();
  for (std::size_t link = 0; link < links; ++link) {
    chain.push_back(device().create_stream());
    chain.back().wait(event);
    const auto buffer = device().allocate<int>(10, chain.back());
    chain.back().fill(buffer, 2);
    chain.back().copy(host, buffer);
    event = chain.back().record();
  }
  check_cause(error_of([&] { event.synchronize(); }), source, "root cause");
  for (const hal::Stream& stream : chain) {
    check_cause(error_of([&] { stream.synchronize(); }), source, "root cause");
  }
  CHECK(host == std::vector<int>(10, 1));
}

TEST_CASE("a failure found after its waiters were enqueued reaches them all and hangs none") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream source = device().create_stream();
  std::vector<hal::Stream> waiters;
  {
    Gate gate(source);
    conformance::fail(source, "late");
    const hal::Event event = source.record();
    for (int index = 0; index < 10; ++index) {
      waiters.push_back(device().create_stream());
      waiters.back().wait(event);
      waiters.back().call([] {});
    }
  }
  for (const hal::Stream& stream : waiters) {
    check_cause(error_of([&] { stream.synchronize(); }), source, "late");
  }
}

TEST_CASE("a stream that waits for a stream already failed fails too") {
  if (!work_can_fail()) return;
  const hal::Stream source = device().create_stream();
  conformance::fail(source, "earlier");
  const hal::Event event = source.record();
  CHECK(outcome([&] { source.synchronize(); }) == "launch_failed");
  const hal::Stream waiter = device().create_stream();
  waiter.wait(event);
  check_cause(error_of([&] { waiter.synchronize(); }), source, "earlier");
  waiter.reset_error();
  CHECK(waiter.query() == hal::StreamStatus::idle);
}

TEST_CASE("of two failures that meet the waiting stream reports one and keeps it") {
  if (!work_can_fail()) return;
  const hal::Stream left = device().create_stream();
  const hal::Stream right = device().create_stream();
  const hal::Stream join = device().create_stream();
  conformance::fail(left, "left cause");
  conformance::fail(right, "right cause");
  join.wait(left.record());
  join.wait(right.record());
  check_cause(error_of([&] { join.synchronize(); }), left, "left cause");
  check_cause(error_of([&] { join.synchronize(); }), left, "left cause");
}

TEST_CASE("a wait for an event re-recorded after a failure is the wait for the new record") {
  if (!work_can_fail()) return;
  const hal::Stream failed = device().create_stream();
  const hal::Stream sound = device().create_stream();
  const hal::Stream waiter = device().create_stream();
  conformance::fail(failed, "old");
  const hal::Event event = failed.record();
  sound.record(event);
  waiter.wait(event);
  CHECK(outcome([&] { waiter.synchronize(); }) == "ok");
  CHECK(outcome([&] { event.synchronize(); }) == "ok");
}

TEST_CASE("what dropped work holds is destroyed") {
  if (!work_can_fail()) return;
  const hal::Stream stream = failed_stream("drop");
  auto held = std::make_shared<std::vector<int>>(10, 1);
  const std::weak_ptr<const void> watch = held;
  std::atomic<bool> ran{false};
  const auto buffer = device().allocate<int>(10, stream);
  stream.copy(buffer, *held, held);
  if (device().has(hal::Feature::host_function)) stream.call([held, &ran] { ran = true; });
  if (device().has(hal::Feature::host_code)) {
    stream.launch([held, &ran](std::size_t) { ran = true; }, hal::over(1));
  }
  held.reset();
  CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
  conformance::wait_until([&] { return watch.expired(); });
  CHECK(!ran);
}

TEST_CASE("a buffer used by work that failed or was dropped is given back") {
  if (!work_can_fail()) return;
  const std::int64_t live = device().allocator().statistics().live_blocks;
  {
    const hal::Stream stream = device().create_stream();
    const auto buffer = device().allocate<int>(1000, stream);
    conformance::fail(stream, "with a buffer");
    stream.fill(buffer, 1);
    CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
    const auto after = device().allocate<int>(1000, stream);
    CHECK(after.data() != nullptr);
  }
  CHECK(device().allocator().statistics().live_blocks == live);
}

TEST_CASE("synchronizing a device throws the failure of a stream of it") {
  if (!work_can_fail()) return;
  {
    const hal::Stream stream = device().create_stream();
    conformance::fail(stream, "of the device");
    const hal::Error error = error_of([&] { device().synchronize(); });
    CHECK(error.code() == hal::Errc::launch_failed);
    CHECK_THAT(error.message(), ContainsSubstring("of the device"));
    stream.reset_error();
  }
  CHECK(outcome([&] { device().synchronize(); }) == "ok");
}

TEST_CASE("threads that wait for a stream when it fails all get the cause") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  std::vector<std::string> outcomes(4);
  {
    std::vector<std::jthread> threads;
    Gate gate(stream);
    conformance::fail(stream, "for all");
    for (std::string& result : outcomes) {
      threads.emplace_back(
          [&result, &stream] { result = outcome([&] { stream.synchronize(1h); }); });
    }
    gate.open();
  }
  CHECK(outcomes == std::vector<std::string>(4, "launch_failed"));
}

TEST_CASE("a long text of an exception is cut, not lost") {
  if (!work_can_fail()) return;
  const hal::Stream stream = device().create_stream();
  conformance::fail(stream, "begin " + std::string(100000, 'x'));
  const hal::Error error = error_of([&] { stream.synchronize(); });
  CHECK_THAT(error.message(), ContainsSubstring("begin xxx"));
}

TEST_CASE("an exception without text fails the stream") {
  if (!work_can_fail()) return;
  const hal::Stream stream = device().create_stream();
  conformance::fail(stream, "");
  const hal::Error error = error_of([&] { stream.synchronize(); });
  CHECK(error.code() == hal::Errc::launch_failed);
  CHECK(!error.message().empty());
}
