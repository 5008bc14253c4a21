// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using conformance::device;
using conformance::outcome;

namespace {

/// False, after checking that the device says so, where it runs no C++ of the process.
bool runs_host_code() {
  if (device().has(hal::Feature::host_code)) return true;
  const hal::Stream stream = device().create_stream();
  CHECK(outcome([&] { stream.launch([](std::size_t) {}, hal::over(1)); }) == "unsupported");
  CHECK(outcome([&] { stream.launch([](hal::Block) {}, hal::blocks({}, {})); }) == "unsupported");
  conformance::not_applicable("it runs no C++ of the process; it says unsupported");
  return false;
}

bool all_ones(const std::vector<std::uint8_t>& counts) {
  return std::ranges::all_of(counts, [](std::uint8_t count) { return count == 1; });
}

void triple(std::size_t index, int* values, int factor) { values[index] *= factor; }

struct alignas(64) Aligned {
  std::array<unsigned char, 64> bytes{};
};

}  // namespace

TEST_CASE("a launch over one dimension visits every index exactly once") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  for (const std::size_t count :
       {0UL, 1UL, 2UL, 7UL, 1023UL, 1024UL, 1025UL, 99991UL, 1UL << 22U}) {
    for (const std::size_t grain : {0UL, 1UL, 7UL, 1024UL, 1UL << 20U, ~0UL}) {
      if (grain <= 7 && count > 100000) continue;
      CAPTURE(count, grain);
      std::vector<std::uint8_t> counts(count + 1);
      stream.launch([](std::size_t i, std::uint8_t* to) { ++to[i]; },
                    hal::over(count).with_grain(grain), counts.data());
      stream.synchronize();
      REQUIRE(counts.back() == 0);
      counts.pop_back();
      REQUIRE(all_ones(counts));
    }
  }
}

TEST_CASE("a launch over two dimensions visits every index exactly once") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  const std::array<std::array<std::size_t, 2>, 8> extents{
      {{0, 5}, {5, 0}, {1, 1}, {1, 100000}, {100000, 1}, {333, 77}, {3, 5}, {1000, 1000}}};
  for (const auto& [rows, columns] : extents) {
    CAPTURE(rows, columns);
    std::vector<std::uint8_t> counts(rows * columns);
    stream.launch(
        [width = columns](std::size_t y, std::size_t x, std::uint8_t* to) { ++to[y * width + x]; },
        hal::over(rows, columns), counts.data());
    stream.synchronize();
    REQUIRE(all_ones(counts));
  }
}

TEST_CASE("a launch over three dimensions visits every index exactly once") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  const std::array<std::array<std::size_t, 3>, 8> extents{{{0, 5, 5},
                                                           {5, 0, 5},
                                                           {5, 5, 0},
                                                           {1, 1, 1},
                                                           {2, 3, 4},
                                                           {1, 1, 50000},
                                                           {50000, 1, 1},
                                                           {37, 41, 43}}};
  for (const auto& extent : extents) {
    for (const std::size_t grain : {1UL, 1024UL}) {
      CAPTURE(extent[0], extent[1], extent[2], grain);
      std::vector<std::uint8_t> counts(extent[0] * extent[1] * extent[2]);
      stream.launch([extent](std::size_t z, std::size_t y, std::size_t x,
                             std::uint8_t* to) { ++to[(z * extent[1] + y) * extent[2] + x]; },
                    hal::over(extent[0], extent[1], extent[2]).with_grain(grain), counts.data());
      stream.synchronize();
      REQUIRE(all_ones(counts));
    }
  }
}

