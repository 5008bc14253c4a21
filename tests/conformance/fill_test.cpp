// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using conformance::device;
using conformance::outcome;
using conformance::upload;

namespace {

using Bytes = std::vector<unsigned char>;

/// 16 bytes, all different.
struct Sixteen {
  std::array<std::uint32_t, 4> words{0x01020304, 0x05060708, 0x090A0B0C, 0x0D0E0F10};
  friend bool operator==(const Sixteen&, const Sixteen&) = default;
};

/// Sets a part of a larger buffer and looks at all of it.
template <typename T>
void check_part(std::size_t before, std::size_t count, std::size_t after, T value) {
  const hal::Stream stream = device().create_stream();
  T other{};
  std::memset(static_cast<void*>(&other), 0x55, sizeof(other));
  std::vector<T> expected(before + count + after, other);
  const auto buffer = upload(stream, expected);
  stream.fill(buffer.view(before, count), value);
  for (std::size_t index = before; index < before + count; ++index)
    expected[index] = value;
  const std::vector<T> got = stream.read(buffer);
  REQUIRE(std::memcmp(got.data(), expected.data(), expected.size() * sizeof(T)) == 0);
}

template <typename T>
void check_sizes(T value) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 5U, 16U, 63U, 64U, 1000U, 10007U}) {
    for (const std::size_t before : {0U, 1U, 3U}) {
      CAPTURE(sizeof(T), count, before);
      check_part<T>(before, count, 5, value);
    }
  }
}

}  // namespace

TEST_CASE("elements of 1, 2, 4, 8 and 16 bytes fill exactly their place") {
  check_sizes<std::uint8_t>(0x81);
  check_sizes<std::uint16_t>(0x8102);
  check_sizes<std::uint32_t>(0x81020304);
  check_sizes<std::uint64_t>(0x8102030405060708);
  check_sizes<Sixteen>({});
  check_sizes<float>(-1.5F);
  check_sizes<double>(3.25);
}

TEST_CASE("fills larger than any cache are exact") {
  const hal::Stream stream = device().create_stream();
  const std::size_t count = (std::size_t{16} << 20U) + 3;
  const auto buffer = device().allocate<std::uint32_t>(count, stream);
  stream.fill(buffer, 0xDEADBEEF);
  const std::vector<std::uint32_t> back = stream.read(buffer);
  std::size_t wrong = 0;
  for (const std::uint32_t value : back)
    wrong += value == 0xDEADBEEF ? 0U : 1U;
  CHECK(wrong == 0);
}

TEST_CASE("a later fill of a stream wins over an earlier one") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(100000, stream);
  for (int value = 0; value < 50; ++value)
    stream.fill(buffer, value);
  CHECK(stream.read(buffer) == std::vector<int>(100000, 49));
}

TEST_CASE("boxes are filled and nothing else is") {
  const hal::Stream stream = device().create_stream();
  const std::array<hal::Box, 5> boxes{{{4, 1, 1}, {8, 5, 1}, {64, 7, 3}, {4, 1, 9}, {1024, 33, 2}}};
  for (const hal::Box& box : boxes) {
    for (const std::size_t gap : {0U, 4U, 20U}) {
      CAPTURE(box.width, box.height, box.depth, gap);
      const hal::Pitch pitch{box.width + gap, (box.width + gap) * (box.height + 1)};
      Bytes expected(pitch.plane * box.depth, 0x55);
      const auto buffer = upload(stream, expected);
      const std::uint32_t value = 0x01020304;
      stream.fill_box(buffer, pitch, box, value);
      for (std::size_t plane = 0; plane < box.depth; ++plane) {
        for (std::size_t row = 0; row < box.height; ++row) {
          for (std::size_t byte = 0; byte < box.width; byte += sizeof(value)) {
            std::memcpy(expected.data() + plane * pitch.plane + row * pitch.row + byte, &value,
                        sizeof(value));
          }
        }
      }
      REQUIRE(stream.read(buffer) == expected);
    }
  }
}

TEST_CASE("a box of fills with no bytes fills nothing") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = upload(stream, Bytes(64, 1));
  for (const hal::Box box : {hal::Box{0, 4, 4}, hal::Box{4, 0, 4}, hal::Box{4, 4, 0}}) {
    stream.fill_box(buffer, {}, box, std::uint8_t{2});
  }
  CHECK(stream.read(buffer) == Bytes(64, 1));
}

TEST_CASE("a fill that does not fit its memory or its element is an invalid argument") {
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<unsigned char>(63, stream);
  CHECK(outcome([&] {
          stream.fill_box(buffer, {16, 0}, {16, 4, 1}, std::uint8_t{1});
        }) == "invalid_argument");
  CHECK(outcome([&] {
          stream.fill_box(buffer, {7, 0}, {8, 2, 1}, std::uint8_t{1});
        }) == "invalid_argument");
  CHECK(outcome([&] {
          stream.fill_box(buffer, {8, 15}, {8, 2, 2}, std::uint8_t{1});
        }) == "invalid_argument");
  CHECK(outcome([&] {
          stream.fill_box(buffer, {}, {huge, huge, huge}, std::uint8_t{1});
        }) == "invalid_argument");
  CHECK(outcome([&] {
          stream.fill_box(buffer, {}, {6, 1, 1}, std::uint32_t{1});
        }) == "invalid_argument");
}
