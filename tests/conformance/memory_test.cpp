// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using conformance::device;
using conformance::Gate;
using conformance::outcome;
using conformance::upload;

namespace {

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

hal::AllocationOptions aligned_to(std::size_t alignment) {
  hal::AllocationOptions options;
  options.alignment = alignment;
  return options;
}

bool offers(hal::MemoryKind kind) {
  if (kind == hal::MemoryKind::pinned) return device().has(hal::Feature::pinned);
  if (kind == hal::MemoryKind::managed) return device().has(hal::Feature::managed);
  return true;
}

}  // namespace

TEST_CASE("a buffer knows its size, kind and device") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<std::uint32_t>(100, stream);
  CHECK(buffer.size() == 100);
  CHECK(buffer.size_bytes() == 400);
  CHECK(!buffer.empty());
  CHECK(buffer.data() != nullptr);
  CHECK(buffer.device() == device());
  CHECK(buffer.bytes().kind() == hal::MemoryKind::device);
  CHECK(device().allocate_bytes(7, stream).size_bytes() == 7);
}

TEST_CASE("a buffer that holds nothing and one moved from are empty") {
  const hal::Stream stream = device().create_stream();
  hal::Buffer from = device().allocate_bytes(64, stream);
  void* const data = from.data();
  const hal::Buffer to = std::move(from);
  CHECK(to.data() == data);
  CHECK(from.data() == nullptr);  // NOLINT(bugprone-use-after-move): what is tested
  CHECK(from.size_bytes() == 0);
  CHECK(from.empty());
  CHECK(from.view().empty());
}

TEST_CASE("nothing may be allocated, filled, copied and read") {
  const hal::Stream stream = device().create_stream();
  const auto ordered = device().allocate<float>(0, stream);
  const auto immediate = device().allocate<float>(0, hal::MemoryKind::device);
  CHECK(ordered.empty());
  CHECK(immediate.size_bytes() == 0);
  stream.fill(ordered, 1.0F);
  stream.copy(immediate, ordered);
  stream.copy(ordered, std::vector<float>());
  CHECK(stream.read(ordered).empty());
  CHECK(ordered.view(0, 0).empty());
}

TEST_CASE("sizes no device has are out of memory and the device stays usable") {
  const hal::Stream stream = device().create_stream();
  for (const std::size_t bytes : {huge, huge - 1, huge - 63, huge - 64, huge - 4095,
                                  huge - (std::size_t{2} << 20U), huge / 2 + 1, huge / 2}) {
    CAPTURE(bytes);
    CHECK(outcome([&] { (void)device().allocate_bytes(bytes, stream); }) == "out_of_memory");
    CHECK(outcome([&] { (void)device().allocate_bytes(bytes, aligned_to(4096)); }) ==
          "out_of_memory");
  }
  CHECK(stream.read(upload(stream, std::vector<int>{1, 2, 3})) == std::vector<int>{1, 2, 3});
}

TEST_CASE("a count of elements that overflows is out of memory") {
  const hal::Stream stream = device().create_stream();
  for (const std::size_t count : {huge, huge / 8 + 1, huge / 4}) {
    CAPTURE(count);
    CHECK(outcome([&] { (void)device().allocate<double>(count, stream); }) == "out_of_memory");
    CHECK(outcome([&] { (void)device().allocate<double>(count, hal::MemoryKind::device); }) ==
          "out_of_memory");
  }
}

TEST_CASE("out of memory says how much was asked for and where") {
  const hal::Stream stream = device().create_stream();
  const hal::Error error =
      conformance::error_of([&] { (void)device().allocate_bytes(huge / 2, stream); });
  CHECK(error.code() == hal::Errc::out_of_memory);
  CHECK(error.device() == device().id());
  CHECK(!error.operation().empty());
  CHECK(!error.message().empty());
}

TEST_CASE("memory has the device's alignment") {
  const hal::Stream stream = device().create_stream();
  const std::size_t alignment = device().properties().memory_alignment_bytes.value_or(64);
  std::vector<hal::Buffer> kept;
  for (const std::size_t bytes : {1U, 3U, 64U, 65U, 1000U, 4097U, 100001U}) {
    CAPTURE(bytes);
    kept.push_back(device().allocate_bytes(bytes, stream));
    CHECK(address_of(kept.back().data()) % alignment == 0);
    kept.push_back(device().allocate_bytes(bytes, hal::AllocationOptions{}));
    CHECK(address_of(kept.back().data()) % alignment == 0);
  }
}

