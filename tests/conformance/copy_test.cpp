// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using conformance::device;
using conformance::Gate;
using conformance::noise;
using conformance::outcome;
using conformance::upload;

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

struct Shape {
  hal::Box box;
  hal::Pitch destination;
  hal::Pitch source;
};

/// Bytes a box with these distances reaches over.
std::size_t reach(hal::Box box, hal::Pitch pitch) {
  return (box.depth - 1) * pitch.plane + (box.height - 1) * pitch.row + box.width;
}

/// The plainest copy of a box there is.
void reference_copy(Bytes& destination, const Bytes& source, const Shape& shape) {
  for (std::size_t plane = 0; plane < shape.box.depth; ++plane) {
    for (std::size_t row = 0; row < shape.box.height; ++row) {
      std::memcpy(
          destination.data() + plane * shape.destination.plane + row * shape.destination.row,
          source.data() + plane * shape.source.plane + row * shape.source.row, shape.box.width);
    }
  }
}

/// Boxes from one byte to some hundred kilobytes: packed, with gaps on either side, thin and flat.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  const std::array<hal::Box, 9> boxes{{{1, 1, 1},
                                       {7, 3, 1},
                                       {64, 16, 1},
                                       {1, 200, 1},
                                       {100, 1, 5},
                                       {33, 5, 7},
                                       {1, 1, 64},
                                       {4096, 9, 2},
                                       {1001, 37, 3}}};
  for (const hal::Box& box : boxes) {
    for (const std::size_t gap : {0U, 1U, 29U}) {
      for (const std::size_t rows_between : {0U, 2U}) {
        const hal::Pitch packed{box.width, box.width * box.height};
        const std::size_t row = box.width + gap;
        const hal::Pitch wide{row, row * (box.height + rows_between)};
        all.push_back({box, wide, packed});
        all.push_back({box, packed, wide});
        all.push_back({box, wide, {row + 3, (row + 3) * (box.height + 1)}});
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("bytes come back as they were sent, for many sizes and offsets") {
  const hal::Stream stream = device().create_stream();
  const Bytes source = noise(70000, 1);
  for (const std::size_t size : {1U, 2U, 3U, 15U, 16U, 17U, 63U, 64U, 65U, 1000U, 4095U, 65537U}) {
    for (const std::size_t offset : {0U, 1U, 7U, 64U}) {
      CAPTURE(size, offset);
      const auto buffer = upload(stream, Bytes(size + offset + 9, 0xAA));
      stream.copy(buffer.view(offset, size), std::span(source).subspan(offset, size));
      const Bytes back = stream.read(buffer);
      Bytes expected(size + offset + 9, 0xAA);
      std::memcpy(expected.data() + offset, source.data() + offset, size);
      REQUIRE(back == expected);
    }
  }
}

TEST_CASE("copies within the device are exact at odd offsets") {
  const hal::Stream stream = device().create_stream();
  const Bytes values = noise(5000, 2);
  const auto source = upload(stream, values);
  const auto destination = upload(stream, Bytes(5000, 0));
  stream.copy(destination.view(13, 4001), source.view(7, 4001));
  Bytes expected(5000, 0);
  std::memcpy(expected.data() + 13, values.data() + 7, 4001);
  CHECK(stream.read(destination) == expected);
}

TEST_CASE("disjoint parts of one buffer may be copied onto each other") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = upload(stream, std::vector<int>{1, 2, 3, 4, 0, 0, 0, 0});
  stream.copy(buffer.view(4, 4), buffer.view(0, 4));
  CHECK(stream.read(buffer) == std::vector<int>{1, 2, 3, 4, 1, 2, 3, 4});
}

TEST_CASE("copies larger than any cache are exact") {
  const hal::Stream stream = device().create_stream();
  const std::size_t size = (std::size_t{64} << 20U) + 4097;
  const Bytes values = noise(size, 3);
  const auto first = device().allocate<unsigned char>(size, stream);
  const auto second = device().allocate<unsigned char>(size + 3, stream);
  stream.copy(first, values);
  stream.copy(second.view(3, size), first);
  Bytes back(size);
  stream.copy(back, second.view(3, size));
  stream.synchronize();
  CHECK(std::memcmp(back.data(), values.data(), size) == 0);
}

TEST_CASE("buffers, views and contiguous host ranges of any kind can be copied") {
  const hal::Stream stream = device().create_stream();
  const std::array<int, 3> array{1, 2, 3};
  const int plain[3] = {4, 5, 6};
  const auto buffer = device().allocate<int>(3, stream);
  stream.copy(buffer, array);
  CHECK(stream.read(buffer) == std::vector<int>{1, 2, 3});
  stream.copy(buffer.view(), plain);
  CHECK(stream.read(hal::View<const int>(buffer.view())) == std::vector<int>{4, 5, 6});
  std::array<int, 3> out{};
  stream.copy(std::span(out), buffer.bytes());
  stream.synchronize();
  CHECK(out == std::array<int, 3>{4, 5, 6});
}

TEST_CASE("boxes between host and device are byte-exact and touch nothing else") {
  const hal::Stream stream = device().create_stream();
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.box.width, shape.box.height, shape.box.depth, shape.destination.row,
            shape.destination.plane, shape.source.row, shape.source.plane);
    const Bytes source = noise(reach(shape.box, shape.source), 4);
    Bytes expected = noise(reach(shape.box, shape.destination), 5);
    const auto on_device = upload(stream, expected);
    Bytes on_host = expected;
    reference_copy(expected, source, shape);

    stream.copy_box(on_device, shape.destination, source, shape.source, shape.box);
    REQUIRE(stream.read(on_device) == expected);

    const auto device_source = upload(stream, source);
    stream.copy_box(on_host, shape.destination, device_source, shape.source, shape.box);
    stream.synchronize();
    REQUIRE(on_host == expected);
  }
}

