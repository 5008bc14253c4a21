// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/error.hpp>
#include <hal/export.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hal {

class Allocator;
class Buffer;
class Event;
class Stream;
template <typename T>
class TypedBuffer;
enum class MemoryKind : std::int32_t;
struct AllocationOptions;
struct EventOptions;
struct StreamOptions;

namespace detail {
class DeviceState;
}

/// What a device can do, beyond the operations every device has.
enum class Feature : std::uint32_t {
  host_code = 0,      ///< runs C++ callables of the process
  host_memory = 1,    ///< the process may read and write device memory directly
  host_function = 2,  ///< streams call functions on the host
  timing = 3,         ///< events carry time
  priorities = 4,     ///< streams have priorities
  pinned = 5,
  managed = 6,
  peer = 7,  ///< reaches memory of other devices of its backend
  huge_pages = 8,
};

/// A numeric type the device computes in; `*_matrix`: it has matrix units for it.
enum class NumericType : std::uint32_t {
  f64 = 0,
  f32 = 1,
  f16 = 2,
  bf16 = 3,
  fp8 = 4,
  i8 = 5,
  i16 = 6,
  i32 = 7,
  i64 = 8,
  bf16_matrix = 9,
  i8_matrix = 10,
  f16_matrix = 11,
};

[[nodiscard]] HAL_API std::string_view name(Feature feature) noexcept;
[[nodiscard]] HAL_API std::string_view name(NumericType type) noexcept;

/// A set of enumerators, a value of 32 bits.
template <typename Enum>
class EnumSet {
 public:
  constexpr EnumSet() noexcept = default;
  constexpr explicit EnumSet(std::uint32_t bits) noexcept : bits_(bits) {}
  constexpr EnumSet(std::initializer_list<Enum> items) noexcept {
    for (Enum item : items)
      insert(item);
  }

  [[nodiscard]] constexpr bool contains(Enum item) const noexcept {
    return (bits_ & bit(item)) != 0;
  }
  constexpr void insert(Enum item) noexcept { bits_ |= bit(item); }
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }
  [[nodiscard]] std::vector<Enum> items() const {
    std::vector<Enum> found;
    for (std::uint32_t index = 0; index < 32; ++index) {
      if ((bits_ >> index & 1U) != 0) found.push_back(static_cast<Enum>(index));
    }
    return found;
  }
  friend constexpr bool operator==(EnumSet, EnumSet) noexcept = default;

 private:
  static constexpr std::uint32_t bit(Enum item) noexcept {
    return std::uint32_t{1} << static_cast<std::uint32_t>(item);
  }
  std::uint32_t bits_ = 0;
};

/// What a device is. An empty optional or text: its driver does not say, and nothing is made up.
struct DeviceProperties {
  std::string name;          ///< "NVIDIA H200", or the model of the host's CPU
  std::string architecture;  ///< "sm_90a", "gfx942", "x86_64 avx512"
  std::string pci_address;   ///< "0000:3b:00.0"
  std::string driver_version;
  std::optional<std::uint64_t> numa_node;
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<std::uint64_t> memory_free_bytes;  ///< when it was described; see `memory_info`
  std::optional<std::uint64_t> compute_units;      ///< multiprocessors; on the host: cores in use
  std::optional<std::uint64_t> clock_max_khz;
  std::optional<std::uint64_t> subgroup_width;  ///< warp or wavefront size
  std::optional<std::uint64_t> max_threads_per_block;
  std::array<std::optional<std::uint64_t>, 3> max_block;  ///< x, y, z
  std::array<std::optional<std::uint64_t>, 3> max_grid;   ///< x, y, z
  std::optional<std::uint64_t> shared_memory_per_block_bytes;
  std::optional<std::uint64_t> registers_per_block;
  std::optional<std::uint64_t> cache_bytes;  ///< last-level cache
  std::optional<std::uint64_t> memory_alignment_bytes;
  EnumSet<Feature> features;
  EnumSet<NumericType> types;
};

struct MemoryInfo {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

/// A device, such as "host:0" or "cuda:1". A cheap handle: copies name the same device, and
/// whatever was made on a device keeps it alive. Usable from any thread.
class HAL_API Device {
 public:
  /// Names no device; using it throws `invalid_state`.
  Device() noexcept = default;

