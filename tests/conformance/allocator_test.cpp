// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using conformance::device;
using conformance::outcome;

TEST_CASE("statistics follow buffers that come and go") {
  const hal::Stream stream = device().create_stream();
  hal::Allocator& allocator = device().allocator();
  const hal::AllocatorStatistics before = allocator.statistics();
  {
    const hal::Buffer first = device().allocate_bytes(1000, stream);
    const hal::Buffer second = device().allocate_bytes(2000, stream);
    const hal::AllocatorStatistics during = allocator.statistics();
    CHECK(during.live_blocks == before.live_blocks + 2);
    CHECK(during.requested.current == before.requested.current + 3000);
    CHECK(during.requested.total == before.requested.total + 3000);
    CHECK(during.allocated.current >= before.allocated.current + 3000);
    CHECK(during.reserved.current >= during.allocated.current);
    CHECK(during.requested.peak >= during.requested.current);
  }
  const hal::AllocatorStatistics after = allocator.statistics();
  CHECK(after.live_blocks == before.live_blocks);
  CHECK(after.requested.current == before.requested.current);
  CHECK(after.allocated.current == before.allocated.current);
  CHECK(after.requested.total == before.requested.total + 3000);
}

TEST_CASE("peaks stay until they are reset") {
  const hal::Stream stream = device().create_stream();
  hal::Allocator& allocator = device().allocator();
  allocator.reset_peaks();
  const std::int64_t base = allocator.statistics().requested.current;
  { const hal::Buffer buffer = device().allocate_bytes(std::size_t{1} << 20U, stream); }
  CHECK(allocator.statistics().requested.peak == base + (std::int64_t{1} << 20U));
  allocator.reset_peaks();
  CHECK(allocator.statistics().requested.peak == allocator.statistics().requested.current);
}

TEST_CASE("memory given back serves the next request of its stream") {
  const hal::Stream stream = device().create_stream();
  { const hal::Buffer warm = device().allocate_bytes(5000, stream); }
  const std::int64_t calls = device().allocator().statistics().device_allocations;
  for (int round = 0; round < 100; ++round) {
    const hal::Buffer buffer = device().allocate_bytes(5000, stream);
    stream.fill(hal::View<unsigned char>(buffer.view()), 1);
  }
  CHECK(device().allocator().statistics().device_allocations == calls);
}

TEST_CASE("trimming gives cached memory back to the device") {
  const hal::Stream stream = device().create_stream();
  hal::Allocator& allocator = device().allocator();
  { const hal::Buffer buffer = device().allocate_bytes(std::size_t{8} << 20U, stream); }
  stream.synchronize();
  const hal::AllocatorStatistics before = allocator.statistics();
  const std::size_t freed = allocator.trim();
  const hal::AllocatorStatistics after = allocator.statistics();
  CHECK(freed >= std::size_t{8} << 20U);
  CHECK(after.reserved.current == before.reserved.current - static_cast<std::int64_t>(freed));
  CHECK(after.device_releases > before.device_releases);
}

TEST_CASE("a limit bounds what is taken from the device") {
  const hal::Stream stream = device().create_stream();
  hal::Allocator& allocator = device().allocator();
  allocator.trim();
  const std::size_t limit_before = allocator.limit();
  const auto in_use = static_cast<std::size_t>(allocator.statistics().reserved.current);
  allocator.set_limit(in_use + (std::size_t{16} << 20U));
  CHECK(allocator.limit() == in_use + (std::size_t{16} << 20U));
  const std::string small =
      outcome([&] { (void)device().allocate_bytes(std::size_t{1} << 20U, stream); });
  const std::string large =
      outcome([&] { (void)device().allocate_bytes(std::size_t{64} << 20U, stream); });
  allocator.set_limit(limit_before);
  CHECK(small == "ok");
  CHECK(large == "out_of_memory");
  CHECK(outcome([&] { (void)device().allocate_bytes(std::size_t{64} << 20U, stream); }) == "ok");
}

TEST_CASE("what is not allocated here cannot be given back") {
  hal::Allocator& allocator = device().allocator();
  void* const address = allocator.allocate(1000, 64, nullptr);
  const std::int64_t live = allocator.statistics().live_blocks;
  int foreign = 0;
  CHECK(outcome([&] { allocator.release(&foreign, {}); }) == "invalid_argument");
  CHECK(outcome([&] { allocator.release(static_cast<char*>(address) + 64, {}); }) ==
        "invalid_argument");
  CHECK(allocator.statistics().live_blocks == live);
  allocator.release(address, {});
  CHECK(outcome([&] { allocator.release(address, {}); }) == "invalid_argument");
  CHECK(allocator.statistics().live_blocks == live - 1);
}

TEST_CASE("many threads may allocate, use and give back at once") {
  constexpr int thread_count = 4;
  constexpr int rounds = 200;
  std::vector<std::string> problems(thread_count);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < thread_count; ++thread) {
      threads.emplace_back([thread, &problems] {
        auto& problem = problems[static_cast<std::size_t>(thread)];
        problem = outcome([&] {
          const hal::Stream stream = device().create_stream();
          for (int round = 0; round < rounds; ++round) {
            const auto count = static_cast<std::size_t>(1 + (round * 37 + thread * 11) % 5000);
            const auto buffer = device().allocate<int>(count, stream);
            stream.fill(buffer, thread);
            if (stream.read(buffer) != std::vector<int>(count, thread)) {
              throw std::runtime_error("another thread's values");
            }
          }
        });
      });
    }
  }
  CHECK(problems == std::vector<std::string>(thread_count, "ok"));
}