TEST_CASE("boxes within the device are byte-exact and touch nothing else") {
  const hal::Stream stream = device().create_stream();
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.box.width, shape.box.height, shape.box.depth, shape.destination.row,
            shape.destination.plane, shape.source.row, shape.source.plane);
    const Bytes values = noise(reach(shape.box, shape.source), 6);
    Bytes expected = noise(reach(shape.box, shape.destination), 7);
    const auto source = upload(stream, values);
    const auto destination = upload(stream, expected);
    reference_copy(expected, values, shape);
    stream.copy_box(destination, shape.destination, source, shape.source, shape.box);
    REQUIRE(stream.read(destination) == expected);
  }
}

TEST_CASE("a pitch of zero means packed") {
  const hal::Stream stream = device().create_stream();
  const Bytes values = noise(3 * 4 * 5, 8);
  const auto packed = device().allocate<unsigned char>(values.size(), stream);
  stream.copy_box(packed, {}, values, {}, {3, 4, 5});
  CHECK(stream.read(packed) == values);
}

TEST_CASE("a box with no bytes copies nothing") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = upload(stream, Bytes(64, 1));
  const Bytes source(64, 2);
  for (const hal::Box box : {hal::Box{0, 4, 4}, hal::Box{4, 0, 4}, hal::Box{4, 4, 0}}) {
    stream.copy_box(buffer, {}, source, {}, box);
  }
  CHECK(stream.read(buffer) == Bytes(64, 1));
}

TEST_CASE("ends of different size are an invalid argument that names both sizes") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<unsigned char>(123, stream);
  std::vector<unsigned char> host(456);
  const hal::Error to_device = conformance::error_of([&] { stream.copy(buffer, host); });
  CHECK(to_device.code() == hal::Errc::invalid_argument);
  CHECK(to_device.device() == device().id());
  CHECK_THAT(to_device.message(), ContainsSubstring("123"));
  CHECK_THAT(to_device.message(), ContainsSubstring("456"));
  CHECK(outcome([&] { stream.copy(host, buffer); }) == "invalid_argument");
  CHECK(outcome([&] { stream.copy(buffer.view(0, 10), buffer.view(20, 11)); }) ==
        "invalid_argument");
  stream.synchronize();
}