TEST_CASE("memory has the alignment asked for") {
  std::vector<hal::Buffer> kept;
  for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    CAPTURE(alignment);
    kept.push_back(device().allocate_bytes(100, aligned_to(alignment)));
    CHECK(address_of(kept.back().data()) % alignment == 0);
  }
}

TEST_CASE("an alignment that is no power of two is an invalid argument") {
  for (const std::size_t alignment : {std::size_t{3}, std::size_t{48}, std::size_t{100}, huge}) {
    CAPTURE(alignment);
    CHECK(outcome([&] { (void)device().allocate_bytes(64, aligned_to(alignment)); }) ==
          "invalid_argument");
  }
}

TEST_CASE("each kind of memory works or is said to be unsupported") {
  const hal::Stream stream = device().create_stream();
  for (const hal::MemoryKind kind :
       {hal::MemoryKind::device, hal::MemoryKind::pinned, hal::MemoryKind::managed}) {
    CAPTURE(hal::name(kind));
    if (!offers(kind)) {
      CHECK(outcome([&] { (void)device().allocate<int>(16, kind); }) == "unsupported");
      continue;
    }
    const auto buffer = device().allocate<int>(1000, kind);
    CHECK(buffer.bytes().kind() == kind);
    stream.fill(buffer, 7);
    CHECK(stream.read(buffer) == std::vector<int>(1000, 7));
  }
}

TEST_CASE("host code may follow addresses of pinned, managed and host memory") {
  const hal::Stream stream = device().create_stream();
  for (const hal::MemoryKind kind :
       {hal::MemoryKind::device, hal::MemoryKind::pinned, hal::MemoryKind::managed}) {
    const bool readable =
        kind != hal::MemoryKind::device || device().has(hal::Feature::host_memory);
    if (!offers(kind) || !readable) continue;
    CAPTURE(hal::name(kind));
    const auto buffer = device().allocate<int>(1000, kind);
    std::iota(buffer.data(), buffer.data() + buffer.size(), 0);
    std::vector<int> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(stream.read(buffer) == expected);
  }
}

TEST_CASE("huge pages are a wish that never fails") {
  const hal::Stream stream = device().create_stream();
  hal::AllocationOptions options;
  options.huge_pages = true;
  for (const std::size_t bytes : {std::size_t{100}, (std::size_t{4} << 20U) + 1}) {
    CAPTURE(bytes);
    const hal::TypedBuffer<unsigned char> buffer(device().allocate_bytes(bytes, options));
    stream.fill(buffer, 9);
    CHECK(stream.read(buffer) == std::vector<unsigned char>(bytes, 9));
  }
}

TEST_CASE("views are checked against their bounds") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<std::uint32_t>(10, stream);
  CHECK(buffer.view(0, 10).size() == 10);
  CHECK(buffer.view(10, 0).empty());
  CHECK(buffer.view(3, 4).data() == buffer.data() + 3);
  CHECK(buffer.view(3, 4).slice(1, 2).data() == buffer.data() + 4);

  CHECK(outcome([&] { (void)buffer.view(0, 11); }) == "invalid_argument");
  CHECK(outcome([&] { (void)buffer.view(11, 0); }) == "invalid_argument");
  CHECK(outcome([&] { (void)buffer.view(1, huge); }) == "invalid_argument");
  CHECK(outcome([&] { (void)buffer.view(huge, 1); }) == "invalid_argument");
  CHECK(outcome([&] { (void)buffer.view(huge / 4 + 1, 1); }) == "invalid_argument");
  CHECK(outcome([&] { (void)buffer.view(3, 4).slice(0, 5); }) == "invalid_argument");
  CHECK(outcome([&] { (void)buffer.bytes().view(huge, 2); }) == "invalid_argument");
  CHECK(outcome([&] { (void)buffer.bytes().view().slice(39, 2); }) == "invalid_argument");
}

TEST_CASE("a view outside its bounds names what was asked for and what there is") {
  const hal::Stream stream = device().create_stream();
  const hal::Buffer buffer = device().allocate_bytes(1234, stream);
  const hal::Error error = conformance::error_of([&] { (void)buffer.view(567, 890); });
  CHECK_THAT(error.message(), ContainsSubstring("567"));
  CHECK_THAT(error.message(), ContainsSubstring("1234"));
}

