// SPDX-License-Identifier: Apache-2.0
#include "memory/size_classes.hpp"
#include "unit/pool_fixture.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <thread>

using namespace pool_test;

TEST_CASE("a size class wastes less than a quarter and is its own class") {
  for (std::size_t bytes = 1; bytes < 64 * mib; bytes += 1 + bytes / 7) {
    const std::size_t rounded = *hal::memory::size_class(bytes, 64);
    CAPTURE(bytes, rounded);
    CHECK(rounded >= bytes);
    CHECK(rounded % 64 == 0);
    CHECK(rounded - bytes < std::max<std::size_t>(64, bytes / 4 + 1));
    CHECK(*hal::memory::size_class(rounded, 64) == rounded);
    if (bytes > 8 * mib) CHECK(rounded % (2 * mib) == 0);
  }
}

TEST_CASE("a size class never wraps") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK_FALSE(hal::memory::size_class(most, 64).has_value());
  CHECK_FALSE(hal::memory::size_class(most - 63, 64).has_value());
  CHECK_FALSE(hal::memory::size_class(most / 2, 64).has_value());
  CHECK_FALSE(hal::memory::size_class(most / 2 - 1000, 64).has_value());
  CHECK(hal::memory::size_class(most / 2 - 2 * mib, 64).has_value());
}

TEST_CASE_METHOD(Fixture, "the same stream gets its block back at once, the newest first") {
  const Stream stream = make_stream();
  void* a = take(1000, stream);
  void* b = take(1000, stream);
  give(a, {{stream, 5}});
  give(b, {{stream, 6}});
  CHECK(take(1000, stream) == b);
  CHECK(take(1010, stream) == a);
  CHECK(pool.statistics().device_allocations == 2);
}

TEST_CASE_METHOD(Fixture, "another stream gets a block only once its use is reached") {
  const Stream first = make_stream();
  const Stream second = make_stream();
  void* a = take(1000, first);
  give(a, {{first, 5}});
  void* b = take(1000, second);
  CHECK(b != a);
  fake(first).done = 4;
  CHECK(take(1000, second) != a);
  fake(first).done = 5;
  CHECK(take(1000, second) == a);
  CHECK(upstream.waits == 0);
}

TEST_CASE_METHOD(Fixture, "a block used by several streams waits for all of them") {
  const Stream first = make_stream();
  const Stream second = make_stream();
  void* a = take(1000, first);
  give(a, {{first, 2}, {second, 3}, {first, 1}});
  fake(second).done = 3;
  CHECK(take(1000, first) != a);
  fake(first).done = 2;
  CHECK(take(1000, first) == a);
}

TEST_CASE_METHOD(Fixture, "memory without a stream is handed out only when nothing uses it") {
  const Stream stream = make_stream();
  void* a = take(1000, stream);
  give(a, {{stream, 1}});
  CHECK(take(1000) != a);
  fake(stream).done = 1;
  CHECK(take(1000) == a);
  give(a);
  CHECK(take(1000) == a);
}

TEST_CASE_METHOD(Fixture, "a use before a stream's first work is no use") {
  const Stream stream = make_stream();
  void* a = take(1000, stream);
  give(a, {{stream, 0}});
  CHECK(take(1000) == a);
}

TEST_CASE_METHOD(Fixture, "a cached block does not keep a stream whose use is known to be done") {
  Stream stream = make_stream();
  const std::weak_ptr<StreamState> watched = stream;
  void* a = take(1000, stream);
  give(a, {{stream, 1}});
  fake(stream).done = 1;
  stream.reset();
  CHECK_FALSE(watched.expired());
  CHECK(take(1000) == a);
  CHECK(watched.expired());
}

TEST_CASE_METHOD(Fixture, "blocks of another size, alignment or page kind are not mixed up") {
  void* a = take(1000);
  give(a);
  CHECK(take(3000) != a);
  CHECK(pool.allocate(1000, 4096, nullptr) != a);
  CHECK(pool.allocate_huge(1000, 64, nullptr) != a);
  CHECK(upstream.last.huge_pages == 1);
  CHECK(take(1000) == a);
}

