// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/outcome.hpp"

#include <hal/hal.hpp>

#include <atomic>
#include <cstdint>
#include <future>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;
using hal::Errc;
using hal::Error;
using hal::MemoryKind;
using hal_test::error_of;

hal::Device host() { return hal::device("host:0"); }

/// Puts the limit back whatever happens in a test.
class Limited {
 public:
  Limited(hal::Allocator& allocator, std::size_t bytes)
      : allocator_(allocator), before_(allocator.limit()) {
    allocator_.set_limit(bytes);
  }
  ~Limited() { allocator_.set_limit(before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  hal::Allocator& allocator_;
  std::size_t before_;
};

/// Work that stays on a stream until it is let go; let go at the latest when the test ends.
class Gate {
 public:
  explicit Gate(const hal::Stream& stream) : stream_(stream) {
    stream.call([open = open_.get_future().share()] { open.wait(); });
  }
  ~Gate() { open(); }
  void open() {
    if (closed_) open_.set_value();
    closed_ = false;
    stream_.synchronize();
  }

 private:
  hal::Stream stream_;
  std::promise<void> open_;
  bool closed_ = true;
};

}  // namespace

TEST_CASE("a buffer of zero bytes is valid, empty and takes nothing from the device") {
  const auto before = host().allocator().statistics();
  const auto stream = host().create_stream();
  const auto ordered = host().allocate<float>(0, stream);
  const auto plain = host().allocate<float>(0, MemoryKind::device);
  CHECK(ordered.empty());
  CHECK(plain.data() == nullptr);
  CHECK(plain.device() == host());
  CHECK(ordered.view(0, 0).empty());
  const auto after = host().allocator().statistics();
  CHECK(after.live_blocks == before.live_blocks);
  CHECK(after.requested.total == before.requested.total);
}

TEST_CASE("a default buffer holds nothing and says so when asked for its device") {
  const hal::Buffer buffer;
  CHECK(buffer.data() == nullptr);
  CHECK(buffer.size_bytes() == 0);
  CHECK(buffer.view().empty());
  CHECK(buffer.keep_alive().owner() == nullptr);
  CHECK(error_of([&] { (void)buffer.device(); }).code() == Errc::invalid_state);
}

TEST_CASE("a slice that is not inside names its bounds") {
  const auto buffer = host().allocate<std::uint32_t>(10, MemoryKind::device);
  CHECK(buffer.view(10, 0).empty());
  CHECK(buffer.view(2, 8).data() == buffer.data() + 2);
  const Error error = error_of([&] { (void)buffer.view(4, 7); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK_THAT(error.message(), ContainsSubstring("28 bytes from offset 16"));
  CHECK_THAT(error.message(), ContainsSubstring("40 bytes"));
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(error_of([&] { (void)buffer.view(most, 1); }).code() == Errc::invalid_argument);
  CHECK(error_of([&] { (void)buffer.view(1, most); }).code() == Errc::invalid_argument);
  CHECK(error_of([&] { (void)buffer.view(most / 4 + 2, most / 4 + 1); }).code() ==
        Errc::invalid_argument);
}

TEST_CASE("host memory is aligned to a cache line, and to more when asked") {
  for (std::size_t count : {1U, 100U, 5000U, 3U << 20}) {
    const auto buffer = host().allocate<std::uint8_t>(count, MemoryKind::device);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  }
  for (std::size_t alignment = 128; alignment <= 1 << 20; alignment *= 2) {
    hal::AllocationOptions options;
    options.alignment = alignment;
    const hal::Buffer buffer = host().allocate_bytes(100, options);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0);
  }
  hal::AllocationOptions odd;
  odd.alignment = 100;
  CHECK(error_of([&] { (void)host().allocate_bytes(1, odd); }).code() == Errc::invalid_argument);
}

TEST_CASE("memory in huge pages can be written to its last byte") {
  hal::AllocationOptions options;
  options.huge_pages = true;
  const hal::Buffer buffer = host().allocate_bytes((5U << 20) + 3, options);
  const auto stream = host().create_stream();
  stream.fill(hal::View<std::uint8_t>(buffer.view()), std::uint8_t{7});
  stream.synchronize();
  CHECK(static_cast<std::uint8_t*>(buffer.data())[(5U << 20) + 2] == 7);
}

TEST_CASE("a kind the device lacks is refused by name, also for zero bytes") {
  for (auto [kind, feature] : {std::pair(MemoryKind::pinned, hal::Feature::pinned),
                               std::pair(MemoryKind::managed, hal::Feature::managed)}) {
    if (host().has(feature)) {
      const auto buffer = host().allocate<int>(100, kind);
      CHECK(buffer.bytes().kind() == kind);
      CHECK(buffer.data() != nullptr);
    } else {
      const Error error = error_of([&] { (void)host().allocate<int>(0, kind); });
      CHECK(error.code() == Errc::unsupported);
      CHECK_THAT(error.what(), ContainsSubstring(std::string(hal::name(kind))));
      CHECK_THAT(error.what(), ContainsSubstring("host:0"));
    }
  }
}

TEST_CASE("a count that overflows is out of memory") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const auto stream = host().create_stream();
  for (std::size_t count : {most, most / 8, most / 8 + 1, most / 16}) {
    CHECK(error_of([&] { (void)host().allocate<double>(count, stream); }).code() ==
          Errc::out_of_memory);
    CHECK(error_of([&] { (void)host().allocate<double>(count, MemoryKind::device); }).code() ==
          Errc::out_of_memory);
  }
}

TEST_CASE("an empty device and an empty stream are refused") {
  const hal::Device none;
  const auto stream = host().create_stream();
  CHECK(error_of([&] { (void)none.allocate<int>(1, stream); }).code() == Errc::invalid_state);
  CHECK(error_of([&] { (void)host().allocate<int>(1, hal::Stream()); }).code() ==
        Errc::invalid_state);
  const auto buffer = host().allocate<int>(1, stream);
  CHECK(error_of([&] { buffer.record_use(hal::Stream()); }).code() == Errc::invalid_state);
}

TEST_CASE("memory released while its stream is busy is reused by that stream and by no other") {
  host().allocator().trim();  // blocks other tests left would do as well
  const auto busy = host().create_stream();
  const auto other = host().create_stream();
  Gate gate(busy);
  auto first = host().allocate<std::uint8_t>(70001, busy);
  const void* const address = first.data();
  first = {};
  auto elsewhere = host().allocate<std::uint8_t>(70001, other);
  CHECK(elsewhere.data() != address);
  auto anywhere = host().allocate<std::uint8_t>(70001, MemoryKind::device);
  CHECK(anywhere.data() != address);
  auto again = host().allocate<std::uint8_t>(70001, busy);
  CHECK(again.data() == address);
  again = {};
  gate.open();
  auto later = host().allocate<std::uint8_t>(70001, other);
  CHECK(later.data() == address);
}

TEST_CASE("a use on another stream keeps memory from its own") {
  host().allocator().trim();  // blocks other tests left would do as well
  const auto home = host().create_stream();
  const auto user = host().create_stream();
  auto buffer = host().allocate<std::uint8_t>(80001, home);
  const void* const address = buffer.data();
  Gate gate(user);
  buffer.record_use(user);
  buffer = {};
  auto next = host().allocate<std::uint8_t>(80001, home);
  CHECK(next.data() != address);
  gate.open();
  auto later = host().allocate<std::uint8_t>(80001, home);
  CHECK(later.data() == address);
}

TEST_CASE("a view that keeps its buffer alive keeps the memory") {
  const auto before = host().allocator().statistics().live_blocks;
  hal::View<int> kept;
  {
    const auto buffer = host().allocate<int>(10, MemoryKind::device);
    kept = buffer.keep_alive().slice(2, 3);
  }
  CHECK(host().allocator().statistics().live_blocks == before + 1);
  kept.data()[0] = 1;
  kept = {};
  CHECK(host().allocator().statistics().live_blocks == before);
}

TEST_CASE("a limit is kept, and memory that is cached or still in use by a stream makes room") {
  hal::Allocator& allocator = host().allocator();
  allocator.trim();
  const auto held = static_cast<std::size_t>(allocator.statistics().reserved.current);
  const Limited limited(allocator, held + (4U << 20));
  const auto stream = host().create_stream();
  {
    const auto most = host().allocate<std::uint8_t>(3U << 20, stream);
    const Error error = error_of([&] { (void)host().allocate<std::uint8_t>(2U << 20, stream); });
    CHECK(error.code() == Errc::out_of_memory);
    CHECK_THAT(error.message(), ContainsSubstring("HAL_MEMORY_LIMIT"));
    stream.fill(most, std::uint8_t{1});
  }
  const auto next = host().allocate<std::uint8_t>(2U << 20, MemoryKind::device);
  CHECK(next.data() != nullptr);
}

TEST_CASE("allocations and releases are traced with their stream and size") {
  std::mutex mutex;
  std::vector<hal::trace::Span> spans;
  const auto stream = host().create_stream();
  {
    const auto subscription = hal::trace::subscribe([&](const hal::trace::Span& span) {
      const std::lock_guard lock(mutex);
      if (span.stream == stream.id()) spans.push_back(span);
    });
    (void)host().allocate<std::uint8_t>(12345, stream);
  }
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].kind == hal::trace::Kind::allocate);
  CHECK(spans[0].bytes == 12345);
  CHECK(spans[1].kind == hal::trace::Kind::release);
}

TEST_CASE("threads that share streams share no memory") {
  constexpr int threads = 4;
  constexpr int rounds = 200;
  const std::vector<hal::Stream> streams{host().create_stream(), host().create_stream()};
  std::atomic<int> wrong{0};
  const auto work = [&](std::uint32_t tag) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const hal::Stream& stream = streams[(tag + round) % 2];
      const auto buffer = host().allocate<std::uint32_t>(64 + round % 7, stream);
      const std::uint32_t value = tag << 16 | round;
      stream.fill(buffer, value);
      stream.launch(
          [&wrong](std::size_t i, std::uint32_t expected, const std::uint32_t* data) {
            if (data[i] != expected) ++wrong;
          },
          hal::over(buffer.size()), value, buffer);
    }
  };
  std::vector<std::thread> workers;
  for (std::uint32_t tag = 1; tag <= threads; ++tag)
    workers.emplace_back(work, tag);
  for (std::thread& worker : workers)
    worker.join();
  for (const hal::Stream& stream : streams)
    stream.synchronize();
  CHECK(wrong == 0);
}
