// SPDX-License-Identifier: Apache-2.0
#include "unit/pool_fixture.hpp"

#include <hal/log.hpp>

#include <string_view>
#include <thread>

using namespace pool_test;

TEST_CASE_METHOD(Fixture, "what a pressure callback releases makes room, on a device and a limit") {
  const bool limited = GENERATE(false, true);
  if (limited) {
    pool.set_limit(4 * kib);
  } else {
    upstream.capacity = 4 * kib;
  }
  void* kept = take(4 * kib);
  std::vector<std::size_t> missing;
  const auto subscription = pool.on_pressure([&](std::size_t bytes) {
    missing.push_back(bytes);
    give(kept);
  });
  CHECK(take(1000) != nullptr);
  CHECK(missing == std::vector<std::size_t>{1024});
}

TEST_CASE_METHOD(Fixture, "what a pressure callback releases is waited for") {
  const Stream stream = make_stream();
  upstream.capacity = 4 * kib;
  void* kept = take(4 * kib, stream);
  const auto subscription = pool.on_pressure([&](std::size_t) { give(kept, {{stream, 3}}); });
  CHECK(take(1000) != nullptr);
  CHECK(upstream.waits == 1);
}

TEST_CASE_METHOD(Fixture, "pressure callbacks are not called while idle memory makes room") {
  upstream.capacity = 4 * kib;
  int calls = 0;
  const auto subscription = pool.on_pressure([&](std::size_t) { ++calls; });
  give(take(4 * kib));
  CHECK(take(1000) != nullptr);
  CHECK(calls == 0);
}

TEST_CASE_METHOD(Fixture, "a request calls each pressure callback once, in order, then fails") {
  upstream.capacity = 1 * kib;
  std::string calls;
  const auto first = pool.on_pressure([&](std::size_t) { calls += 'a'; });
  const auto second = pool.on_pressure([&](std::size_t) { calls += 'b'; });
  CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
  CHECK(calls == "ab");
  CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
  CHECK(calls == "abab");
}

TEST_CASE_METHOD(Fixture, "a request above the limit calls no pressure callback") {
  int calls = 0;
  const auto subscription = pool.on_pressure([&](std::size_t) { ++calls; });
  pool.set_limit(1 * kib);
  CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
  CHECK(calls == 0);
}

TEST_CASE_METHOD(Fixture, "a pressure callback that throws is logged and the next one is called") {
  upstream.capacity = 4 * kib;
  void* kept = take(4 * kib);
  std::string logged;
  hal::log::set_sink([&](hal::log::Level, std::string_view text) { logged += text; });
  const auto first = pool.on_pressure([](std::size_t) { throw std::runtime_error("no cache"); });
  const auto second = pool.on_pressure([&](std::size_t) { give(kept); });
  void* got = nullptr;
  CHECK_NOTHROW(got = take(1000));
  hal::log::set_sink({});
  CHECK(got != nullptr);
  CHECK_THAT(logged, Catch::Matchers::ContainsSubstring("no cache"));
}

TEST_CASE_METHOD(Fixture, "what a pressure callback allocates itself calls no callbacks") {
  upstream.capacity = 1 * kib;
  int calls = 0;
  Errc inner = Errc::internal;
  const auto subscription = pool.on_pressure([&](std::size_t) {
    ++calls;
    inner = error_of([&] { (void)take(2 * kib); }).code();
  });
  CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
  CHECK(inner == Errc::out_of_memory);
  CHECK(calls == 1);
}

TEST_CASE_METHOD(Fixture, "a pressure subscription ends with its owner and frees the callback") {
  upstream.capacity = 1 * kib;
  int calls = 0;
  const auto captured = std::make_shared<int>(0);
  const auto count = [&calls, captured](std::size_t) { ++calls; };
  {
    auto subscription = pool.on_pressure(count);
    const auto moved = std::move(subscription);
    CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
    CHECK(calls == 1);
  }
  auto replaced = pool.on_pressure(count);
  CHECK(captured.use_count() == 3);
  replaced = {};
  CHECK(captured.use_count() == 2);
  CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
  CHECK(calls == 1);
}

TEST_CASE_METHOD(Fixture, "a pressure callback may end its own subscription") {
  upstream.capacity = 1 * kib;
  int calls = 0;
  hal::PressureSubscription subscription;
  subscription = pool.on_pressure([&](std::size_t) {
    ++calls;
    subscription = {};
  });
  for (int i = 0; i < 2; ++i) {
    CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
  }
  CHECK(calls == 1);
}

TEST_CASE_METHOD(Fixture, "the end of a pressure subscription waits for other threads' callbacks") {
  upstream.capacity = 1 * kib;
  std::atomic<bool> entered{false};
  std::atomic<bool> left{false};
  auto subscription = pool.on_pressure([&](std::size_t) {
    entered = true;
    entered.notify_all();
    for (int i = 0; i < 1000; ++i)
      std::this_thread::yield();
    left = true;
  });
  std::thread other([&] { (void)error_of([&] { (void)take(2 * kib); }); });
  entered.wait(false);
  subscription = {};
  CHECK(left);
  other.join();
}

TEST_CASE("a pressure subscription may outlive its pool, and an empty callback is refused") {
  FakeUpstream upstream;
  hal::PressureSubscription subscription;
  {
    SizeClassPool pool(upstream, HAL_MEMORY_DEVICE, 64, 0);
    subscription = pool.on_pressure([](std::size_t) {});
    CHECK(error_of([&] { (void)pool.on_pressure({}); }).code() == Errc::invalid_argument);
  }
  CHECK_NOTHROW(subscription = {});
}
