// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/buffer.hpp>
#include <hal/device.hpp>
#include <hal/event.hpp>
#include <hal/export.hpp>
#include <hal/launch.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace hal {

struct StreamOptions {
  /// 0 is normal, below more urgent, above less. Ignored without `Feature::priorities`.
  int priority = 0;
};

enum class StreamStatus { busy, idle };

/// Keeps something alive until a copy is done: the `std::shared_ptr` that owns its host memory.
using Owner = std::shared_ptr<const void>;

/// One end of a copy or fill: device memory or host memory, in bytes. Made from buffers, views and
/// contiguous host ranges.
struct MemoryRef {
  void* data = nullptr;
  std::size_t size_bytes = 0;
  detail::DeviceState* device = nullptr;            ///< null: host memory
  const Buffer* buffer = nullptr;                   ///< told of the use, when known
  std::shared_ptr<const detail::BufferState> keep;  ///< kept until the work is done, when asked
};

/// Distances of a box of memory, in bytes: from row to row and from plane to plane. 0: packed.
struct Pitch {
  std::size_t row = 0;
  std::size_t plane = 0;
};

/// Size of a box of memory: `width` in bytes, `height` rows, `depth` planes.
struct Box {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
};

namespace detail {

class StreamState;

template <typename T>
MemoryRef memory_ref(const TypedBuffer<T>& buffer) noexcept {
  return {buffer.data(), buffer.size_bytes(), buffer.view().bytes().device_state(), &buffer.bytes(),
          nullptr};
}
template <typename T>
MemoryRef memory_ref(const View<T>& view) noexcept {
  return {const_cast<std::remove_const_t<T>*>(view.data()), view.size_bytes(),
          view.bytes().device_state(), nullptr, view.bytes().owner()};
}
inline MemoryRef memory_ref(const Buffer& buffer) noexcept {
  return {buffer.data(), buffer.size_bytes(), buffer.view().device_state(), &buffer, nullptr};
}
inline MemoryRef memory_ref(const BufferView& view) noexcept {
  return {view.data(), view.size_bytes(), view.device_state(), nullptr, view.owner()};
}
template <std::ranges::contiguous_range Range>
requires std::is_trivially_copyable_v<std::ranges::range_value_t<Range>> MemoryRef
memory_ref(Range&& range)
noexcept {
  using T = std::ranges::range_value_t<Range>;
  return {const_cast<T*>(std::ranges::data(range)), std::ranges::size(range) * sizeof(T), nullptr,
          nullptr, nullptr};
}

template <typename T>
concept MemoryLike = requires(T&& memory) {
  memory_ref(memory);
};

template <typename T>
struct ElementOf {
  using type = void;
};
template <typename T>
requires requires { typename T::value_type; }
struct ElementOf<T> {
  using type = std::remove_const_t<typename T::value_type>;
};
template <typename T, std::size_t N>
struct ElementOf<T[N]> {
  using type = std::remove_const_t<T>;
};
template <typename T>
using element_of = typename ElementOf<std::remove_cvref_t<T>>::type;

/// Two ends match when one is untyped or both hold the same type.
template <typename A, typename B>
inline constexpr bool same_elements =
    std::is_void_v<element_of<A>> || std::is_void_v<element_of<B>> ||
    std::is_same_v<element_of<A>, element_of<B>>;

template <std::size_t Size>
inline constexpr bool fills_by = Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16;

template <typename T>
inline constexpr bool writable = true;
template <typename T>
inline constexpr bool writable<View<const T>> = false;
template <typename T, std::size_t N>
inline constexpr bool writable<std::span<const T, N>> = false;

}  // namespace detail

