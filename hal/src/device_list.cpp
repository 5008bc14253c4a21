// SPDX-License-Identifier: Apache-2.0
// Finding backends and devices: hal/backend_list.hpp and the functions of hal/device.hpp.
#include "description.hpp"
#include "registry.hpp"
#include "spi/lifetime.hpp"

#include <hal/backend_list.hpp>
#include <hal/config.hpp>
#include <hal/device.hpp>
#include <hal/log.hpp>

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace hal {
namespace {

using core::RegisteredBackend;
using core::Registry;

struct DeviceId {
  std::string_view backend;
  int index = 0;
};

std::optional<DeviceId> parse(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  DeviceId id{text.substr(0, colon)};
  if (!core::is_backend_name(id.backend)) return std::nullopt;
  if (colon == std::string_view::npos) return id;
  const char* const begin = text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, id.index);
  const bool whole_number = problem == std::errc() && stop == end && *begin != '-';
  return whole_number ? std::optional(id) : std::nullopt;
}

/// "use one of: cuda:0, host:0"
std::string what_to_use() {
  std::string ids;
  for (const auto& backend : Registry::instance().backends()) {
    for (int index = 0; index < backend->device_count(); ++index) {
      ids += (ids.empty() ? "" : ", ") + backend->id(index);
    }
  }
  return ids.empty() ? "there is no device at all" : "use one of: " + ids;
}

/// Why a device with a well-formed id is not there.
std::string why_not(const DeviceId& id, const RegisteredBackend* backend, int count) {
  if (backend == nullptr) return fmt::format("no backend is called '{}'", id.backend);
  if (count > 0) {
    return fmt::format("{} has {} device{}", id.backend, count, count == 1 ? "" : "s");
  }
  const Backend row = backend->row();
  if (row.available) return fmt::format("{} has no device", id.backend);
  std::string why = fmt::format("{} has none ({}", id.backend, name(row.reason));
  if (!row.detail.empty()) why += ": " + row.detail;
  why += ')';
  if (const std::string_view todo = advice(row.reason); !todo.empty()) {
    why += fmt::format(": {}", todo);
  }
  return why;
}

/// `subject` begins the sentence of an error: "'cuda:7'".
Device find_device(std::string_view text, const std::string& subject, const char* operation) {
  const std::optional<DeviceId> id = parse(text);
  if (!id) {
    throw Error(Errc::invalid_argument, operation,
                subject +
                    " is not a device id: write the name of a backend and an index, like "
                    "'cuda:0', or the name alone for its first device");
  }
  RegisteredBackend* const backend = Registry::instance().find(id->backend);
  const int count = backend == nullptr ? 0 : backend->device_count();
  if (id->index >= count) {
    throw Error(Errc::not_found, operation,
                fmt::format("{} is not a device here: {}; {}", subject,
                            why_not(*id, backend, count), what_to_use()));
  }
  return Device(backend->open(id->index, operation));
}

/// Devices that do not open are left out: one broken GPU must not take the others away.
Device try_open(RegisteredBackend& backend, int index, const char* operation) {
  try {
    return Device(backend.open(index, operation));
  } catch (const Error& error) {
    // A trace that cannot be written, for one, concerns them all.
    if (error.device().empty()) throw;
    log::write(log::Level::warning, error.what());
    return {};
  }
}

/// What `query` finds, or nothing, with the cause in the log.
template <typename Query>
auto or_nothing(Query&& query) noexcept -> decltype(query()) {
  try {
    return query();
  } catch (const std::exception& error) {
    log::write(log::Level::error, error.what());
    return {};
  }
}

Registry& usable_registry(const char* operation) {
  spi::require_usable(operation);
  Registry& registry = Registry::instance();
  registry.require_sound(operation);
  return registry;
}

}  // namespace

std::vector<Backend> backends() noexcept {
  return or_nothing([] {
    // Everything else throws this; here it can only be said.
    static std::once_flag said;
    std::call_once(said, [] {
      const std::string& other = Registry::instance().other_version();
      if (!other.empty()) log::write(log::Level::error, other);
    });
    std::vector<Backend> rows;
    for (const auto& backend : Registry::instance().backends())
      rows.push_back(backend->row());
    return rows;
  });
}

int device_count() noexcept {
  return or_nothing([] {
    int count = 0;
    for (const auto& backend : Registry::instance().backends())
      count += backend->device_count();
    return count;
  });
}

int device_count(std::string_view backend) noexcept {
  return or_nothing([&] {
    const RegisteredBackend* const found = Registry::instance().find(backend);
    return found == nullptr ? 0 : found->device_count();
  });
}

std::vector<DeviceSummary> describe_devices() {
  std::vector<DeviceSummary> found;
  for (const auto& backend : Registry::instance().backends()) {
    for (int index = 0; index < backend->device_count(); ++index) {
      const std::string id = backend->id(index);
      try {
        found.push_back(
            {id, backend->name(),
             core::describe(backend->table().functions, index, id, "hal::describe_devices")});
      } catch (const Error& error) {
        log::write(log::Level::warning, error.what());
      }
    }
  }
  return found;
}

std::vector<Device> devices() {
  constexpr const char* operation = "hal::devices";
  std::vector<Device> found;
  for (const auto& backend : usable_registry(operation).backends()) {
    for (int index = 0; index < backend->device_count(); ++index) {
      if (Device device = try_open(*backend, index, operation)) found.push_back(std::move(device));
    }
  }
  return found;
}

Device device(std::string_view id) {
  constexpr const char* operation = "hal::device";
  (void)usable_registry(operation);
  return find_device(id, fmt::format("'{}'", id), operation);
}

Device default_device() {
  constexpr const char* operation = "hal::default_device";
  Registry& registry = usable_registry(operation);
  if (const std::string named = config::text("HAL_DEVICE"); !named.empty()) {
    return find_device(named, fmt::format("HAL_DEVICE names '{}', which", named), operation);
  }
  for (const auto& backend : registry.backends()) {
    if (backend->is_plugin()) continue;
    for (int index = 0; index < backend->device_count(); ++index) {
      if (Device device = try_open(*backend, index, operation)) return device;
    }
  }
  throw Error(Errc::not_found, operation,
              "no device can be used: see 'halinfo list' for the reason of each backend");
}

}  // namespace hal
