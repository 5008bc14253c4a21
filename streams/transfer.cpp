// SPDX-License-Identifier: Apache-2.0
#include "require.hpp"

#include "spi/failure.hpp"

#include <hal/detail/closure.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

/// Copies and fills: what can be checked before a backend is asked.
namespace hal {

namespace {

using detail::DeviceState;
using detail::StreamState;

[[noreturn]] void refuse(const char* operation, const StreamState& stream, std::string message) {
  throw Error(Errc::invalid_argument, operation, std::move(message), stream.device().id());
}

/// A box with its distances, packed where the caller left them out.
struct Layout {
  std::size_t row = 0;
  std::size_t plane = 0;
  std::size_t end = 0;  // bytes from the first to one past the last
};

/// Throws when rows or planes overlap, or when it does not lie inside `memory`.
Layout lay_out(const char* operation, const StreamState& stream, const char* which,
               const MemoryRef& memory, Pitch pitch, Box box) {
  Layout layout;
  layout.row = pitch.row == 0 ? box.width : pitch.row;
  std::size_t packed_plane = 0;
  bool overflow = __builtin_mul_overflow(layout.row, box.height, &packed_plane);
  layout.plane = pitch.plane == 0 ? packed_plane : pitch.plane;
  if (layout.row < box.width) {
    refuse(operation, stream,
           std::string("the ") + which + "'s rows lie " + std::to_string(layout.row) +
               " bytes apart and are " + std::to_string(box.width) + " bytes wide: they overlap");
  }
  if (overflow || (box.depth > 1 && layout.plane < packed_plane)) {
    refuse(operation, stream,
           std::string("the ") + which + "'s planes overlap: they need at least " +
               std::to_string(box.height) + " rows of " + std::to_string(layout.row) + " bytes");
  }
  std::size_t planes = 0;
  std::size_t rows = 0;
  overflow = __builtin_mul_overflow(layout.plane, box.depth - 1, &planes) ||
             __builtin_mul_overflow(layout.row, box.height - 1, &rows) ||
             __builtin_add_overflow(planes, rows, &layout.end) ||
             __builtin_add_overflow(layout.end, box.width, &layout.end);
  if (overflow || layout.end > memory.size_bytes) {
    refuse(operation, stream,
           "the box does not fit the " + std::string(which) + ": it ends " +
               (overflow ? "beyond every address" : "at byte " + std::to_string(layout.end)) +
               ", and there are " + std::to_string(memory.size_bytes));
  }
  return layout;
}

void check_address(const char* operation, const StreamState& stream, const char* which,
                   const MemoryRef& memory) {
  if (memory.data == nullptr) {
    refuse(operation, stream, std::string("the ") + which + " has no address");
  }
}

/// Where an end lies, seen from the stream's device; sets `peer` for another device of the backend.
std::int32_t place(const char* operation, const StreamState& stream, const MemoryRef& memory,
                   hal_device_handle& peer) {
  const DeviceState& device = stream.device();
  if (memory.device == nullptr) return HAL_PLACE_HOST;
  if (memory.device == &device) return HAL_PLACE_DEVICE;
  if (memory.device->backend() == device.backend()) {
    if (peer != nullptr && peer != memory.device->handle()) {
      refuse(operation, stream,
             "both ends lie on other devices: enqueue the copy on a stream of one");
    }
    peer = memory.device->handle();
    return HAL_PLACE_PEER;
  }
  if (memory.device->has(Feature::host_memory)) return HAL_PLACE_HOST;
  throw Error(Errc::unsupported, operation,
              "memory of " + memory.device->id() +
                  " cannot be reached from here: copy it to host memory first, on a stream of its "
                  "own device",
              device.id());
}

bool overlap(const MemoryRef& a, std::size_t a_bytes, const MemoryRef& b, std::size_t b_bytes) {
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a.data);
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b.data);
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

/// Gives the backend a copy that has been checked.
void submit(StreamState& stream, const char* operation, const MemoryRef& destination,
            const Layout& destination_layout, const MemoryRef& source, const Layout& source_layout,
            Box box, const std::source_location& where) {
  check_address(operation, stream, "destination", destination);
  check_address(operation, stream, "source", source);
  hal_copy copy{};
  copy.struct_size = sizeof(copy);
  copy.destination = destination.data;
  copy.source = source.data;
  copy.width = box.width;
  copy.height = box.height;
  copy.depth = box.depth;
  copy.destination_pitch = destination_layout.row;
  copy.destination_slice = destination_layout.plane;
  copy.source_pitch = source_layout.row;
  copy.source_slice = source_layout.plane;
  copy.destination_place = place(operation, stream, destination, copy.peer);
  copy.source_place = place(operation, stream, source, copy.peer);
  copy.site = detail::site_of(where, nullptr);
  spi::FailureBuffer failure;
  spi::check(stream.device().api().stream_copy(stream.handle(), &copy, &failure), failure,
             operation, stream.device().id());
  detail::note_enqueued(stream, operation);
}

struct Pattern {
  const void* data;
  std::size_t bytes;
};

/// Checks a fill and gives it to the backend.
void submit_fill(StreamState& stream, const char* operation, const MemoryRef& destination,
                 Pitch pitch, Box box, Pattern pattern, const std::source_location& where) {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return;
  if (box.width % pattern.bytes != 0) {
    refuse(operation, stream,
           "the box is " + std::to_string(box.width) +
               " bytes wide, not a multiple of the value's " + std::to_string(pattern.bytes));
  }
  const Layout layout = lay_out(operation, stream, "destination", destination, pitch, box);
  check_address(operation, stream, "destination", destination);
  hal_device_handle peer = nullptr;
  if (place(operation, stream, destination, peer) != HAL_PLACE_DEVICE) {
    refuse(operation, stream, "a stream fills memory of its own device only");
  }
  hal_fill fill{};
  fill.struct_size = sizeof(fill);
  fill.destination = destination.data;
  fill.width = box.width;
  fill.height = box.height;
  fill.depth = box.depth;
  fill.pitch = layout.row;
  fill.slice = layout.plane;
  std::memcpy(fill.pattern, pattern.data, pattern.bytes);
  fill.pattern_bytes = pattern.bytes;
  fill.site = detail::site_of(where, nullptr);
  spi::FailureBuffer failure;
  spi::check(stream.device().api().stream_fill(stream.handle(), &fill, &failure), failure,
             operation, stream.device().id());
  detail::note_enqueued(stream, operation);
}

}  // namespace