/// An in-order queue of work on a device. Work of one stream runs one piece after the other; work
/// of different streams may run at the same time, ordered only by events. There is no default
/// stream.
///
/// Everything but `synchronize` and `read` may return before the work is done, and throws only for
/// what can be told at once (`invalid_argument`, `unsupported`, `invalid_state`, `out_of_memory`).
/// The failure of enqueued work is a property of the stream: later work is dropped, and every wait
/// on the stream, and on whatever waited for it, throws the first cause until `reset_error`.
///
/// A cheap handle: copies name the same stream. Destroying the last does not wait; what is enqueued
/// still runs. Usable from any thread: two threads that enqueue get some order.
class HAL_API Stream {
 public:
  /// Names no stream; using it throws `invalid_state`.
  Stream() noexcept = default;

  [[nodiscard]] Device device() const;
  /// Never repeated in a process, unlike native handles.
  [[nodiscard]] std::uint64_t id() const;
  [[nodiscard]] int priority() const;

  /// Copies all of `source` to `destination`: buffers, views, or contiguous host ranges (vector,
  /// span, array) of one element type and equal size, else `invalid_argument` naming both sizes.
  /// They must not overlap. Between devices of different backends one must offer
  /// `Feature::host_memory`.
  ///
  /// Host memory must stay as it is until the copy is done: wait, or pass the `owner` to be kept
  /// alive until then. On a GPU, a copy from or to host memory that is not pinned
  /// (`MemoryKind::pinned`) may wait until it is done; on the host it never does.
  template <detail::MemoryLike Destination, detail::MemoryLike Source>
  void copy(Destination&& destination, Source&& source, Owner owner = nullptr,
            std::source_location where = std::source_location::current()) const {
    static_assert(detail::same_elements<Destination, Source>, "both ends hold the same type");
    static_assert(detail::writable<std::remove_cvref_t<Destination>>, "the destination is const");
    enqueue_copy(detail::memory_ref(destination), detail::memory_ref(source), std::move(owner),
                 where);
  }

  /// Copies a box of bytes between two pitched memories, 2- or 3-dimensional. Throws
  /// `invalid_argument` when the box does not fit either or rows overlap.
  template <detail::MemoryLike Destination, detail::MemoryLike Source>
  void copy_box(Destination&& destination, Pitch destination_pitch, Source&& source,
                Pitch source_pitch, Box box, Owner owner = nullptr,
                std::source_location where = std::source_location::current()) const {
    static_assert(detail::writable<std::remove_cvref_t<Destination>>, "the destination is const");
    enqueue_copy_box(detail::memory_ref(destination), destination_pitch, detail::memory_ref(source),
                     source_pitch, box, std::move(owner), where);
  }

  /// Sets every element of `destination`, a buffer or view of T (T of 1, 2, 4, 8 or 16 bytes).
  template <detail::MemoryLike Destination>
  requires(!std::is_void_v<detail::element_of<Destination>>) void fill(
      Destination&& destination, std::type_identity_t<detail::element_of<Destination>> value,
      std::source_location where = std::source_location::current()) const {
    static_assert(detail::writable<std::remove_cvref_t<Destination>>, "the destination is const");
    static_assert(detail::fills_by<sizeof(value)>, "elements of 1, 2, 4, 8 or 16 bytes");
    enqueue_fill(detail::memory_ref(destination), &value, sizeof(value), where);
  }

  /// Repeats `value` over the rows of a box of a pitched memory, 2- or 3-dimensional; the width is
  /// a multiple of its size.
  template <detail::MemoryLike Destination, typename T>
  requires std::is_trivially_copyable_v<T>
  void fill_box(Destination&& destination, Pitch pitch, Box box, T value,
                std::source_location where = std::source_location::current()) const {
    static_assert(detail::writable<std::remove_cvref_t<Destination>>, "the destination is const");
    static_assert(detail::fills_by<sizeof(value)>, "elements of 1, 2, 4, 8 or 16 bytes");
    enqueue_fill_box(detail::memory_ref(destination), pitch, box, &value, sizeof(value), where);
  }

