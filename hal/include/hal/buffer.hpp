// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/device.hpp>
#include <hal/error.hpp>
#include <hal/export.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace hal {

namespace detail {
class BufferState;
}

enum class MemoryKind : std::int32_t {
  device = 0,   ///< the device's own memory
  pinned = 1,   ///< host memory the device can reach; copies from and to it are asynchronous
  managed = 2,  ///< one address for host and device, moved on demand
};

[[nodiscard]] HAL_API std::string_view name(MemoryKind kind) noexcept;

struct AllocationOptions {
  MemoryKind kind = MemoryKind::device;
  std::size_t alignment = 0;  ///< bytes, a power of two; 0: the device's own (64 on the host)
  bool huge_pages = false;    ///< a wish; see `Feature::huge_pages`
};

/// A piece of device memory, not owned: an address, a length in bytes and the device. Cheap to
/// copy. Valid while its buffer lives; `keep_alive` makes a view that keeps the buffer itself.
class HAL_API BufferView {
 public:
  BufferView() noexcept = default;
  BufferView(void* data, std::size_t size_bytes, detail::DeviceState* device,
             std::shared_ptr<const detail::BufferState> owner = nullptr) noexcept
      : data_(data), size_bytes_(size_bytes), device_(device), owner_(std::move(owner)) {}

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] bool empty() const noexcept { return size_bytes_ == 0; }
  /// The device whose memory this is, or null for an empty view made by default.
  [[nodiscard]] detail::DeviceState* device_state() const noexcept { return device_; }
  [[nodiscard]] const std::shared_ptr<const detail::BufferState>& owner() const noexcept {
    return owner_;
  }

  /// Bytes [offset, offset + count). Throws `invalid_argument` naming both when they are not
  /// inside.
  [[nodiscard]] BufferView slice(std::size_t offset, std::size_t count) const;

 private:
  void* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  detail::DeviceState* device_ = nullptr;
  std::shared_ptr<const detail::BufferState> owner_;
};

/// A `BufferView` of elements. `View<const T>` cannot be written to.
template <typename T>
class View {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");

 public:
  using value_type = std::remove_const_t<T>;

  View() noexcept = default;
  explicit View(BufferView bytes) noexcept : bytes_(std::move(bytes)) {}
  /// A view that can be written to is also one that can be read.
  template <typename U>
  requires(std::is_const_v<T>&& std::is_same_v<U, value_type>) View(const View<U>& other)
  noexcept : bytes_(other.bytes()) {}  // NOLINT: implicit as for spans

  /// The address on the device. Host code may follow it where `Feature::host_memory` is offered.
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(bytes_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size_bytes() / sizeof(T); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size_bytes(); }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] const BufferView& bytes() const noexcept { return bytes_; }

  /// Elements [first, first + count). Throws `invalid_argument` when they are not all inside.
  [[nodiscard]] View slice(std::size_t first, std::size_t count) const {
    if (first > size() || count > size() - first) (void)bytes_.slice(scale(first), scale(count));
    return View(bytes_.slice(first * sizeof(T), count * sizeof(T)));
  }

 private:
  static std::size_t scale(std::size_t count) noexcept {
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    return count > most / sizeof(T) ? most : count * sizeof(T);
  }
  BufferView bytes_;
};

/// Owns device memory; move only. Destroying it never waits: the memory is used again only after
/// the last use on every stream it was told of. A buffer passed to `Stream::copy`, `fill` or
/// `launch` tells it; for uses it cannot see (a view, a raw address in a kernel), call
/// `record_use`.
class HAL_API Buffer {
 public:
  /// Holds nothing.
  Buffer() noexcept = default;
  Buffer(Buffer&&) noexcept = default;
  Buffer& operator=(Buffer&&) noexcept = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  [[nodiscard]] void* data() const noexcept;
  [[nodiscard]] std::size_t size_bytes() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return size_bytes() == 0; }
  [[nodiscard]] MemoryKind kind() const noexcept;
  [[nodiscard]] Device device() const;

  [[nodiscard]] BufferView view() const noexcept;
  /// Bytes [offset, offset + count), bounds checked.
  [[nodiscard]] BufferView view(std::size_t offset, std::size_t count) const;
  /// The whole buffer, kept alive by the view and its slices.
  [[nodiscard]] BufferView keep_alive() const noexcept;

  /// Says that work enqueued on `stream` up to now uses the buffer.
  void record_use(const Stream& stream) const;

  /// For HAL's own use.
  explicit Buffer(std::shared_ptr<detail::BufferState> state) noexcept : state_(std::move(state)) {}
  [[nodiscard]] const std::shared_ptr<detail::BufferState>& state() const noexcept {
    return state_;
  }

 private:
  std::shared_ptr<detail::BufferState> state_;
};

/// A `Buffer` of `size()` elements of T.
template <typename T>
class TypedBuffer {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "device memory holds trivially copyable types");

 public:
  using value_type = T;

  TypedBuffer() noexcept = default;
  explicit TypedBuffer(Buffer bytes) noexcept : bytes_(std::move(bytes)) {}

  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(bytes_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size_bytes() / sizeof(T); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size_bytes(); }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] Device device() const { return bytes_.device(); }
  [[nodiscard]] const Buffer& bytes() const noexcept { return bytes_; }

  [[nodiscard]] View<T> view() const noexcept { return View<T>(bytes_.view()); }
  /// Elements [first, first + count), bounds checked.
  [[nodiscard]] View<T> view(std::size_t first, std::size_t count) const {
    return view().slice(first, count);
  }
  [[nodiscard]] View<T> keep_alive() const noexcept { return View<T>(bytes_.keep_alive()); }
  void record_use(const Stream& stream) const { bytes_.record_use(stream); }

 private:
  Buffer bytes_;
};

namespace detail {

/// count * size, or SIZE_MAX, which no device has, when that overflows.
[[nodiscard]] constexpr std::size_t saturating_bytes(std::size_t count, std::size_t size) noexcept {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  return size != 0 && count > most / size ? most : count * size;
}

}  // namespace detail

template <typename T>
TypedBuffer<T> Device::allocate(std::size_t count, const Stream& stream) const {
  return TypedBuffer<T>(allocate_bytes(detail::saturating_bytes(count, sizeof(T)), stream));
}

template <typename T>
TypedBuffer<T> Device::allocate(std::size_t count, MemoryKind kind) const {
  AllocationOptions options;
  options.kind = kind;
  return TypedBuffer<T>(allocate_bytes(detail::saturating_bytes(count, sizeof(T)), options));
}

}  // namespace hal
