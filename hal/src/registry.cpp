// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include "description.hpp"
#include "other_version.hpp"
#include "plugin.hpp"
#include "spi/failure.hpp"
#include "spi/lifetime.hpp"
#include "spi/registry.hpp"
#include "spi/trace.hpp"

#include <hal/config.hpp>
#include <hal/log.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace hal::core {

RegisteredBackend::RegisteredBackend(BackendTable table, std::string path)
    : table_(std::move(table)),
      path_(std::move(path)),
      name_(table_.usable() ? table_.functions.name : path_) {}

Backend RegisteredBackend::row() const {
  return is_plugin() ? plugin_row(path_, table_) : probe(table_.functions);
}

int RegisteredBackend::device_count() const {
  if (!table_.usable() || !probe(table_.functions).available) return 0;
  return std::max(0, table_.functions.device_count());
}

std::string RegisteredBackend::id(int index) const { return fmt::format("{}:{}", name_, index); }

std::shared_ptr<detail::DeviceState> RegisteredBackend::open(int index, const char* operation) {
  const std::lock_guard guard(mutex_);
  std::shared_ptr<detail::DeviceState>& state = opened_[index];
  if (state != nullptr) return state;

  spi::start_configured_trace();
  spi::note_started();
  const hal_backend& functions = table_.functions;
  DeviceProperties properties = describe(functions, index, id(index), operation);
  hal_device_handle handle = nullptr;
  spi::FailureBuffer failure;
  spi::check(functions.device_open(index, &handle, &failure), failure, operation, id(index));
  state =
      std::make_shared<detail::DeviceState>(functions, handle, name_, index, std::move(properties));
  return state;
}

std::vector<std::shared_ptr<detail::DeviceState>> RegisteredBackend::opened() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<detail::DeviceState>> devices;
  for (const auto& [index, state] : opened_) {
    if (state != nullptr) devices.push_back(state);
  }
  return devices;
}

Registry& Registry::instance() {
  static auto* const registry = new Registry;
  return *registry;
}

Registry::Registry() : other_version_(find_other_version()) {
  add_builtin();
  add_plugins();
}

void Registry::add_builtin() {
  for (const hal_backend_entry_function entry : spi::builtin_backends()) {
    BackendTable table = ask_for_table(entry);
    if (table.usable()) {
      backends_.push_back(std::make_unique<RegisteredBackend>(std::move(table), std::string()));
    } else {
      log::write(log::Level::error, fmt::format("a backend of this build: {}", table.problem));
    }
  }
}

void Registry::add_plugins() {
  for (const std::string& path : config::path_list("HAL_PLUGINS")) {
    std::unique_ptr<RegisteredBackend> plugin = load(path);
    // The host is the last resort, and stays the last.
    const auto host = std::find_if(backends_.begin(), backends_.end(), [](const auto& backend) {
      return !backend->is_plugin() && backend->name() == "host";
    });
    backends_.insert(host, std::move(plugin));
  }
}

std::unique_ptr<RegisteredBackend> Registry::load(const std::string& path) const {
  BackendTable table = load_plugin(path);
  if (table.usable()) {
    if (const RegisteredBackend* same = find(table.functions.name); same != nullptr) {
      table = BackendTable::refused(
          Reason::init_failed,
          fmt::format("its name '{}' is already that of {}: rename or remove one of them",
                      same->name(),
                      same->is_plugin() ? fmt::format("the plug-in '{}'", same->path())
                                        : "a backend of this build"));
    }
  }
  return std::make_unique<RegisteredBackend>(std::move(table), path);
}

RegisteredBackend* Registry::find(std::string_view name) const noexcept {
  for (const auto& backend : backends_) {
    if (backend->table().usable() && backend->name() == name) return backend.get();
  }
  return nullptr;
}

void Registry::require_sound(const char* operation) const {
  if (!other_version_.empty()) throw Error(Errc::invalid_state, operation, other_version_);
  for (const config::Variable& variable : config::variables()) {
    if (!variable.problem.empty()) {
      throw Error(Errc::invalid_argument, operation, variable.problem);
    }
  }
  for (const auto& backend : backends_) {
    if (!backend->table().usable()) {
      throw Error(
          Errc::invalid_argument, operation,
          fmt::format("HAL_PLUGINS names '{}', but {}", backend->path(), backend->table().problem));
    }
  }
}

}  // namespace hal::core