TEST_CASE("a box that fits exactly is copied and one byte more is an invalid argument") {
  const hal::Stream stream = device().create_stream();
  const hal::Box box{10, 4, 2};
  const hal::Pitch pitch{16, 80};
  const Bytes source = noise(box.width * box.height * box.depth, 9);
  const auto exact = device().allocate<unsigned char>(reach(box, pitch), stream);
  const auto less = device().allocate<unsigned char>(reach(box, pitch) - 1, stream);
  CHECK(outcome([&] { stream.copy_box(exact, pitch, source, {}, box); }) == "ok");
  CHECK(outcome([&] { stream.copy_box(less, pitch, source, {}, box); }) == "invalid_argument");
  Bytes host(source.size());
  CHECK(outcome([&] { stream.copy_box(host, {}, exact, pitch, box); }) == "ok");
  CHECK(outcome([&] { stream.copy_box(host, {}, less, pitch, box); }) == "invalid_argument");
  stream.synchronize();
}

TEST_CASE("rows or planes that overlap are an invalid argument") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<unsigned char>(4096, stream);
  const Bytes source(4096);
  const hal::Box box{16, 4, 3};
  CHECK(outcome([&] { stream.copy_box(buffer, {15, 0}, source, {}, box); }) == "invalid_argument");
  CHECK(outcome([&] { stream.copy_box(buffer, {}, source, {15, 0}, box); }) == "invalid_argument");
  CHECK(outcome([&] { stream.copy_box(buffer, {16, 63}, source, {}, box); }) == "invalid_argument");
  CHECK(outcome([&] { stream.copy_box(buffer, {}, source, {20, 64}, box); }) == "invalid_argument");
}

TEST_CASE("boxes whose size overflows are an invalid argument") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<unsigned char>(64, stream);
  const Bytes source(64);
  for (const hal::Box box : {hal::Box{huge, huge, huge}, hal::Box{2, huge, 2}, hal::Box{2, 2, huge},
                             hal::Box{huge / 2 + 1, 2, 1}}) {
    CAPTURE(box.width, box.height, box.depth);
    CHECK(outcome([&] { stream.copy_box(buffer, {}, source, {}, box); }) == "invalid_argument");
  }
  CHECK(outcome([&] {
          stream.copy_box(buffer, {huge, 0}, source, {}, {2, 2, 1});
        }) == "invalid_argument");
  CHECK(outcome([&] {
          stream.copy_box(buffer, {2, huge}, source, {}, {2, 2, 2});
        }) == "invalid_argument");
}

TEST_CASE("an owner is kept until its copy is done, then let go") {
  const hal::Stream stream = device().create_stream();
  auto owner = std::make_shared<std::vector<int>>(1000, 3);
  const std::weak_ptr<const void> watch = owner;
  const auto buffer = device().allocate<int>(1000, stream);
  if (conformance::can_hold_up()) {
    Gate gate(stream);
    stream.copy(buffer, *owner, owner);
    owner.reset();
    CHECK(!watch.expired());
    gate.open();
  } else {
    stream.copy(buffer, *owner, owner);
    owner.reset();
  }
  CHECK(stream.read(buffer) == std::vector<int>(1000, 3));
  conformance::wait_until([&] { return watch.expired(); });
}

TEST_CASE("an owner of a box is kept until its copy is done, then let go") {
  const hal::Stream stream = device().create_stream();
  auto owner = std::make_shared<Bytes>(noise(100 * 10, 10));
  const Bytes expected = *owner;
  const std::weak_ptr<const void> watch = owner;
  const auto buffer = device().allocate<unsigned char>(1000, stream);
  if (conformance::can_hold_up()) {
    Gate gate(stream);
    stream.copy_box(buffer, {}, *owner, {}, {100, 10, 1}, owner);
    owner.reset();
    CHECK(!watch.expired());
    gate.open();
  } else {
    stream.copy_box(buffer, {}, *owner, {}, {100, 10, 1}, owner);
    owner.reset();
  }
  CHECK(stream.read(buffer) == expected);
  conformance::wait_until([&] { return watch.expired(); });
}

TEST_CASE("reading waits for what was enqueued before on its stream") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(1 << 16, stream);
  for (int round = 0; round < 20; ++round) {
    stream.fill(buffer, round);
    const std::vector<int> back = stream.read(buffer);
    REQUIRE(back.front() == round);
    REQUIRE(back.back() == round);
  }
}