  [[nodiscard]] const std::string& id() const;       ///< "cuda:1"
  [[nodiscard]] const std::string& backend() const;  ///< "cuda"
  [[nodiscard]] int index() const;                   ///< 1
  [[nodiscard]] const DeviceProperties& properties() const;
  [[nodiscard]] bool has(Feature feature) const;

  /// Memory of the whole device as its driver sees it now. Throws `unsupported` where it cannot
  /// tell.
  [[nodiscard]] MemoryInfo memory_info() const;

  /// A new in-order queue. Does not wait.
  [[nodiscard]] Stream create_stream() const;
  [[nodiscard]] Stream create_stream(const StreamOptions& options) const;

  /// A new event, not recorded yet. Does not wait.
  [[nodiscard]] Event create_event() const;
  [[nodiscard]] Event create_event(const EventOptions& options) const;

  /// Memory for `count` elements of T, usable in the order of `stream`: work enqueued on `stream`
  /// after this call may use it, and it is given back in the order of `stream`. Contents are not
  /// initialised. Does not wait. `count` may be 0. Throws `out_of_memory`, stating what was asked
  /// for and what there is, also when `count * sizeof(T)` does not fit in `std::size_t`.
  template <typename T>
  [[nodiscard]] TypedBuffer<T> allocate(std::size_t count, const Stream& stream) const;

  /// Memory usable at once and from any stream of the device; when it is released, it is given back
  /// after the work that was using it. Kinds other than `MemoryKind::device` need the feature.
  template <typename T>
  [[nodiscard]] TypedBuffer<T> allocate(std::size_t count, MemoryKind kind) const;

  /// The untyped form of both, in bytes.
  [[nodiscard]] Buffer allocate_bytes(std::size_t bytes, const Stream& stream) const;
  [[nodiscard]] Buffer allocate_bytes(std::size_t bytes, const AllocationOptions& options) const;

  /// The allocator behind `allocate`; one a device.
  [[nodiscard]] Allocator& allocator() const;

  /// Waits until everything enqueued on any stream of this device at the time of the call is done.
  /// Throws the first failure found.
  void synchronize() const;

  /// Whether kernels and copies of this device can reach memory of `peer`.
  [[nodiscard]] bool can_access(const Device& peer) const;
  /// Enables it; `unsupported` where `can_access` is false. Enabling twice is fine.
  void enable_peer_access(const Device& peer) const;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  friend bool operator==(const Device& a, const Device& b) noexcept { return a.state_ == b.state_; }

  /// For HAL's own use.
  explicit Device(std::shared_ptr<detail::DeviceState> state) noexcept : state_(std::move(state)) {}
  [[nodiscard]] const std::shared_ptr<detail::DeviceState>& state() const noexcept {
    return state_;
  }

 private:
  std::shared_ptr<detail::DeviceState> state_;
};

/// Every device that can be used, those of real GPUs first. Starts drivers. Throws when a variable
/// does not parse or `HAL_PLUGINS` names something that is not a plug-in.
[[nodiscard]] HAL_API std::vector<Device> devices();

/// The device with this id, "cuda:0"; "cuda" alone means the first of its kind. Throws `not_found`,
/// listing the ids there are and why a backend of that name has none, and `invalid_argument` for
/// what cannot be an id.
[[nodiscard]] HAL_API Device device(std::string_view id);

/// `HAL_DEVICE` if set, else the first real GPU, else "host:0".
[[nodiscard]] HAL_API Device default_device();

/// What is known of a device without starting its driver or creating a context, for listing.
struct DeviceSummary {
  std::string id;
  std::string backend;
  DeviceProperties properties;
};
[[nodiscard]] HAL_API std::vector<DeviceSummary> describe_devices();

/// Waits for all work, gives cached memory back and closes every device and backend, in order.
/// Objects that still exist may be destroyed afterwards, but any use of HAL throws `invalid_state`.
/// Without it, a process that ends awaits the host work that is running, drops what is queued, and
/// calls no driver. Throws the first failure found, after everything is closed.
HAL_API void shutdown();

}  // namespace hal