TEST_CASE_METHOD(Fixture, "any power-of-two alignment is honoured") {
  for (std::size_t alignment = 1; alignment <= 16 * mib; alignment *= 2) {
    void* address = pool.allocate(100, alignment, nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(address) % std::max<std::size_t>(alignment, 64) == 0);
  }
}

TEST_CASE_METHOD(Fixture, "an alignment the device ignores is refused and nothing is kept") {
  upstream.misalign_by = 64;
  const Error error = error_of([&] { (void)pool.allocate(100, 4096, nullptr); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(upstream.used() == 0);
  CHECK(pool.statistics().reserved.current == 0);
}

TEST_CASE_METHOD(Fixture, "an alignment that is no power of two and zero bytes are refused") {
  for (std::size_t alignment : {0UL, 3UL, 96UL}) {
    CHECK(error_of([&] { (void)pool.allocate(1, alignment, nullptr); }).code() ==
          Errc::invalid_argument);
  }
  CHECK(error_of([&] { (void)take(0); }).code() == Errc::invalid_argument);
}

TEST_CASE_METHOD(Fixture, "sizes near SIZE_MAX are out of memory and do not reach the device") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (std::size_t less = 0; less < 4096; less += 63) {
    CHECK(error_of([&] { (void)take(most - less); }).code() == Errc::out_of_memory);
    CHECK(error_of([&] { (void)take(most / 2 - less); }).code() == Errc::out_of_memory);
  }
  CHECK(error_of([&] { (void)pool.allocate(1, most / 2 + 1, nullptr); }).code() ==
        Errc::out_of_memory);
  CHECK(upstream.last.bytes == 0);
}

TEST_CASE_METHOD(Fixture,
                 "giving back twice, foreign or inside a block is refused and changes nothing") {
  auto* a = static_cast<std::byte*>(take(1000));
  void* b = take(1000);
  give(b);
  const auto before = pool.statistics();
  int local = 0;
  for (void* wrong :
       {static_cast<void*>(a + 64), b, static_cast<void*>(&local), static_cast<void*>(nullptr)}) {
    CHECK(error_of([&] { give(wrong); }).code() == Errc::invalid_argument);
  }
  const auto after = pool.statistics();
  CHECK(after.live_blocks == before.live_blocks);
  CHECK(after.cached_blocks == before.cached_blocks);
  CHECK(after.requested.current == before.requested.current);
  give(a);
  CHECK(pool.statistics().live_blocks == 0);
}

TEST_CASE_METHOD(Fixture, "statistics count what is asked for, handed out and reserved") {
  void* a = take(1000);
  void* b = take(2000);
  give(a);
  auto now = pool.statistics();
  CHECK(now.requested.current == 2000);
  CHECK(now.requested.peak == 3000);
  CHECK(now.requested.total == 3000);
  CHECK(now.allocated.current == 2048);
  CHECK(now.allocated.peak == 1024 + 2048);
  CHECK(now.reserved.current == 1024 + 2048);
  CHECK(now.live_blocks == 1);
  CHECK(now.cached_blocks == 1);
  CHECK(now.device_allocations == 2);
  CHECK(now.device_releases == 0);

  CHECK(take(900) == a);
  CHECK(pool.statistics().requested.total == 3900);
  give(a);
  give(b);
  pool.reset_peaks();
  CHECK(pool.statistics().requested.peak == 0);
  CHECK(pool.statistics().reserved.peak == 1024 + 2048);
  CHECK(pool.trim() == 1024 + 2048);
  now = pool.statistics();
  CHECK(now.reserved.current == 0);
  CHECK(now.cached_blocks == 0);
  CHECK(now.device_releases == 2);
  CHECK(upstream.used() == 0);
}

TEST_CASE_METHOD(Fixture, "trim keeps what is in use and does not wait") {
  const Stream stream = make_stream();
  void* busy = take(1000, stream);
  void* idle = take(1000, stream);
  void* live = take(1000, stream);
  give(idle, {{stream, 1}});
  give(busy, {{stream, 2}});
  fake(stream).done = 1;
  CHECK(pool.trim() == 1024);
  CHECK(upstream.waits == 0);
  CHECK(take(1000, stream) == busy);
  give(live);
}

TEST_CASE_METHOD(Fixture, "the limit is kept by giving back cached memory, oldest uses included") {
  const Stream stream = make_stream();
  pool.set_limit(4 * kib);
  CHECK(pool.limit() == 4 * kib);
  void* a = take(2 * kib, stream);
  void* b = take(2 * kib, stream);
  CHECK(error_of([&] { (void)take(64); }).code() == Errc::out_of_memory);
  give(a, {{stream, 1}});
  fake(stream).done = 1;
  void* c = take(1 * kib, stream);
  CHECK(upstream.used() == 3 * kib);
  CHECK(upstream.waits == 0);
  give(b, {{stream, 9}});
  void* d = take(3 * kib, stream);
  CHECK(upstream.waits == 1);
  CHECK(upstream.used() == 4 * kib);
  give(c);
  give(d);
}

TEST_CASE_METHOD(Fixture, "more than the limit fails without giving anything back or waiting") {
  const Stream stream = make_stream();
  pool.set_limit(4 * kib);
  give(take(1 * kib, stream), {{stream, 1}});
  give(take(2 * kib));
  CHECK(error_of([&] { (void)take(5 * kib); }).code() == Errc::out_of_memory);
  CHECK(upstream.waits == 0);
  CHECK(pool.statistics().cached_blocks == 2);
}

TEST_CASE_METHOD(Fixture,
                 "a full device is retried after idle memory was given back, then waited for") {
  const Stream stream = make_stream();
  upstream.capacity = 4 * kib;
  void* a = take(1 * kib, stream);
  void* b = take(2 * kib, stream);
  give(a);
  give(b, {{stream, 7}});
  void* c = take(1536, stream);
  CHECK(upstream.waits == 0);
  void* d = take(2560);
  CHECK(upstream.waits == 1);
  CHECK(upstream.used() == 4 * kib);
  give(c);
  give(d);
}

TEST_CASE_METHOD(Fixture, "a full device waits for a block of the same size and hands it out") {
  const Stream stream = make_stream();
  upstream.capacity = 1 * kib;
  void* a = take(1 * kib, stream);
  give(a, {{stream, 3}});
  CHECK(take(1 * kib) != nullptr);
  CHECK(upstream.waits == 1);
}

TEST_CASE_METHOD(Fixture, "a use that is not reached after a wait does not hang the request") {
  const Stream stream = make_stream();
  upstream.capacity = 2 * kib;
  upstream.on_wait = [](const StreamPoint&) {};
  give(take(1 * kib, stream), {{stream, 3}});
  give(take(1 * kib, stream), {{stream, 4}});
  CHECK(error_of([&] { (void)take(2 * kib); }).code() == Errc::out_of_memory);
  CHECK(upstream.waits == 1);
}

TEST_CASE_METHOD(Fixture, "a snapshot lists live and cached blocks with what was asked for") {
  const Stream stream = make_stream();
  fake(stream).id = 42;
  CHECK(pool.snapshot().empty());
  void* a = take(1000, stream);
  void* b = take(2000);
  give(a, {{stream, 1}});
  auto blocks = pool.snapshot();
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].address == a);
  CHECK(blocks[0].bytes == 1024);
  CHECK(blocks[0].requested_bytes == 0);
  CHECK(blocks[0].stream == 42);
  CHECK_FALSE(blocks[0].live);
  CHECK(blocks[1].address == b);
  CHECK(blocks[1].bytes == 2048);
  CHECK(blocks[1].requested_bytes == 2000);
  CHECK(blocks[1].stream == 0);
  CHECK(blocks[1].live);

  fake(stream).done = 1;
  CHECK(take(900) == a);
  blocks = pool.snapshot();
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].requested_bytes == 900);
  CHECK(blocks[0].stream == 0);
  CHECK(blocks[0].live);
  give(a);
  (void)pool.trim();
  CHECK(pool.snapshot().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a snapshot is by address") {
  for (int i = 0; i < 100; ++i)
    (void)take(1000);
  CHECK(std::ranges::is_sorted(pool.snapshot(), {}, &hal::MemoryBlock::address));
}