TEST_CASE("a launch over blocks visits every block once and tells it its place") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  const std::array<hal::Dim3, 6> grids{
      {{1, 1, 1}, {1000, 1, 1}, {1, 300, 1}, {1, 1, 200}, {7, 5, 3}, {31, 17, 1}}};
  const hal::Dim3 block{8, 4, 2};
  for (const hal::Dim3& grid : grids) {
    CAPTURE(grid.x, grid.y, grid.z);
    std::vector<std::uint8_t> counts(grid.volume());
    std::atomic<int> wrong{0};
    stream.launch(
        [grid, block, &wrong](hal::Block here, std::uint8_t* to) {
          const hal::Dim3 at = here.index();
          const bool right = here.grid() == grid && here.size() == block &&
                             here.linear_index() == (at.z * grid.y + at.y) * grid.x + at.x &&
                             at.x < grid.x && at.y < grid.y && at.z < grid.z;
          if (!right) ++wrong;
          ++to[here.linear_index()];
        },
        hal::blocks(grid, block), counts.data());
    stream.synchronize();
    REQUIRE(wrong == 0);
    REQUIRE(all_ones(counts));
  }
}

TEST_CASE("a phase of a block sees what the phase before it wrote") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  std::vector<int> sums(50);
  stream.launch(
      [](hal::Block block, int* out) {
        std::array<int, 16> shared{};
        block.each(16, [&](std::size_t i) { shared[i] = static_cast<int>(i); });
        int sum = 0;
        block.each(16, [&](std::size_t i) { sum += shared[15 - i]; });
        out[block.linear_index()] = sum;
      },
      hal::blocks({50, 1, 1}, {16, 1, 1}), sums.data());
  stream.synchronize();
  CHECK(sums == std::vector<int>(50, 120));
}

TEST_CASE("a grid with no blocks runs nothing") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  std::atomic<int> calls{0};
  for (const hal::Dim3 grid : {hal::Dim3{0, 1, 1}, hal::Dim3{1, 0, 1}, hal::Dim3{1, 1, 0}}) {
    stream.launch([&calls](hal::Block) { ++calls; }, hal::blocks(grid, {1, 1, 1}));
  }
  stream.synchronize();
  CHECK(calls == 0);
}

TEST_CASE("a block larger than the device's largest is an invalid argument") {
  if (!runs_host_code()) return;
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  const hal::Stream stream = device().create_stream();
  const auto most = device().properties().max_threads_per_block;
  if (!most) return conformance::not_applicable("its blocks have no limit");
  const auto launch = [&](hal::Dim3 block) {
    stream.launch([](hal::Block) {}, hal::blocks({1, 1, 1}, block));
  };
  CHECK(outcome([&] { launch({*most + 1, 1, 1}); }) == "invalid_argument");
  CHECK(outcome([&] { launch({huge, 2, 2}); }) == "invalid_argument");
}

TEST_CASE("kernels receive buffers and views as addresses and other arguments as copies") {
  if (!runs_host_code() || !device().has(hal::Feature::host_memory)) return;
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(100, stream);
  const auto views = device().allocate<int>(100, stream);
  stream.fill(buffer, 1);
  stream.fill(views, 10);
  std::string text = "abc";
  const std::vector<int> table{5, 6, 7};
  stream.launch(
      [](std::size_t i, int* to, const int* from, const std::string& copied, double factor,
         std::vector<int>& numbers) {
        to[i] += from[i] + static_cast<int>(copied.size()) + static_cast<int>(factor) + numbers[2];
      },
      hal::over(100), buffer, hal::View<const int>(views.view()), text, 2.5, table);
  text = "changed after the launch";
  CHECK(stream.read(buffer) == std::vector<int>(100, 1 + 10 + 3 + 2 + 7));
}

TEST_CASE("a plain function is a kernel") {
  if (!runs_host_code() || !device().has(hal::Feature::host_memory)) return;
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(100, stream);
  stream.fill(buffer, 5);
  stream.launch(triple, hal::over(100), buffer, 3);
  stream.launch(std::function<void(std::size_t, int*)>([](std::size_t i, int* to) { ++to[i]; }),
                hal::over(100), buffer);
  CHECK(stream.read(buffer) == std::vector<int>(100, 16));
}

TEST_CASE("a kernel may own what only moves, and is destroyed after it ran") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  auto shared = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = shared;
  std::vector<int> out(10);
  {
    auto kernel = [only = std::make_unique<int>(41), shared = std::move(shared)](
                      std::size_t i, int* to) { to[i] = *only + *shared; };
    stream.launch(std::move(kernel), hal::over(10), out.data());
  }
  stream.synchronize();
  CHECK(out == std::vector<int>(10, 42));
  conformance::wait_until([&] { return watch.expired(); });
}

