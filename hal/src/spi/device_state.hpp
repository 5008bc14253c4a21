// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/allocator.hpp>
#include <hal/device.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hal::detail {

/// An opened device. Children (streams, events, buffers) hold a reference to it.
class DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  /// `api` is complete: entries the backend's table lacks are null. Takes over `handle`.
  DeviceState(const hal_backend& api, hal_device_handle handle, std::string backend, int index,
              DeviceProperties properties);
  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  [[nodiscard]] const hal_backend& api() const noexcept { return api_; }
  [[nodiscard]] hal_device_handle handle() const noexcept { return handle_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& backend() const noexcept { return backend_; }
  [[nodiscard]] int index() const noexcept { return index_; }
  [[nodiscard]] const DeviceProperties& properties() const noexcept { return properties_; }
  [[nodiscard]] bool has(Feature feature) const noexcept {
    return properties_.features.contains(feature);
  }
  /// Bytes; 64 where the device does not say.
  [[nodiscard]] std::size_t memory_alignment() const noexcept {
    return static_cast<std::size_t>(properties_.memory_alignment_bytes.value_or(64));
  }

  /// Made on first use by `spi::make_allocator`.
  [[nodiscard]] Allocator& allocator();

  /// A stream is added when made and forgotten when nothing names it any more. One whose last
  /// handle goes while work is queued is kept until that is done, so that waiting for the device
  /// finds it.
  void add_stream(const std::shared_ptr<StreamState>& stream);
  void keep_until_done(std::shared_ptr<StreamState> stream);

  /// Waits for everything enqueued on any stream up to now. Returns the first failure of a stream
  /// that has a handle; of one that has none, nobody can take it back, so it is logged.
  [[nodiscard]] std::optional<Error> wait_for_all(const char* operation);

  /// Closes the device, once, when HAL cannot be used any more; everything is done. Called by
  /// shutdown.
  void close();

 private:
  const hal_backend& api_;
  hal_device_handle handle_;
  std::string backend_;
  int index_;
  std::string id_;
  DeviceProperties properties_;
  std::once_flag allocator_made_;
  std::unique_ptr<Allocator> allocator_;
  [[nodiscard]] std::vector<std::shared_ptr<StreamState>> streams();
  void forget_done_orphans();

  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::vector<std::weak_ptr<StreamState>> streams_;
  std::vector<std::shared_ptr<StreamState>> orphans_;
};

}  // namespace hal::detail

namespace hal::spi {

/// The allocator of a device, which outlives it. Defined in memory/.
[[nodiscard]] std::unique_ptr<Allocator> make_allocator(detail::DeviceState& device);

}  // namespace hal::spi
