// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/buffer.hpp>
#include <hal/detail/closure.hpp>

#include <array>
#include <cstddef>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hal {

/// An index space of N dimensions, slowest first: `over(height, width)` calls `kernel(y, x, ...)`.
/// Made by `over`, which also notes the place in the program for error messages.
template <int N>
struct Over {
  static_assert(N >= 1 && N <= 3);
  std::array<std::size_t, N> extent{};
  std::size_t grain = 1024;  ///< fewest items worth a task of their own on a CPU
  const char* name = nullptr;
  std::source_location where;

  /// The same space with another grain: 1 for kernels whose single items take long.
  [[nodiscard]] constexpr Over with_grain(std::size_t items) const noexcept {
    Over changed = *this;
    changed.grain = items == 0 ? 1 : items;
    return changed;
  }
  /// The same space with the kernel's name for errors and traces; it must live as long as the
  /// program.
  [[nodiscard]] constexpr Over named(const char* kernel_name) const noexcept {
    Over changed = *this;
    changed.name = kernel_name;
    return changed;
  }
};

/// [0, count)
[[nodiscard]] constexpr Over<1> over(
    std::size_t count, std::source_location where = std::source_location::current()) noexcept {
  return {.extent = {count}, .where = where};
}
/// [0, rows) x [0, columns); columns run fastest.
[[nodiscard]] constexpr Over<2> over(
    std::size_t rows, std::size_t columns,
    std::source_location where = std::source_location::current()) noexcept {
  return {.extent = {rows, columns}, .where = where};
}
/// [0, planes) x [0, rows) x [0, columns); columns run fastest.
[[nodiscard]] constexpr Over<3> over(
    std::size_t planes, std::size_t rows, std::size_t columns,
    std::source_location where = std::source_location::current()) noexcept {
  return {.extent = {planes, rows, columns}, .where = where};
}

/// Extents or an index of a grid or a block, x fastest.
struct Dim3 {
  std::size_t x = 1;
  std::size_t y = 1;
  std::size_t z = 1;

  /// x * y * z, or the largest `std::size_t` where that overflows.
  [[nodiscard]] constexpr std::size_t volume() const noexcept {
    return detail::saturating_bytes(detail::saturating_bytes(x, y), z);
  }
  friend constexpr bool operator==(Dim3, Dim3) noexcept = default;
};

/// A grid of blocks. Made by `blocks`.
struct Blocks {
  Dim3 grid;
  Dim3 block;
  const char* name = nullptr;
  std::source_location where;

  [[nodiscard]] constexpr Blocks named(const char* kernel_name) const noexcept {
    Blocks changed = *this;
    changed.name = kernel_name;
    return changed;
  }
};

/// `grid` blocks of `block` threads: calls `kernel(Block, ...)` once a block.
[[nodiscard]] constexpr Blocks blocks(
    Dim3 grid, Dim3 block, std::source_location where = std::source_location::current()) noexcept {
  return {.grid = grid, .block = block, .where = where};
}

/// What a kernel launched over `blocks` gets: which block it is.
class Block {
 public:
  constexpr Block(Dim3 index, Dim3 grid, Dim3 size) noexcept
      : index_(index), grid_(grid), size_(size) {}

  [[nodiscard]] constexpr Dim3 index() const noexcept { return index_; }
  [[nodiscard]] constexpr Dim3 grid() const noexcept { return grid_; }
  /// Threads of the block in each dimension.
  [[nodiscard]] constexpr Dim3 size() const noexcept { return size_; }
  /// Position in the grid, x fastest.
  [[nodiscard]] constexpr std::size_t linear_index() const noexcept {
    return (index_.z * grid_.y + index_.y) * grid_.x + index_.x;
  }

  /// A phase: calls f(i) for each i in [0, count), shared among the block's threads; all calls are
  /// done when it returns, so the next phase sees what this one wrote.
  template <typename F>
  constexpr void each(std::size_t count, F&& f) const {
    for (std::size_t item = 0; item < count; ++item)
      f(item);
  }

 private:
  Dim3 index_;
  Dim3 grid_;
  Dim3 size_;
};

namespace detail {

/// What a kernel receives for an argument of a launch: the address for buffers and views, a copy of
/// anything else.
template <typename T>
struct LaunchArgument {
  using type = std::decay_t<T>;
  template <typename U>
  static type convert(U&& value) {
    return std::forward<U>(value);
  }
};
template <typename T>
struct LaunchArgument<TypedBuffer<T>> {
  using type = T*;
  static type convert(const TypedBuffer<T>& buffer) noexcept { return buffer.data(); }
};
template <typename T>
struct LaunchArgument<View<T>> {
  using type = T*;
  static type convert(const View<T>& view) noexcept { return view.data(); }
};

template <typename Kernel, typename... Args>
struct LaunchBody {
  Kernel kernel;
  std::tuple<typename LaunchArgument<Args>::type...> arguments;
};

/// A copy of a kernel that is plain data, a reference to any other.
template <typename Kernel>
using LocalKernel = std::conditional_t<std::is_trivially_copyable_v<Kernel>,
                                       std::remove_const_t<Kernel>, const Kernel&>;

/// Runs a box of an `Over<N>` space. Kernel and arguments are copied to the frame of the task, so
/// that the compiler knows no store of the kernel changes them and can vectorise the inner loop.
template <int N, typename Body>
hal_status run_over(void* object, const std::size_t begin[3], const std::size_t end[3],
                    hal_failure* failure) {
  return guarded(failure, [&] {
    const Body& body = static_cast<Carried<Body>*>(object)->get();
    std::apply(
        [&](auto... arguments) {
          const LocalKernel<decltype(body.kernel)> kernel = body.kernel;
          for (std::size_t i = begin[0]; i < end[0]; ++i) {
            for (std::size_t j = begin[1]; j < end[1]; ++j) {
              for (std::size_t k = begin[2]; k < end[2]; ++k) {
                if constexpr (N == 1) {
                  kernel(k, arguments...);
                } else if constexpr (N == 2) {
                  kernel(j, k, arguments...);
                } else {
                  kernel(i, j, k, arguments...);
                }
              }
            }
          }
        },
        body.arguments);
  });
}

template <typename Body>
struct BlocksBody {
  Body body;
  Dim3 grid;
  Dim3 block;
};

template <typename Body>
hal_status run_blocks(void* object, const std::size_t begin[3], const std::size_t end[3],
                      hal_failure* failure) {
  return guarded(failure, [&] {
    const auto& launch = static_cast<Carried<BlocksBody<Body>>*>(object)->get();
    std::apply(
        [&](auto... arguments) {
          for (std::size_t z = begin[0]; z < end[0]; ++z) {
            for (std::size_t y = begin[1]; y < end[1]; ++y) {
              for (std::size_t x = begin[2]; x < end[2]; ++x) {
                launch.body.kernel(Block({x, y, z}, launch.grid, launch.block), arguments...);
              }
            }
          }
        },
        launch.body.arguments);
  });
}

template <int N, typename Kernel, typename... Args>
constexpr bool callable_over() {
  using Index = std::size_t;
  if constexpr (N == 1) {
    return std::is_invocable_v<const Kernel&, Index, Args&...>;
  } else if constexpr (N == 2) {
    return std::is_invocable_v<const Kernel&, Index, Index, Args&...>;
  } else {
    return std::is_invocable_v<const Kernel&, Index, Index, Index, Args&...>;
  }
}

}  // namespace detail
}  // namespace hal
