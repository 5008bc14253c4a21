// SPDX-License-Identifier: Apache-2.0
#include "vendor/backend.hpp"

#include "vendor/probe.hpp"

#include <hal/detail/closure.hpp>
#include <spi/registry.hpp>

#include <exception>
#include <tuple>

namespace hal::vendor {
namespace {

hal_status refuse(hal_failure* failure) noexcept {
  detail::clear(*failure);
  detail::copy_text(failure->message,
                    "this version of HAL cannot drive devices of this kind yet; use host:0");
  return HAL_STATUS_UNSUPPORTED;
}

/// Every entry that can fail takes where to say so last.
template <typename... Args>
void refuse_in(hal_status (*&entry)(Args...)) {
  entry = [](Args... arguments) -> hal_status {
    return refuse(std::get<sizeof...(Args) - 1>(std::tuple<Args...>(arguments...)));
  };
}

/// Nothing was made, so there is nothing to undo.
template <typename... Args>
void ignore_in(void (*&entry)(Args...)) {
  entry = [](Args...) {};
}

}  // namespace

hal_backend make_table(const Dialect& dialect, void (*probe)(hal_probe* out)) {
  hal_backend table{};
  table.struct_size = sizeof table;
  table.abi_major = HAL_BACKEND_ABI_MAJOR;
  table.abi_minor = HAL_BACKEND_ABI_MINOR;
  table.name = dialect.name;
  table.description = dialect.description;
  table.probe = probe;
  table.device_count = [] { return std::int32_t{0}; };
  refuse_in(table.device_describe);
  refuse_in(table.device_open);
  ignore_in(table.device_close);
  refuse_in(table.memory_allocate);
  ignore_in(table.memory_free);
  refuse_in(table.stream_create);
  ignore_in(table.stream_destroy);
  refuse_in(table.stream_query);
  refuse_in(table.stream_synchronize);
  refuse_in(table.stream_copy);
  refuse_in(table.stream_fill);
  refuse_in(table.event_create);
  ignore_in(table.event_destroy);
  refuse_in(table.stream_record);
  refuse_in(table.stream_wait);
  refuse_in(table.event_query);
  refuse_in(table.event_synchronize);
  return table;
}

ProbeResult probe_this_machine(const Dialect& dialect) noexcept {
  try {
    const char* override_library = spi::services().config(dialect.override_variable);
    return probe(dialect, real_surroundings(override_library == nullptr ? "" : override_library));
  } catch (const std::exception& error) {
    return {.reason = Reason::init_failed, .detail = error.what()};
  }
}

void write_probe(const ProbeResult& result, hal_probe& out) noexcept {
  out.reason = static_cast<std::int32_t>(result.reason);
  out.has_vendor_code = result.vendor_code.has_value() ? 1 : 0;
  out.vendor_code = result.vendor_code.value_or(0);
  detail::copy_text(out.library, result.library);
  detail::copy_text(out.version, result.version);
  detail::copy_text(out.detail, result.detail);
}

}  // namespace hal::vendor