TEST_CASE_METHOD(Fixture, "running out of memory says what there is and what to do") {
  pool.set_limit(4 * mib);
  void* a = take(1 * mib);
  give(take(1000));
  const Error error = error_of([&] { (void)take(8 * mib); });
  CHECK(error.code() == Errc::out_of_memory);
  CHECK(error.device() == "fake:0");
  using Catch::Matchers::ContainsSubstring;
  const std::string text = error.what();
  CHECK_THAT(text, ContainsSubstring("8 MiB (8388608 bytes)"));
  CHECK_THAT(text, ContainsSubstring("1 MiB live in 1 blocks"));
  CHECK_THAT(text, ContainsSubstring("1 KiB cached"));
  CHECK_THAT(text, ContainsSubstring("1.001 MiB reserved"));
  CHECK_THAT(text, ContainsSubstring("limit 4 MiB"));
  CHECK_THAT(text, ContainsSubstring("3 MiB free of 8 MiB"));
  CHECK_THAT(text, ContainsSubstring("release buffers"));
  give(a);
}

TEST_CASE_METHOD(Fixture, "a refusal of the device is quoted") {
  upstream.capacity = 0;
  const Error error = error_of([&] { (void)take(64); });
  CHECK_THAT(error.message(), Catch::Matchers::ContainsSubstring("the fake is full"));
}