TEST_CASE("large and strictly aligned arguments arrive whole and aligned") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  std::array<std::uint32_t, 4096> large{};
  for (std::uint32_t index = 0; index < large.size(); ++index)
    large[index] = index;
  Aligned aligned;
  aligned.bytes.fill(7);
  std::atomic<int> wrong{0};
  for (int round = 0; round < 100; ++round) {
    stream.launch(
        [&wrong, aligned](std::size_t, const std::array<std::uint32_t, 4096>& numbers) {
          if (numbers[4095] != 4095 || numbers[1] != 1) ++wrong;
          if (reinterpret_cast<std::uintptr_t>(&aligned) % 64 != 0) ++wrong;
          if (aligned.bytes[63] != 7) ++wrong;
        },
        hal::over(1), large);
  }
  stream.synchronize();
  CHECK(wrong == 0);
}

TEST_CASE("what a kernel throws becomes the stream's failure with its text and origin") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  stream.launch([](std::size_t) {}, hal::over(1));
  const auto line = std::to_string(__LINE__ + 5);
  stream.launch(
      [](std::size_t i) {
        if (i == 500) throw std::runtime_error("item five hundred is odd");
      },
      hal::over(1000).named("picky"));
  const hal::Error error = conformance::error_of([&] { stream.synchronize(); });
  CHECK(error.code() == hal::Errc::launch_failed);
  CHECK(error.device() == device().id());
  CHECK_THAT(error.message(), ContainsSubstring("item five hundred is odd"));
  REQUIRE(error.origin().has_value());
  CHECK_THAT(error.origin()->operation, ContainsSubstring("picky"));
  CHECK_THAT(error.origin()->location, ContainsSubstring("launch_test.cpp:" + line));
  CHECK(error.origin()->device == device().id());
  CHECK(error.origin()->stream == stream.id());
  CHECK(error.origin()->sequence == 2);
  CHECK_THAT(error.what(), ContainsSubstring("launch_failed"));
}

TEST_CASE("a block and something that is no exception fail a launch too") {
  if (!runs_host_code()) return;
  const hal::Stream blocks = device().create_stream();
  blocks.launch([](hal::Block) { throw std::runtime_error("block"); }, hal::blocks({9, 1, 1}, {}));
  const hal::Error block_error = conformance::error_of([&] { blocks.synchronize(); });
  CHECK(block_error.code() == hal::Errc::launch_failed);
  CHECK_THAT(block_error.message(), ContainsSubstring("block"));

  const hal::Stream number = device().create_stream();
  number.launch([](std::size_t) { throw 42; }, hal::over(1));
  CHECK(outcome([&] { number.synchronize(); }) == "launch_failed");
}

TEST_CASE("a launch in which every item throws fails once and leaves the device usable") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  stream.launch([](std::size_t) { throw std::runtime_error("all"); },
                hal::over(10000).with_grain(1));
  CHECK(outcome([&] { stream.synchronize(); }) == "launch_failed");
  const hal::Stream fresh = device().create_stream();
  std::vector<int> out(10);
  fresh.launch([](std::size_t i, int* to) { to[i] = 1; }, hal::over(10), out.data());
  fresh.synchronize();
  CHECK(out == std::vector<int>(10, 1));
}

TEST_CASE("a million small launches run one after the other") {
  if (!runs_host_code()) return;
  const hal::Stream stream = device().create_stream();
  constexpr std::size_t launches = 1000000;
  std::size_t next = 0;
  std::size_t wrong = 0;
  for (std::size_t index = 0; index < launches; ++index) {
    stream.launch(
        [](std::size_t, std::size_t expected, std::size_t* count, std::size_t* mismatches) {
          if (*count != expected) ++*mismatches;
          ++*count;
        },
        hal::over(1), index, &next, &wrong);
  }
  stream.synchronize();
  CHECK(next == launches);
  CHECK(wrong == 0);
}
