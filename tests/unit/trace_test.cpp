// SPDX-License-Identifier: Apache-2.0
#include "spi/trace.hpp"
#include "support/catch.hpp"

#include <hal/error.hpp>
#include <hal/log.hpp>
#include <hal/trace.hpp>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using hal::spi::emit;
using hal::trace::Kind;
using hal::trace::Span;
using hal::trace::subscribe;
using hal::trace::Subscription;

Span span_of(std::uint64_t sequence) {
  Span span;
  span.device = "host:0";
  span.stream = 1;
  span.sequence = sequence;
  span.begin_ns = 1000;
  span.end_ns = 2000;
  return span;
}

}  // namespace

TEST_CASE("a subscriber gets each span until its subscription ends") {
  std::vector<std::uint64_t> got;
  {
    const Subscription subscription =
        subscribe([&](const Span& span) { got.push_back(span.sequence); });
    emit(span_of(1));
    emit(span_of(2));
  }
  emit(span_of(3));
  CHECK(got == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("tracing is on while anybody subscribes") {
  CHECK_FALSE(hal::spi::tracing());
  {
    const Subscription first = subscribe([](const Span&) {});
    Subscription second = subscribe([](const Span&) {});
    CHECK(hal::spi::tracing());
    second = {};
    CHECK(hal::spi::tracing());
  }
  CHECK_FALSE(hal::spi::tracing());
}

TEST_CASE("every subscriber gets every span") {
  int first = 0;
  int second = 0;
  const Subscription a = subscribe([&](const Span&) { ++first; });
  {
    const Subscription b = subscribe([&](const Span&) { ++second; });
    emit(span_of(1));
  }
  emit(span_of(2));
  CHECK(first == 2);
  CHECK(second == 1);
}

TEST_CASE("a subscription moves") {
  int count = 0;
  Subscription outer;
  {
    Subscription inner = subscribe([&](const Span&) { ++count; });
    outer = std::move(inner);
  }
  emit(span_of(1));
  const Subscription moved(std::move(outer));
  emit(span_of(2));
  CHECK(count == 2);
  int replaced = 0;
  Subscription other = subscribe([&](const Span&) { ++replaced; });
  other = subscribe([](const Span&) {});
  emit(span_of(3));
  CHECK(replaced == 0);
}

TEST_CASE("an empty callback is refused") {
  CHECK_THROWS_AS(subscribe({}), hal::Error);
  CHECK_FALSE(hal::spi::tracing());
}

TEST_CASE("callbacks run on several threads at once") {
  std::barrier both_inside(2);
  const Subscription subscription =
      subscribe([&](const Span&) { both_inside.arrive_and_wait(); });  // hangs when serialised
  std::thread other([] { emit(span_of(1)); });
  emit(span_of(2));
  other.join();
  SUCCEED();
}

TEST_CASE("ending a subscription waits for its callback on another thread") {
  std::atomic<bool> entered{false};
  std::atomic<bool> may_leave{false};
  std::atomic<bool> left{false};
  std::optional<Subscription> subscription = subscribe([&](const Span&) {
    entered = true;
    entered.notify_all();
    may_leave.wait(false);
    left = true;
  });
  std::thread emitter([] { emit(span_of(1)); });
  entered.wait(false);
  std::atomic<bool> ended{false};
  bool left_before_end = false;
  std::thread ender([&] {
    subscription.reset();
    ended = true;
    left_before_end = left;
  });
  // The subscription is off at once, though its end still waits.
  while (hal::spi::tracing())
    std::this_thread::yield();
  CHECK_FALSE(ended);
  may_leave = true;
  may_leave.notify_all();
  ender.join();
  emitter.join();
  CHECK(left_before_end);
}

TEST_CASE("what a callback captured is gone when its subscription is") {
  const auto captured = std::make_shared<int>(0);
  {
    const Subscription subscription = subscribe([captured](const Span&) {});
    CHECK(captured.use_count() == 2);
  }
  CHECK(captured.use_count() == 1);
}

TEST_CASE("a callback may end its own subscription") {
  int count = 0;
  std::optional<Subscription> subscription;
  subscription = subscribe([&, held = std::string("still here")](const Span&) {
    subscription.reset();
    if (held == "still here") ++count;
  });
  emit(span_of(1));
  emit(span_of(2));
  CHECK(count == 1);
  CHECK_FALSE(hal::spi::tracing());
}

TEST_CASE("a callback may subscribe and end another subscription") {
  int late = 0;
  int early = 0;
  std::optional<Subscription> second;
  std::optional<Subscription> third = subscribe([&](const Span&) { ++early; });
  const Subscription first = subscribe([&](const Span&) {
    third.reset();
    if (!second) second = subscribe([&](const Span&) { ++late; });
  });
  emit(span_of(1));
  CHECK(late == 0);  // it gets what ends after it subscribed
  emit(span_of(2));
  CHECK(late == 1);
  CHECK(early == 1);
}

TEST_CASE("a callback is not called for spans that end inside it") {
  int outer = 0;
  int other = 0;
  const Subscription a = subscribe([&](const Span&) {
    ++outer;
    if (outer < 10) emit(span_of(2));
  });
  const Subscription b = subscribe([&](const Span&) { ++other; });
  emit(span_of(1));
  CHECK(outer == 1);
  CHECK(other == 2);
}

TEST_CASE("a callback that throws is logged once and the others still run") {
  std::vector<std::string> logged;
  hal::log::set_sink(
      [&](hal::log::Level, std::string_view message) { logged.emplace_back(message); });
  int after = 0;
  {
    const Subscription bad = subscribe([](const Span&) { throw std::runtime_error("no space"); });
    const Subscription good = subscribe([&](const Span&) { ++after; });
    emit(span_of(1));
    emit(span_of(2));
  }
  hal::log::set_sink({});
  CHECK(after == 2);
  REQUIRE(logged.size() == 1);
  CHECK_THAT(logged.front(), Catch::Matchers::ContainsSubstring("no space"));
}

TEST_CASE("subscribing and ending race with spans and lose nobody's memory") {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> seen{0};
  std::vector<std::thread> emitters;
  for (int index = 0; index < 2; ++index) {
    emitters.emplace_back([&] {
      while (!stop)
        emit(span_of(1));
    });
  }
  for (int round = 0; round < 500; ++round) {
    auto alive = std::make_unique<int>(7);
    std::optional<Subscription> subscription =
        subscribe([&, value = alive.get()](const Span&) { seen += *value == 7 ? 1U : 0U; });
    emit(span_of(2));
    subscription.reset();
    *alive = 0;  // a callback that still ran would race with this
  }
  stop = true;
  for (std::thread& emitter : emitters)
    emitter.join();
  CHECK(seen >= 500);
}

TEST_CASE("a scoped span covers its scope, and nothing is built when nobody traces") {
  std::vector<Span> got;
  {
    const hal::spi::ScopedSpan untraced(Kind::synchronize, "host:0", 3);
    const Subscription subscription = subscribe([&](const Span& span) { got.push_back(span); });
    const std::uint64_t before = hal::detail::now_ns();
    { const hal::spi::ScopedSpan traced(Kind::allocate, "host:1", 4, 4096); }
    REQUIRE(got.size() == 1);
    CHECK(got[0].kind == Kind::allocate);
    CHECK(got[0].device == "host:1");
    CHECK(got[0].stream == 4);
    CHECK(got[0].bytes == 4096);
    CHECK(got[0].begin_ns >= before);
    CHECK(got[0].end_ns >= got[0].begin_ns);
    CHECK(got[0].end_ns <= hal::detail::now_ns());
  }
  CHECK(got.size() == 1);
}