TEST_CASE("the pool's end gives everything back, also what is still out") {
  FakeUpstream upstream;
  {
    SizeClassPool pool(upstream, HAL_MEMORY_DEVICE, 64, 0);
    const Stream stream = make_stream();
    (void)pool.allocate(1000, 64, stream);
    const std::array<StreamPoint, 1> uses{StreamPoint{stream, 1}};
    pool.release(pool.allocate(1000, 64, stream), uses);
  }
  CHECK(upstream.used() == 0);
  CHECK(upstream.wrong_releases() == 0);
}

TEST_CASE("threads on a device that is nearly full neither share a block nor lose one") {
  constexpr int threads = 4;
  constexpr int rounds = 3000;
  FakeUpstream upstream;
  upstream.capacity = 64 * kib;
  SizeClassPool pool(upstream, HAL_MEMORY_DEVICE, 64, 60 * kib);
  std::mutex mutex;
  std::map<void*, std::size_t> out;
  std::atomic<int> shared{0};
  std::atomic<int> refused{0};

  const auto work = [&](unsigned seed) {
    std::minstd_rand random(seed);
    const Stream stream = make_stream();
    std::uint64_t sequence = 0;
    std::vector<void*> mine;
    const auto give_one = [&] {
      void* address = mine.back();
      mine.pop_back();
      {
        const std::lock_guard lock(mutex);
        out.erase(address);
      }
      const std::array<StreamPoint, 1> uses{StreamPoint{stream, ++sequence}};
      pool.release(address, uses);
    };
    for (int round = 0; round < rounds; ++round) {
      if (mine.size() < 4) {
        const std::size_t bytes = 64 + random() % (4 * kib);
        try {
          void* address = pool.allocate(bytes, 64, random() % 4 == 0 ? nullptr : stream);
          mine.push_back(address);
          const std::lock_guard lock(mutex);
          if (!out.emplace(address, bytes).second) ++shared;
        } catch (const Error& error) {
          if (error.code() == Errc::out_of_memory) ++refused;
        }
      }
      if (!mine.empty() && random() % 2 == 0) give_one();
      if (random() % 8 == 0) fake(stream).done = sequence;
      if (random() % 64 == 0) (void)pool.trim();
    }
    while (!mine.empty())
      give_one();
  };
  std::vector<std::thread> pool_users;
  for (unsigned seed = 1; seed <= threads; ++seed)
    pool_users.emplace_back(work, seed);
  for (std::thread& user : pool_users)
    user.join();

  CHECK(shared == 0);
  // 16 blocks of at most 5 KiB do not fit in 60 KiB at once, but they do most of the time.
  CHECK(refused < threads * rounds / 4);
  const auto now = pool.statistics();
  CHECK(now.live_blocks == 0);
  CHECK(now.requested.current == 0);
  CHECK(now.allocated.current == 0);
  CHECK(now.reserved.peak <= static_cast<std::int64_t>(60 * kib));
  CHECK(static_cast<std::size_t>(now.reserved.current) == upstream.used());
  CHECK(upstream.wrong_releases() == 0);
}
