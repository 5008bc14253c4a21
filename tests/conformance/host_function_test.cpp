// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using conformance::device;
using conformance::Gate;
using conformance::outcome;

namespace {

/// False, after checking that the device says so, where streams call no host functions.
bool calls_host_functions() {
  if (device().has(hal::Feature::host_function)) return true;
  const hal::Stream stream = device().create_stream();
  CHECK(outcome([&] { stream.call([] {}); }) == "unsupported");
  conformance::not_applicable("it calls no host functions; it says unsupported");
  return false;
}

/// Counts how often something that was handed over is destroyed, whatever moves happen between.
class DestructionCounter {
 public:
  explicit DestructionCounter(std::atomic<int>& count) : count_(&count) {}
  DestructionCounter(DestructionCounter&& other) noexcept
      : count_(std::exchange(other.count_, nullptr)) {}
  DestructionCounter& operator=(DestructionCounter&&) = delete;
  ~DestructionCounter() {
    if (count_ != nullptr) ++*count_;
  }

 private:
  std::atomic<int>* count_;
};

}  // namespace

TEST_CASE("host functions are called once each, in the order of their stream") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  std::vector<int> order;
  std::vector<int> expected;
  for (int index = 0; index < 10000; ++index) {
    stream.call([&order, index] { order.push_back(index); });
    expected.push_back(index);
  }
  stream.synchronize();
  CHECK(order == expected);
}

TEST_CASE("host functions see the copies before them and precede the ones after") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(1000, stream);
  std::vector<int> host(1000);
  for (int round = 1; round <= 100; ++round) {
    stream.fill(buffer, round);
    stream.copy(host, buffer);
    stream.call([&host] {
      for (int& value : host)
        value *= 2;
    });
    stream.copy(buffer, host);
  }
  CHECK(stream.read(buffer) == std::vector<int>(1000, 200));
}

TEST_CASE("a host function may enqueue on its own and on other streams") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  const hal::Stream other = device().create_stream();
  const auto buffer = device().allocate<int>(100, other);
  std::string result;
  std::atomic<bool> second_ran{false};
  stream.call([&, stream, other] {
    result = outcome([&] {
      other.fill(buffer, 6);
      stream.call([&second_ran] { second_ran = true; });
    });
  });
  stream.synchronize();
  stream.synchronize();
  CHECK(result == "ok");
  CHECK(second_ran);
  CHECK(other.read(buffer) == std::vector<int>(100, 6));
}

TEST_CASE("a host function may allocate, make streams and events, query, read and wait elsewhere") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  std::string result;
  std::vector<int> read;
  hal::StreamStatus own = hal::StreamStatus::idle;
  stream.call([&, stream] {
    result = outcome([&] {
      own = stream.query();
      const hal::Stream inner = device().create_stream();
      const auto buffer = device().allocate<int>(100, inner);
      inner.fill(buffer, 7);
      const hal::Event event = inner.record();
      event.synchronize();
      inner.synchronize();
      read = inner.read(buffer);
    });
  });
  stream.synchronize();
  CHECK(result == "ok");
  CHECK(read == std::vector<int>(100, 7));
  if (conformance::can_hold_up()) CHECK(own == hal::StreamStatus::busy);
}

TEST_CASE("a host function that waits for its own stream gets invalid_state") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(4, stream);
  std::vector<std::string> results;
  stream.call([&, stream] {
    results.push_back(outcome([&] { stream.synchronize(); }));
    results.push_back(outcome([&] { stream.synchronize(std::chrono::seconds(1)); }));
    results.push_back(outcome([&] { (void)stream.read(buffer); }));
    results.push_back(outcome([&] { stream.reset_error(); }));
  });
  stream.synchronize();
  CHECK(results == std::vector<std::string>(4, "invalid_state"));
}

TEST_CASE("a host function may own what only moves, and is destroyed exactly once") {
  if (!calls_host_functions()) return;
  std::atomic<int> destroyed{0};
  std::atomic<int> sum{0};
  {
    const hal::Stream stream = device().create_stream();
    for (int index = 0; index < 100; ++index) {
      stream.call([&sum, counter = DestructionCounter(destroyed),
                   value = std::make_unique<int>(2)] { sum += *value; });
    }
    stream.synchronize();
  }
  CHECK(sum == 200);
  conformance::wait_until([&] { return destroyed >= 100; });
  CHECK(destroyed == 100);
}

TEST_CASE("host functions of any size are called with what they hold") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  const std::vector<unsigned char> noise = conformance::noise(20000, 1);
  std::array<unsigned char, 20000> large{};
  std::copy(noise.begin(), noise.end(), large.begin());
  std::atomic<int> right{0};
  for (int round = 0; round < 50; ++round) {
    stream.call([&right, &noise, large] {
      if (std::equal(large.begin(), large.end(), noise.begin())) ++right;
    });
    stream.call([&right] { ++right; });
  }
  stream.synchronize();
  CHECK(right == 100);
}

TEST_CASE("what a host function throws becomes the stream's failure with its text and origin") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  const auto line = std::to_string(__LINE__ + 1);
  stream.call([] { throw std::runtime_error("the tape is full"); }, "write tape");
  const hal::Error error = conformance::error_of([&] { stream.synchronize(); });
  CHECK(error.code() == hal::Errc::launch_failed);
  CHECK(error.device() == device().id());
  CHECK_THAT(error.message(), ContainsSubstring("the tape is full"));
  REQUIRE(error.origin().has_value());
  CHECK_THAT(error.origin()->operation, ContainsSubstring("write tape"));
  CHECK_THAT(error.origin()->location, ContainsSubstring("host_function_test.cpp:" + line));
  CHECK(error.origin()->device == device().id());
  CHECK(error.origin()->stream == stream.id());
  CHECK(error.origin()->sequence == 1);
}

TEST_CASE("a host function that throws something that is no exception fails its stream") {
  if (!calls_host_functions()) return;
  const hal::Stream stream = device().create_stream();
  stream.call([] { throw "text"; });
  CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
}

TEST_CASE("host functions of many streams may wait for each other's events") {
  if (!calls_host_functions()) return;
  const hal::Stream producer = device().create_stream();
  const hal::Stream consumer = device().create_stream();
  int value = 0;
  std::vector<int> seen;
  const hal::Event produced = device().create_event();
  const hal::Event consumed = device().create_event();
  for (int round = 0; round < 500; ++round) {
    producer.wait(consumed);
    producer.call([&value, round] { value = round; });
    producer.record(produced);
    consumer.wait(produced);
    consumer.call([&value, &seen] { seen.push_back(value); });
    consumer.record(consumed);
  }
  consumer.synchronize();
  REQUIRE(seen.size() == 500);
  for (int round = 0; round < 500; ++round)
    REQUIRE(seen[static_cast<std::size_t>(round)] == round);
}

TEST_CASE("work that is queued behind a host function waits for it") {
  if (!calls_host_functions()) return;
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  std::atomic<bool> ran{false};
  Gate gate(stream);
  stream.call([&ran] { ran = true; });
  gate.wait_until_reached();
  CHECK(!ran);
  CHECK(outcome([&] { stream.synchronize(std::chrono::milliseconds(1)); }) == "timeout");
  CHECK(!ran);
  gate.open();
  stream.synchronize();
  CHECK(ran);
}
