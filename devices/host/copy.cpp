// SPDX-License-Identifier: Apache-2.0
#include "copy.hpp"

#include "stream_store.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace hal::host {

namespace {

/// Below, one thread is done before a second has come.
constexpr std::size_t serial_bytes = std::size_t{128} * 1024;
/// What a thread takes at a time: long enough for the hardware's prefetch, short enough to share.
constexpr std::size_t piece_bytes = std::size_t{256} * 1024;

/// Rows that touch are one row, planes that touch are one plane: most copies become one line.
struct Shape {
  std::size_t width, height, depth;
};

bool packed(std::size_t pitch, std::size_t width) noexcept { return pitch == width; }

Shape fold(Shape shape, std::array<std::size_t, 2> pitch,
           std::array<std::size_t, 2> slice) noexcept {
  const std::size_t rows = shape.height;
  if (rows == 1 || (packed(pitch[0], shape.width) && packed(pitch[1], shape.width))) {
    const std::size_t plane = shape.width * rows;
    if (shape.depth == 1 || (packed(slice[0], plane) && packed(slice[1], plane))) {
      return {plane * shape.depth, 1, 1};
    }
    return {plane, 1, shape.depth};
  }
  return shape;
}

/// Runs `line(plane, row, first, count)` over all bytes of the shape, on all threads if it is
/// large.
template <typename Line>
void for_each_line(HostExecutor& loops, const Shape& shape, Line&& line) noexcept {
  const std::size_t rows = shape.height * shape.depth;
  const std::size_t pieces = (shape.width + piece_bytes - 1) / piece_bytes;
  struct Context {
    const Shape& shape;
    std::size_t pieces;
    Line& line;
  } context{shape, pieces, line};
  const HostExecutor::Body body{
      [](void* opaque, std::size_t begin, std::size_t end) noexcept {
        const Context& here = *static_cast<Context*>(opaque);
        while (begin < end) {
          const std::size_t row = begin / here.pieces;
          const std::size_t first = begin % here.pieces * piece_bytes;
          const std::size_t units = std::min(end - begin, here.pieces - begin % here.pieces);
          const std::size_t count = std::min(units * piece_bytes, here.shape.width - first);
          here.line(row / here.shape.height, row % here.shape.height, first, count);
          begin += units;
        }
      },
      &context};
  const std::size_t units = rows * pieces;
  if (shape.width * rows <= serial_bytes) {
    body.run(body.context, 0, units);
  } else {
    const std::size_t grain =
        std::max<std::size_t>(1, serial_bytes / std::min(shape.width, piece_bytes));
    loops.parallel_for(units, grain, body);
  }
}

/// Writes the pattern over a line that starts at a multiple of the pattern.
void fill_line(std::byte* to, std::size_t count, const hal_fill& fill) noexcept {
  if (fill.pattern_bytes == 1) {
    std::memset(to, fill.pattern[0], count);
    return;
  }
  // A block of whole patterns, copied: the compiler's memcpy of a constant size is vector code.
  constexpr std::size_t block_bytes = 64;
  alignas(64) std::byte block[block_bytes];
  for (std::size_t at = 0; at < block_bytes; at += fill.pattern_bytes) {
    std::memcpy(block + at, fill.pattern, fill.pattern_bytes);
  }
  std::size_t at = 0;
  for (; at + block_bytes <= count; at += block_bytes)
    std::memcpy(to + at, block, block_bytes);
  std::memcpy(to + at, block, count - at);
}

}  // namespace

void copy_box(HostExecutor& loops, const hal_copy& copy) noexcept {
  const Shape shape =
      fold({copy.width, copy.height, copy.depth}, {copy.destination_pitch, copy.source_pitch},
           {copy.destination_slice, copy.source_slice});
  auto* const to = static_cast<std::byte*>(copy.destination);
  const auto* const from = static_cast<const std::byte*>(copy.source);
  const bool past_caches = shape.width * shape.height * shape.depth >= streaming_threshold();
  for_each_line(loops, shape,
                [&](std::size_t plane, std::size_t row, std::size_t first, std::size_t count) {
                  std::byte* const line_to =
                      to + plane * copy.destination_slice + row * copy.destination_pitch + first;
                  const std::byte* const line_from =
                      from + plane * copy.source_slice + row * copy.source_pitch + first;
                  if (past_caches) {
                    stream_copy(line_to, line_from, count);
                  } else {
                    std::memcpy(line_to, line_from, count);
                  }
                });
}

void fill_box(HostExecutor& loops, const hal_fill& fill) noexcept {
  const Shape shape = fold({fill.width, fill.height, fill.depth}, {fill.pitch, fill.pitch},
                           {fill.slice, fill.slice});
  auto* const to = static_cast<std::byte*>(fill.destination);
  for_each_line(loops, shape,
                [&](std::size_t plane, std::size_t row, std::size_t first, std::size_t count) {
                  fill_line(to + plane * fill.slice + row * fill.pitch + first, count, fill);
                });
}

}  // namespace hal::host