  /// Calls `kernel(i, arguments...)` for every index of the space, in any order and on any of the
  /// device's cores at once; so the kernel is called as const. Buffers and views arrive as
  /// addresses, other arguments as copies. An exception that leaves the kernel is the stream's
  /// failure. A space with no items is fine and runs nothing. Throws `unsupported` without
  /// `Feature::host_code`.
  template <typename Kernel, int N, typename... Args>
  void launch(Kernel&& kernel, const Over<N>& space, Args&&... args) const {
    using K = std::decay_t<Kernel>;
    using Body = detail::LaunchBody<K, std::remove_cvref_t<Args>...>;
    static_assert(
        detail::callable_over<
            N, K, typename detail::LaunchArgument<std::remove_cvref_t<Args>>::type...>(),
        "the kernel must be callable, as const, with one index a dimension and the arguments");
    detail::Carried<Body> body(Body{
        std::forward<Kernel>(kernel),
        {detail::LaunchArgument<std::remove_cvref_t<Args>>::convert(std::forward<Args>(args))...}});
    std::array<std::size_t, 3> extent{1, 1, 1};
    for (int axis = 0; axis < N; ++axis) {
      extent[static_cast<std::size_t>(3 - N + axis)] = space.extent[static_cast<std::size_t>(axis)];
    }
    enqueue_launch({sizeof(hal_host_launch),
                    {extent[0], extent[1], extent[2]},
                    space.grain,
                    detail::closure_of(body),
                    &detail::run_over<N, Body>,
                    detail::site_of(space.where, space.name)});
    note_uses(space.where, args...);
  }

  /// Calls `kernel(Block, arguments...)` once for every block of the grid; otherwise as above.
  template <typename Kernel, typename... Args>
  void launch(Kernel&& kernel, const Blocks& space, Args&&... args) const {
    using K = std::decay_t<Kernel>;
    using Body = detail::LaunchBody<K, std::remove_cvref_t<Args>...>;
    static_assert(
        std::is_invocable_v<const K&, Block,
                            typename detail::LaunchArgument<std::remove_cvref_t<Args>>::type&...>,
        "the kernel must be callable, as const, with a hal::Block and the arguments");
    using InBlocks = detail::BlocksBody<Body>;
    detail::Carried<InBlocks> body(InBlocks{
        {std::forward<Kernel>(kernel),
         {detail::LaunchArgument<std::remove_cvref_t<Args>>::convert(std::forward<Args>(args))...}},
        space.grid,
        space.block});
    check_blocks(space);
    enqueue_launch({sizeof(hal_host_launch),
                    {space.grid.z, space.grid.y, space.grid.x},
                    1,
                    detail::closure_of(body),
                    &detail::run_blocks<Body>,
                    detail::site_of(space.where, space.name)});
    note_uses(space.where, args...);
  }

  /// Calls `function()` once on the host, in the stream's order. It may use HAL, except to wait for
  /// this stream (`invalid_state`). An exception that leaves it is the stream's failure.
  template <std::invocable Function>
  void call(Function&& function, const char* name = nullptr,
            std::source_location where = std::source_location::current()) const {
    using F = std::decay_t<Function>;
    detail::Carried<F> body(F(std::forward<Function>(function)));
    enqueue_host_function({sizeof(hal_host_function), detail::closure_of(body),
                           [](void* object, hal_failure* failure) {
                             F& held = static_cast<detail::Carried<F>*>(object)->get();
                             return detail::guarded(failure, held);
                           },
                           detail::site_of(where, name)});
  }

  /// A new event, recorded here.
  [[nodiscard]] Event record() const;
  /// Moves `event` to this point of the stream; it must belong to this stream's device.
  void record(const Event& event) const;

  /// Makes later work wait for the latest record of `event` at the time of this call, of any device
  /// of any backend, and fail with its cause if that failed. An event never recorded: nothing.
  void wait(const Event& event) const;

  /// Never waits. Throws the stream's failure.
  [[nodiscard]] StreamStatus query() const;

