// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using conformance::device;
using conformance::Gate;
using conformance::outcome;

TEST_CASE("ids of streams and events never repeat") {
  std::set<std::uint64_t> streams;
  std::set<std::uint64_t> events;
  for (int round = 0; round < 200; ++round) {
    streams.insert(device().create_stream().id());
    events.insert(device().create_event().id());
  }
  CHECK(streams.size() == 200);
  CHECK(events.size() == 200);
  CHECK(!streams.contains(0));
}

TEST_CASE("a stream knows its device and priority, and copies of it are the same stream") {
  hal::StreamOptions options;
  options.priority = -1;
  const hal::Stream stream = device().create_stream(options);
  const hal::Stream copy = stream;
  CHECK(stream.device() == device());
  CHECK(copy == stream);
  CHECK(copy.id() == stream.id());
  CHECK(!(device().create_stream() == stream));
  CHECK(device().create_stream().priority() == 0);
  if (device().has(hal::Feature::priorities)) CHECK(stream.priority() == -1);
}

TEST_CASE("streams of every priority work") {
  for (const int priority : {-1000, -1, 0, 1, 1000}) {
    CAPTURE(priority);
    hal::StreamOptions options;
    options.priority = priority;
    const hal::Stream stream = device().create_stream(options);
    const auto buffer = device().allocate<int>(100, stream);
    stream.fill(buffer, priority);
    CHECK(stream.read(buffer) == std::vector<int>(100, priority));
  }
}