void Stream::enqueue_copy(const MemoryRef& destination, const MemoryRef& source, Owner owner,
                          const std::source_location& where) const {
  constexpr const char* operation = "Stream::copy";
  StreamState& state = detail::require(*this, operation);
  if (destination.size_bytes != source.size_bytes) {
    refuse(operation, state,
           "the destination has " + std::to_string(destination.size_bytes) +
               " bytes and the source " + std::to_string(source.size_bytes) +
               ": give both the same size, with a view of part of the larger one");
  }
  if (source.size_bytes == 0) return;
  if (overlap(destination, destination.size_bytes, source, source.size_bytes)) {
    refuse(operation, state, "destination and source overlap: copy through a buffer in between");
  }
  const Layout packed{source.size_bytes, source.size_bytes, source.size_bytes};
  submit(state, operation, destination, packed, source, packed, {source.size_bytes, 1, 1}, where);
  hold({&destination, &source}, std::move(owner), where);
}

void Stream::enqueue_copy_box(const MemoryRef& destination, Pitch destination_pitch,
                              const MemoryRef& source, Pitch source_pitch, Box box, Owner owner,
                              const std::source_location& where) const {
  constexpr const char* operation = "Stream::copy_box";
  StreamState& state = detail::require(*this, operation);
  if (box.width == 0 || box.height == 0 || box.depth == 0) return;
  const Layout to = lay_out(operation, state, "destination", destination, destination_pitch, box);
  const Layout from = lay_out(operation, state, "source", source, source_pitch, box);
  // Interleaved boxes of one memory share no byte only if they share no row; that is left to the
  // caller, as only plain overlap can be told cheaply.
  if (box.height == 1 && box.depth == 1 && overlap(destination, to.end, source, from.end)) {
    refuse(operation, state, "destination and source overlap: copy through a buffer in between");
  }
  submit(state, operation, destination, to, source, from, box, where);
  hold({&destination, &source}, std::move(owner), where);
}

void Stream::enqueue_fill(const MemoryRef& destination, const void* pattern,
                          std::size_t pattern_bytes, const std::source_location& where) const {
  const Box whole{destination.size_bytes, 1, 1};
  submit_fill(detail::require(*this, "Stream::fill"), "Stream::fill", destination, {}, whole,
              {pattern, pattern_bytes}, where);
  hold({&destination}, nullptr, where);
}

void Stream::enqueue_fill_box(const MemoryRef& destination, Pitch pitch, Box box,
                              const void* pattern, std::size_t pattern_bytes,
                              const std::source_location& where) const {
  submit_fill(detail::require(*this, "Stream::fill_box"), "Stream::fill_box", destination, pitch,
              box, {pattern, pattern_bytes}, where);
  hold({&destination}, nullptr, where);
}

void Stream::hold(std::initializer_list<const MemoryRef*> ends, Owner owner,
                  const std::source_location& where) const {
  try {
    for (const MemoryRef* end : ends) {
      if (end->buffer != nullptr) end->buffer->record_use(*this);
      if (end->keep != nullptr) keep(end->keep, where);
    }
    if (owner != nullptr) keep(std::move(owner), where);
  } catch (...) {
    await_work();
    throw;
  }
}

void Stream::read_into(const MemoryRef& destination, const MemoryRef& source,
                       const std::source_location& where) const {
  enqueue_copy(destination, source, nullptr, where);
  detail::require(*this, "Stream::read").synchronize(HAL_TIMEOUT_INFINITE, "Stream::read");
}

}  // namespace hal
