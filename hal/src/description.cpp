// SPDX-License-Identifier: Apache-2.0
#include "description.hpp"

#include "backend_table.hpp"
#include "spi/failure.hpp"

#include <cstring>
#include <optional>

namespace hal::core {
namespace {

struct Number {
  std::uint64_t hal_device_description::*told;
  std::optional<std::uint64_t> DeviceProperties::*kept;
};

constexpr Number numbers[] = {
    {&hal_device_description::numa_node, &DeviceProperties::numa_node},
    {&hal_device_description::memory_total_bytes, &DeviceProperties::memory_total_bytes},
    {&hal_device_description::memory_free_bytes, &DeviceProperties::memory_free_bytes},
    {&hal_device_description::compute_units, &DeviceProperties::compute_units},
    {&hal_device_description::clock_max_khz, &DeviceProperties::clock_max_khz},
    {&hal_device_description::subgroup_width, &DeviceProperties::subgroup_width},
    {&hal_device_description::max_threads_per_block, &DeviceProperties::max_threads_per_block},
    {&hal_device_description::shared_memory_per_block_bytes,
     &DeviceProperties::shared_memory_per_block_bytes},
    {&hal_device_description::registers_per_block, &DeviceProperties::registers_per_block},
    {&hal_device_description::cache_bytes, &DeviceProperties::cache_bytes},
    {&hal_device_description::memory_alignment_bytes, &DeviceProperties::memory_alignment_bytes},
};

struct Limits {
  std::uint64_t hal_device_description::*told[3];
  std::array<std::optional<std::uint64_t>, 3> DeviceProperties::*kept;
};

constexpr Limits limits[] = {
    {{&hal_device_description::max_block_x, &hal_device_description::max_block_y,
      &hal_device_description::max_block_z},
     &DeviceProperties::max_block},
    {{&hal_device_description::max_grid_x, &hal_device_description::max_grid_y,
      &hal_device_description::max_grid_z},
     &DeviceProperties::max_grid},
};

/// Nothing is known until the backend says so.
hal_device_description nothing_known() {
  hal_device_description told{};
  told.struct_size = sizeof(hal_device_description);
  for (const Number& number : numbers)
    told.*number.told = HAL_UNKNOWN;
  for (const Limits& limit : limits) {
    for (const auto axis : limit.told)
      told.*axis = HAL_UNKNOWN;
  }
  return told;
}

std::optional<std::uint64_t> known(std::uint64_t number) noexcept {
  return number == HAL_UNKNOWN ? std::nullopt : std::optional(number);
}

template <std::size_t Size>
std::string text(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

DeviceProperties to_properties(const hal_device_description& told) {
  DeviceProperties properties;
  properties.name = text(told.name);
  properties.architecture = text(told.architecture);
  properties.pci_address = text(told.pci_address);
  properties.driver_version = text(told.driver_version);
  for (const Number& number : numbers)
    properties.*number.kept = known(told.*number.told);
  for (const Limits& limit : limits) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      (properties.*limit.kept)[axis] = known(told.*limit.told[axis]);
    }
  }
  properties.types = EnumSet<NumericType>(told.types);
  return properties;
}

}  // namespace

DeviceProperties describe(const hal_backend& table, int index, const std::string& id,
                          const char* operation) {
  hal_device_description told = nothing_known();
  spi::FailureBuffer failure;
  spi::check(table.device_describe(index, &told, &failure), failure, operation, id);
  DeviceProperties properties = to_properties(told);
  properties.features = EnumSet<Feature>(told.features & offered_features(table));
  return properties;
}

}  // namespace hal::core