  /// Waits until everything enqueued up to now is done; throws the stream's failure. On the host
  /// the waiting thread may run the stream's work itself.
  void synchronize() const;
  /// Gives up with `timeout` after that time; the work goes on. Never runs work itself.
  void synchronize(std::chrono::nanoseconds timeout) const;

  /// Waits for what is enqueued, then forgets the stream's failure, so that it can be used again.
  /// Throws `device_lost` or `unsupported` where the device does not allow it.
  void reset_error() const;

  /// The contents of a buffer or view, once everything enqueued before is done: waits for this
  /// stream only.
  template <detail::MemoryLike Source>
  requires(!std::is_void_v<detail::element_of<Source>>)
      [[nodiscard]] std::vector<detail::element_of<Source>> read(
          const Source& source,
          std::source_location where = std::source_location::current()) const {
    std::vector<detail::element_of<Source>> out(detail::memory_ref(source).size_bytes /
                                                sizeof(detail::element_of<Source>));
    try {
      read_into(detail::memory_ref(out), detail::memory_ref(source), where);
    } catch (...) {
      // The copy may be queued still: a host function of this very stream is not let wait for it.
      if (state_ != nullptr) keep(std::make_shared<decltype(out)>(std::move(out)), where);
      throw;
    }
    return out;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  friend bool operator==(const Stream& a, const Stream& b) noexcept { return a.state_ == b.state_; }

  /// For HAL's own use.
  explicit Stream(std::shared_ptr<detail::StreamState> state) noexcept : state_(std::move(state)) {}
  [[nodiscard]] const std::shared_ptr<detail::StreamState>& state() const noexcept {
    return state_;
  }

 private:
  /// Tells buffers of a launch that was just enqueued. If that fails, their memory must not be
  /// given back while the launch runs, so it waits.
  template <typename... Args>
  void note_uses(const std::source_location& where, const Args&... args) const {
    try {
      (note_use(where, args), ...);
    } catch (...) {
      await_work();
      throw;
    }
  }
  template <typename T>
  void note_use(const std::source_location&, const TypedBuffer<T>& buffer) const {
    buffer.record_use(*this);
  }
  template <typename T>
  void note_use(const std::source_location& where, const View<T>& view) const {
    if (view.bytes().owner() != nullptr) keep(view.bytes().owner(), where);
  }
  template <typename T>
  void note_use(const std::source_location&, const T&) const noexcept {}

  /// Keeps `owner` until what is enqueued now is done.
  void keep(Owner owner, const std::source_location& where) const;
  /// The same for the ends of a copy or fill that was just enqueued, and for the owner given with
  /// it.
  void hold(std::initializer_list<const MemoryRef*> ends, Owner owner,
            const std::source_location& where) const;
  /// Waits for what is enqueued, whether it fails or not.
  void await_work() const noexcept;

  void enqueue_copy(const MemoryRef& destination, const MemoryRef& source, Owner owner,
                    const std::source_location& where) const;
  void enqueue_copy_box(const MemoryRef& destination, Pitch destination_pitch,
                        const MemoryRef& source, Pitch source_pitch, Box box, Owner owner,
                        const std::source_location& where) const;
  void enqueue_fill(const MemoryRef& destination, const void* pattern, std::size_t pattern_bytes,
                    const std::source_location& where) const;
  void enqueue_fill_box(const MemoryRef& destination, Pitch pitch, Box box, const void* pattern,
                        std::size_t pattern_bytes, const std::source_location& where) const;
  void enqueue_launch(const hal_host_launch& launch) const;
  void enqueue_host_function(const hal_host_function& function) const;
  void read_into(const MemoryRef& destination, const MemoryRef& source,
                 const std::source_location& where) const;
  void check_blocks(const Blocks& space) const;

  std::shared_ptr<detail::StreamState> state_;
};

}  // namespace hal