TEST_CASE("a view made to keep its buffer alive does so, and its slices too") {
  const hal::Stream stream = device().create_stream();
  auto buffer = upload(stream, std::vector<int>{1, 2, 3, 4});
  hal::View<int> whole = buffer.keep_alive();
  hal::View<const int> part = whole.slice(1, 2);
  buffer = {};
  whole = {};
  const auto other = upload(stream, std::vector<int>{9, 9, 9, 9});
  CHECK(stream.read(part) == std::vector<int>{2, 3});
}

TEST_CASE("queued work keeps a buffer alive through its view") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  const hal::Stream other = device().create_stream();
  std::vector<int> out(1000);
  auto buffer = upload(stream, std::vector<int>(1000, 5));
  stream.synchronize();

  Gate gate(stream);
  stream.copy(out, buffer.keep_alive());
  buffer = {};
  const auto next = device().allocate<int>(1000, other);
  other.fill(next, 6);
  other.synchronize();
  gate.open();
  stream.synchronize();
  CHECK(out == std::vector<int>(1000, 5));
}

TEST_CASE("memory given back and taken again on one stream holds what each use wrote") {
  const hal::Stream stream = device().create_stream();
  constexpr std::size_t rounds = 500;
  std::vector<std::array<std::uint32_t, 64>> out(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto buffer = device().allocate<std::uint32_t>(64, stream);
    stream.fill(buffer, round);
    stream.copy(out[round], buffer);
  }
  stream.synchronize();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    REQUIRE(std::ranges::count(out[round], round) == 64);
  }
}

TEST_CASE("memory given back with work in flight is not handed to another stream") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream busy = device().create_stream();
  const hal::Stream other = device().create_stream();
  std::vector<int> out(1000);
  {
    const auto buffer = upload(busy, std::vector<int>(1000, 1));
    busy.synchronize();
    Gate gate(busy);
    busy.copy(out, buffer);
    {
      auto given_back = device().allocate<int>(1000, busy);
      busy.fill(given_back, 2);
      busy.copy(out, given_back);
    }
    for (int round = 0; round < 8; ++round) {
      const auto buffer_of_other = device().allocate<int>(1000, other);
      other.fill(buffer_of_other, 3);
    }
    other.synchronize();
    gate.open();
    busy.synchronize();
  }
  CHECK(out == std::vector<int>(1000, 2));
}

TEST_CASE("a buffer copied on another stream is used again only after that") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream home = device().create_stream();
  const hal::Stream other = device().create_stream();
  std::vector<int> out(1000);
  auto buffer = upload(home, std::vector<int>(1000, 1));
  home.synchronize();

  Gate gate(other);
  other.copy(out, buffer);
  buffer = {};
  for (int round = 0; round < 8; ++round) {
    const auto next = device().allocate<int>(1000, home);
    home.fill(next, 2);
  }
  home.synchronize();
  gate.open();
  other.synchronize();
  CHECK(out == std::vector<int>(1000, 1));
}

TEST_CASE("a use through a view counts when it is recorded") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream home = device().create_stream();
  const hal::Stream other = device().create_stream();
  std::vector<int> out(1000);
  auto buffer = upload(home, std::vector<int>(1000, 1));
  home.synchronize();

  Gate gate(other);
  other.copy(out, buffer.view());
  buffer.record_use(other);
  buffer = {};
  for (int round = 0; round < 8; ++round) {
    const auto next = device().allocate<int>(1000, home);
    home.fill(next, 2);
  }
  home.synchronize();
  gate.open();
  other.synchronize();
  CHECK(out == std::vector<int>(1000, 1));
}

TEST_CASE("memory usable from any stream is given back after all work that uses it") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  const hal::Stream stream = device().create_stream();
  std::vector<int> out(1000);
  auto buffer = device().allocate<int>(1000, hal::MemoryKind::device);
  stream.fill(buffer, 4);
  stream.synchronize();
  Gate gate(stream);
  stream.copy(out, buffer);
  buffer = {};
  const auto next = device().allocate<int>(1000, hal::MemoryKind::device);
  const hal::Stream other = device().create_stream();
  other.fill(next, 5);
  other.synchronize();
  gate.open();
  stream.synchronize();
  CHECK(out == std::vector<int>(1000, 4));
}

TEST_CASE("memory of a device that has memory information is counted") {
  try {
    const hal::MemoryInfo info = device().memory_info();
    CHECK(info.total_bytes > 0);
    CHECK(info.free_bytes <= info.total_bytes);
  } catch (const hal::Error& error) {
    CHECK(error.code() == hal::Errc::unsupported);
    conformance::not_applicable("the device does not tell its memory");
  }
}