TEST_CASE("a stream that names none throws invalid_state, whatever is asked of it") {
  const hal::Stream none;
  const hal::Event event = device().create_event();
  std::vector<int> host(4);
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(4, stream);
  CHECK(!none);
  CHECK(outcome([&] { (void)none.device(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.id(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.priority(); }) == "invalid_state");
  CHECK(outcome([&] { none.copy(buffer, host); }) == "invalid_state");
  CHECK(outcome([&] { none.copy_box(buffer, {}, host, {}, {4, 1, 1}); }) == "invalid_state");
  CHECK(outcome([&] { none.fill(buffer, 1); }) == "invalid_state");
  CHECK(outcome([&] { none.fill_box(buffer, {}, {4, 1, 1}, 1); }) == "invalid_state");
  CHECK(outcome([&] { none.launch([](std::size_t) {}, hal::over(1)); }) == "invalid_state");
  CHECK(outcome([&] { none.launch([](hal::Block) {}, hal::blocks({}, {})); }) == "invalid_state");
  CHECK(outcome([&] { none.call([] {}); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.record(); }) == "invalid_state");
  CHECK(outcome([&] { none.record(event); }) == "invalid_state");
  CHECK(outcome([&] { none.wait(event); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.query(); }) == "invalid_state");
  CHECK(outcome([&] { none.synchronize(); }) == "invalid_state");
  CHECK(outcome([&] { none.synchronize(1s); }) == "invalid_state");
  CHECK(outcome([&] { none.reset_error(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.read(buffer); }) == "invalid_state");
  CHECK(outcome([&] { (void)device().allocate<int>(4, none); }) == "invalid_state");
}

TEST_CASE("a device that names none throws invalid_state") {
  const hal::Device none;
  const hal::Stream stream = device().create_stream();
  CHECK(!none);
  CHECK(outcome([&] { (void)none.id(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.backend(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.index(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.properties(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.has(hal::Feature::timing); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.memory_info(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.create_stream(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.create_event(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.allocate<int>(1, stream); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.allocate<int>(1, hal::MemoryKind::device); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.allocator(); }) == "invalid_state");
  CHECK(outcome([&] { none.synchronize(); }) == "invalid_state");
  CHECK(outcome([&] { (void)none.can_access(device()); }) == "invalid_state");
  CHECK(outcome([&] { none.enable_peer_access(device()); }) == "invalid_state");
}

TEST_CASE("devices are found by their id and one that is not there is named with those that are") {
  CHECK(hal::device(device().id()) == device());
  CHECK(hal::device(device().backend()).backend() == device().backend());
  for (const std::string id : {"nonesuch:0", "nonesuch", "host:999"}) {
    CAPTURE(id);
    const hal::Error error = conformance::error_of([&] { (void)hal::device(id); });
    CHECK(error.code() == hal::Errc::not_found);
    CHECK_THAT(error.message(), Catch::Matchers::ContainsSubstring("host:0"));
  }
  for (const std::string id : {"", ":", "host:", "host:-1", "host:0x", "host: 0", ":0"}) {
    CAPTURE(id);
    CHECK(outcome([&] { (void)hal::device(id); }) == "invalid_argument");
  }
}

TEST_CASE("work of one stream runs in the order it was enqueued") {
  const hal::Stream stream = device().create_stream();
  const auto a = device().allocate<int>(1000, stream);
  const auto b = device().allocate<int>(1000, stream);
  for (int round = 0; round < 200; ++round) {
    stream.fill(a, round);
    stream.copy(b, a);
    stream.fill(a, -1);
  }
  CHECK(stream.read(b) == std::vector<int>(1000, 199));
  CHECK(stream.read(a) == std::vector<int>(1000, -1));
}

TEST_CASE("an idle stream is idle and may be waited for") {
  const hal::Stream stream = device().create_stream();
  CHECK(stream.query() == hal::StreamStatus::idle);
  stream.synchronize();
  stream.synchronize(0ns);
  stream.synchronize(1h);
  device().synchronize();
  CHECK(stream.query() == hal::StreamStatus::idle);
}

TEST_CASE("a stream with work is busy until the work is done") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  Gate gate(stream);
  CHECK(stream.query() == hal::StreamStatus::busy);
  gate.wait_until_reached();
  CHECK(stream.query() == hal::StreamStatus::busy);
  gate.open();
  stream.synchronize();
  CHECK(stream.query() == hal::StreamStatus::idle);
}

TEST_CASE("waiting with a limit throws timeout while the work is held up and works after") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(100, stream);
  Gate gate(stream);
  stream.fill(buffer, 3);
  const hal::Error error = conformance::error_of([&] { stream.synchronize(1ms); });
  CHECK(error.code() == hal::Errc::timeout);
  CHECK(error.device() == device().id());
  CHECK(outcome([&] { stream.synchronize(0ns); }) == "timeout");
  CHECK(outcome([&] { stream.synchronize(-1ns); }) == "timeout");
  CHECK(outcome([&] { stream.synchronize(-1h); }) == "timeout");
  gate.open();
  CHECK(outcome([&] { stream.synchronize(std::chrono::nanoseconds::max()); }) == "ok");
  CHECK(stream.read(buffer) == std::vector<int>(100, 3));
}

TEST_CASE("one stream held up does not hold up another") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream held = device().create_stream();
  const hal::Stream free = device().create_stream();
  Gate gate(held);
  gate.wait_until_reached();
  const auto buffer = device().allocate<int>(1000, free);
  free.fill(buffer, 8);
  CHECK(free.read(buffer) == std::vector<int>(1000, 8));
  CHECK(held.query() == hal::StreamStatus::busy);
}

TEST_CASE("synchronizing a device waits for all of its streams") {
  if (!device().has(hal::Feature::host_function)) {
    return conformance::not_applicable("it calls no host functions");
  }
  std::array<hal::Stream, 5> streams;
  std::array<int, 5> counts{};
  for (std::size_t index = 0; index < streams.size(); ++index) {
    streams[index] = device().create_stream();
    for (int round = 0; round < 100; ++round) {
      streams[index].call([&count = counts[index]] { ++count; });
    }
  }
  device().synchronize();
  CHECK(counts == std::array<int, 5>{100, 100, 100, 100, 100});
  for (const hal::Stream& stream : streams)
    CHECK(stream.query() == hal::StreamStatus::idle);
}

TEST_CASE("threads that enqueue on one stream each keep their own order") {
  if (!device().has(hal::Feature::host_function)) {
    return conformance::not_applicable("it calls no host functions");
  }
  constexpr std::size_t thread_count = 4;
  constexpr int rounds = 2000;
  const hal::Stream stream = device().create_stream();
  std::array<int, thread_count> next{};
  int wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < thread_count; ++thread) {
      threads.emplace_back([&, thread] {
        for (int round = 0; round < rounds; ++round) {
          stream.call([&next, &wrong, thread, round] {
            if (next[thread]++ != round) ++wrong;
          });
        }
      });
    }
  }
  stream.synchronize();
  CHECK(next == std::array<int, thread_count>{rounds, rounds, rounds, rounds});
  CHECK(wrong == 0);
}

TEST_CASE("threads may wait for a stream while others enqueue on it") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(64, stream);
  std::vector<std::string> outcomes(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < outcomes.size(); ++thread) {
      threads.emplace_back([&, thread] {
        outcomes[thread] = outcome([&] {
          for (int round = 0; round < 500; ++round) {
            stream.fill(buffer, round);
            if (round % 3 == 0) stream.synchronize();
            if (round % 7 == 0) (void)stream.query();
          }
        });
      });
    }
  }
  stream.synchronize();
  CHECK(outcomes == std::vector<std::string>(4, "ok"));
}

TEST_CASE("many streams come, work and go") {
  std::vector<int> out(2000);
  const hal::Stream last = device().create_stream();
  for (int& value : out) {
    const hal::Stream stream = device().create_stream();
    const auto buffer = device().allocate<int>(1, stream);
    stream.fill(buffer, 5);
    stream.copy(std::span(&value, 1), buffer);
    last.wait(stream.record());
  }
  last.synchronize();
  CHECK(out == std::vector<int>(2000, 5));
}
