// SPDX-License-Identifier: Apache-2.0
#include "backend_table.hpp"

#include "spi/failure.hpp"
#include "spi/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace hal::core {
namespace {

template <auto Entry>
bool lacks(const hal_backend& table) noexcept {
  return table.*Entry == nullptr;
}

struct Required {
  std::string_view name;
  bool (*missing)(const hal_backend& table) noexcept;
};

constexpr Required required_entries[] = {
    {"name", lacks<&hal_backend::name>},
    {"description", lacks<&hal_backend::description>},
    {"probe", lacks<&hal_backend::probe>},
    {"device_count", lacks<&hal_backend::device_count>},
    {"device_describe", lacks<&hal_backend::device_describe>},
    {"device_open", lacks<&hal_backend::device_open>},
    {"device_close", lacks<&hal_backend::device_close>},
    {"memory_allocate", lacks<&hal_backend::memory_allocate>},
    {"memory_free", lacks<&hal_backend::memory_free>},
    {"stream_create", lacks<&hal_backend::stream_create>},
    {"stream_destroy", lacks<&hal_backend::stream_destroy>},
    {"stream_query", lacks<&hal_backend::stream_query>},
    {"stream_synchronize", lacks<&hal_backend::stream_synchronize>},
    {"stream_copy", lacks<&hal_backend::stream_copy>},
    {"stream_fill", lacks<&hal_backend::stream_fill>},
    {"event_create", lacks<&hal_backend::event_create>},
    {"event_destroy", lacks<&hal_backend::event_destroy>},
    {"stream_record", lacks<&hal_backend::stream_record>},
    {"stream_wait", lacks<&hal_backend::stream_wait>},
    {"event_query", lacks<&hal_backend::event_query>},
    {"event_synchronize", lacks<&hal_backend::event_synchronize>},
};

struct FeatureEntry {
  std::uint32_t feature;
  bool (*missing)(const hal_backend& table) noexcept;
};

constexpr FeatureEntry feature_entries[] = {
    {HAL_FEATURE_HOST_CODE, lacks<&hal_backend::stream_launch_host>},
    {HAL_FEATURE_HOST_FUNCTION, lacks<&hal_backend::stream_host_function>},
    {HAL_FEATURE_TIMING, lacks<&hal_backend::event_elapsed>},
    {HAL_FEATURE_PEER, lacks<&hal_backend::peer_accessible>},
    {HAL_FEATURE_PEER, lacks<&hal_backend::peer_enable>},
};

/// What has to be there before the numbers of the ABI can be read.
constexpr std::size_t shortest_table = offsetof(hal_backend, name);

template <std::size_t Size>
std::string_view text(const char (&field)[Size]) noexcept {
  return {field, ::strnlen(field, Size)};
}

}  // namespace

BackendTable BackendTable::refused(Reason why, std::string sentence) {
  BackendTable table;
  table.reason = why;
  table.problem = std::move(sentence);
  return table;
}

bool is_backend_name(std::string_view name) noexcept {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), inner);
}

std::uint32_t offered_features(const hal_backend& table) noexcept {
  std::uint32_t offered = ~std::uint32_t{0};
  for (const FeatureEntry& entry : feature_entries) {
    if (entry.missing(table)) offered &= ~entry.feature;
  }
  return offered;
}

BackendTable read_table(const hal_backend& given) {
  if (given.struct_size < shortest_table) {
    return BackendTable::refused(
        Reason::abi_mismatch,
        fmt::format("its table says it has {} bytes, too few for any version of the ABI: "
                    "set struct_size to sizeof(hal_backend)",
                    given.struct_size));
  }
  if (given.abi_major != HAL_BACKEND_ABI_MAJOR) {
    return BackendTable::refused(
        Reason::abi_mismatch,
        fmt::format("it was built for major version {} of HAL's backend ABI and this HAL "
                    "has major version {}: build it against this HAL's headers",
                    given.abi_major, HAL_BACKEND_ABI_MAJOR));
  }
  BackendTable table;
  std::memcpy(&table.functions, &given, std::min(given.struct_size, sizeof(hal_backend)));
  table.functions.struct_size = sizeof(hal_backend);
  for (const Required& entry : required_entries) {
    if (entry.missing(table.functions)) {
      return BackendTable::refused(
          Reason::symbol_missing,
          fmt::format("its table lacks the required entry '{}': implement it", entry.name));
    }
  }
  if (!is_backend_name(table.functions.name)) {
    return BackendTable::refused(
        Reason::not_a_plugin,
        fmt::format("its name '{}' cannot be part of a device id: use small letters, "
                    "digits and '_', beginning with a letter",
                    table.functions.name));
  }
  return table;
}

BackendTable ask_for_table(hal_backend_entry_function entry) {
  const hal_backend_request request{sizeof(hal_backend_request), HAL_BACKEND_ABI_MAJOR,
                                    HAL_BACKEND_ABI_MINOR, &spi::services()};
  spi::FailureBuffer failure;
  const hal_backend* given = entry(&request, &failure);
  if (given != nullptr) return read_table(*given);
  const std::string_view said = text(failure.message);
  return BackendTable::refused(Reason::init_failed,
                               said.empty() ? "it gave no table and did not say why"
                                            : fmt::format("it gave no table: {}", said));
}

Backend probe(const hal_backend& table) {
  hal_probe found{};
  found.struct_size = sizeof(hal_probe);
  table.probe(&found);

  Backend row;
  row.name = table.name;
  row.description = table.description;
  row.reason = static_cast<Reason>(found.reason);
  row.available = row.reason == Reason::none;
  row.library = text(found.library);
  row.version = text(found.version);
  if (found.has_vendor_code != 0) row.vendor_code = found.vendor_code;
  row.detail = text(found.detail);
  return row;
}

}  // namespace hal::core
