// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend_table.hpp"

#include "spi/device_state.hpp"

#include <hal/backend_list.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hal::core {

/// A backend compiled in, or a plug-in, and the devices of it that were opened.
class RegisteredBackend {
 public:
  /// `path` is that of the plug-in; empty: compiled in.
  RegisteredBackend(BackendTable table, std::string path);

  /// "cuda"; a refused plug-in: its path.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool is_plugin() const noexcept { return !path_.empty(); }
  [[nodiscard]] const BackendTable& table() const noexcept { return table_; }

  /// Its state as of now.
  [[nodiscard]] Backend row() const;
  /// 0 when it is not available.
  [[nodiscard]] int device_count() const;
  [[nodiscard]] std::string id(int index) const;

  /// The device with an index below `device_count()`, the same one each time.
  [[nodiscard]] std::shared_ptr<detail::DeviceState> open(int index, const char* operation);
  /// Those opened so far.
  [[nodiscard]] std::vector<std::shared_ptr<detail::DeviceState>> opened() const;

 private:
  BackendTable table_;
  std::string path_;
  std::string name_;
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<detail::DeviceState>> opened_;
};

/// Every backend of this process, in the order devices are preferred. Made on first use and never
/// destroyed: objects of programs may outlive anything that is.
class Registry {
 public:
  [[nodiscard]] static Registry& instance();

  [[nodiscard]] const std::vector<std::unique_ptr<RegisteredBackend>>& backends() const noexcept {
    return backends_;
  }
  /// Null when there is no usable backend with this name.
  [[nodiscard]] RegisteredBackend* find(std::string_view name) const noexcept;

  /// A sentence about another version of this library in the process, or empty.
  [[nodiscard]] const std::string& other_version() const noexcept { return other_version_; }

  /// Throws what makes devices unusable: another libhal, a variable that does not parse, a refused
  /// plug-in.
  void require_sound(const char* operation) const;

 private:
  Registry();
  void add_builtin();
  void add_plugins();
  [[nodiscard]] std::unique_ptr<RegisteredBackend> load(const std::string& path) const;

  std::string other_version_;
  std::vector<std::unique_ptr<RegisteredBackend>> backends_;
};

}  // namespace hal::core
