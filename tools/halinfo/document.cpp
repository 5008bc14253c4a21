// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include <hal/version.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halinfo {

namespace {

constexpr int schema_version = 1;
constexpr const char* not_reported = "not_reported";

/// `null` never stands alone: beside it is why the value is unknown.
void put_unknown(Json& object, const std::string& key, const char* why) {
  object[key] = nullptr;
  object[key + "_reason"] = why;
}

template <typename T>
void put(Json& object, const std::string& key, const std::optional<T>& value) {
  if (value) {
    object[key] = *value;
  } else {
    put_unknown(object, key, not_reported);
  }
}

void put(Json& object, const std::string& key, const std::string& text, const char* why) {
  if (text.empty()) {
    put_unknown(object, key, why);
  } else {
    object[key] = text;
  }
}

void put(Json& object, const std::string& key,
         const std::array<std::optional<std::uint64_t>, 3>& extents) {
  Json list = Json::array();
  for (const auto& extent : extents) {
    if (!extent) return put_unknown(object, key, not_reported);
    list.push_back(*extent);
  }
  object[key] = std::move(list);
}

template <typename Enum>
Json names(hal::EnumSet<Enum> set) {
  Json list = Json::array();
  for (Enum item : set.items())
    list.push_back(hal::name(item));
  return list;
}

std::string_view state(const hal::Backend& backend) {
  if (backend.available) return "loaded";
  switch (backend.reason) {
    case hal::Reason::library_absent:
    case hal::Reason::no_device:
    case hal::Reason::no_device_node:
      return "absent";
    default:
      return "refused";
  }
}

}  // namespace

Json new_document() {
  Json document = Json::object();
  document["schema_version"] = schema_version;
  document["hal_version"] = hal::version();
  return document;
}

Json to_json(const hal::Backend& backend) {
  Json object = Json::object();
  object["name"] = backend.name;
  object["description"] = backend.description;
  object["state"] = state(backend);
  object["reason"] = hal::name(backend.reason);
  object["detail"] = backend.detail;
  object["advice"] =
      backend.available || backend.plugin ? std::string_view() : hal::advice(backend.reason);
  put(object, "library", backend.library, "none_needed");
  put(object, "version", backend.version, backend.available ? not_reported : "not_loaded");
  put(object, "vendor_code", backend.vendor_code);
  object["plugin"] = backend.plugin;
  return object;
}

Json to_json(const hal::DeviceSummary& device) {
  const hal::DeviceProperties& properties = device.properties;
  Json object = Json::object();
  object["id"] = device.id;
  object["backend"] = device.backend;
  put(object, "name", properties.name, not_reported);
  put(object, "architecture", properties.architecture, not_reported);
  put(object, "pci_address", properties.pci_address, not_reported);
  put(object, "numa_node", properties.numa_node);
  put(object, "driver_version", properties.driver_version, not_reported);
  put(object, "memory_total_bytes", properties.memory_total_bytes);
  put(object, "memory_free_bytes", properties.memory_free_bytes);
  put(object, "compute_units", properties.compute_units);
  put(object, "clock_max_khz", properties.clock_max_khz);
  put(object, "subgroup_width", properties.subgroup_width);
  put(object, "cache_bytes", properties.cache_bytes);
  put(object, "memory_alignment_bytes", properties.memory_alignment_bytes);
  put(object, "max_threads_per_block", properties.max_threads_per_block);
  put(object, "max_block", properties.max_block);
  put(object, "max_grid", properties.max_grid);
  put(object, "shared_memory_per_block_bytes", properties.shared_memory_per_block_bytes);
  put(object, "registers_per_block", properties.registers_per_block);
  object["features"] = names(properties.features);
  object["types"] = names(properties.types);
  return object;
}

std::string to_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace halinfo
