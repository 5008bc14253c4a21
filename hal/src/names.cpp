// SPDX-License-Identifier: Apache-2.0
// The text of every enumerator of the public headers.
#include <hal/buffer.hpp>
#include <hal/config.hpp>
#include <hal/device.hpp>
#include <hal/doctor.hpp>
#include <hal/error.hpp>
#include <hal/log.hpp>
#include <hal/trace.hpp>

#include <string_view>

namespace hal {
namespace {

template <typename Enum>
struct Named {
  Enum value;
  std::string_view name;
};

constexpr Named<Errc> errc_names[] = {
    {Errc::invalid_argument, "invalid_argument"},
    {Errc::invalid_state, "invalid_state"},
    {Errc::out_of_memory, "out_of_memory"},
    {Errc::unsupported, "unsupported"},
    {Errc::not_found, "not_found"},
    {Errc::device_lost, "device_lost"},
    {Errc::timeout, "timeout"},
    {Errc::launch_failed, "launch_failed"},
    {Errc::compile_failed, "compile_failed"},
    {Errc::io, "io"},
    {Errc::internal, "internal"},
};

constexpr Named<Reason> reason_names[] = {
    {Reason::none, "none"},
    {Reason::library_absent, "library_absent"},
    {Reason::dependency_missing, "dependency_missing"},
    {Reason::library_stub, "library_stub"},
    {Reason::abi_mismatch, "abi_mismatch"},
    {Reason::symbol_missing, "symbol_missing"},
    {Reason::no_device, "no_device"},
    {Reason::no_device_node, "no_device_node"},
    {Reason::permission, "permission"},
    {Reason::driver_too_old, "driver_too_old"},
    {Reason::user_kernel_mismatch, "user_kernel_mismatch"},
    {Reason::arch_unsupported, "arch_unsupported"},
    {Reason::filtered_by_env, "filtered_by_env"},
    {Reason::device_lost, "device_lost"},
    {Reason::init_failed, "init_failed"},
    {Reason::crashed, "crashed"},
    {Reason::not_a_plugin, "not_a_plugin"},
    {Reason::not_driven, "not_driven"},
};

constexpr Named<Feature> feature_names[] = {
    {Feature::host_code, "host_code"},
    {Feature::host_memory, "host_memory"},
    {Feature::host_function, "host_function"},
    {Feature::timing, "timing"},
    {Feature::priorities, "priorities"},
    {Feature::pinned, "pinned"},
    {Feature::managed, "managed"},
    {Feature::peer, "peer"},
    {Feature::huge_pages, "huge_pages"},
};

constexpr Named<NumericType> numeric_type_names[] = {
    {NumericType::f64, "f64"},
    {NumericType::f32, "f32"},
    {NumericType::f16, "f16"},
    {NumericType::bf16, "bf16"},
    {NumericType::fp8, "fp8"},
    {NumericType::i8, "i8"},
    {NumericType::i16, "i16"},
    {NumericType::i32, "i32"},
    {NumericType::i64, "i64"},
    {NumericType::bf16_matrix, "bf16_matrix"},
    {NumericType::i8_matrix, "i8_matrix"},
    {NumericType::f16_matrix, "f16_matrix"},
};

constexpr Named<MemoryKind> memory_kind_names[] = {
    {MemoryKind::device, "device"},
    {MemoryKind::pinned, "pinned"},
    {MemoryKind::managed, "managed"},
};

constexpr Named<Severity> severity_names[] = {
    {Severity::ok, "ok"},           {Severity::info, "info"},
    {Severity::warning, "warning"}, {Severity::critical, "critical"},
    {Severity::unknown, "unknown"},
};

constexpr Named<config::Type> type_names[] = {
    {config::Type::boolean, "boolean"},     {config::Type::integer, "integer"},
    {config::Type::bytes, "bytes"},         {config::Type::word, "word"},
    {config::Type::text, "text"},           {config::Type::path, "path"},
    {config::Type::path_list, "path_list"}, {config::Type::count_or_word, "count_or_word"},
};

constexpr Named<config::Origin> origin_names[] = {
    {config::Origin::built_in, "built_in"},
    {config::Origin::environment, "environment"},
    {config::Origin::program, "program"},
};

constexpr Named<log::Level> level_names[] = {
    {log::Level::off, "off"},   {log::Level::error, "error"}, {log::Level::warning, "warning"},
    {log::Level::info, "info"}, {log::Level::debug, "debug"},
};

constexpr Named<trace::Kind> kind_names[] = {
    {trace::Kind::launch, "launch"},
    {trace::Kind::copy, "copy"},
    {trace::Kind::fill, "fill"},
    {trace::Kind::host_function, "host_function"},
    {trace::Kind::record, "record"},
    {trace::Kind::wait, "wait"},
    {trace::Kind::synchronize, "synchronize"},
    {trace::Kind::allocate, "allocate"},
    {trace::Kind::release, "release"},
};

/// Numbers come from plug-ins too, so a value may be one no enumerator has.
template <typename Enum, std::size_t Count>
constexpr std::string_view look_up(const Named<Enum> (&names)[Count], Enum value) noexcept {
  for (const Named<Enum>& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "unrecognised";
}

}  // namespace

std::string_view name(Errc code) noexcept { return look_up(errc_names, code); }
std::string_view name(Reason reason) noexcept { return look_up(reason_names, reason); }
std::string_view name(Feature feature) noexcept { return look_up(feature_names, feature); }
std::string_view name(NumericType type) noexcept { return look_up(numeric_type_names, type); }
std::string_view name(MemoryKind kind) noexcept { return look_up(memory_kind_names, kind); }
std::string_view name(Severity severity) noexcept { return look_up(severity_names, severity); }

namespace config {
std::string_view name(Type type) noexcept { return look_up(type_names, type); }
std::string_view name(Origin origin) noexcept { return look_up(origin_names, origin); }
}  // namespace config

namespace log {
std::string_view name(Level level) noexcept { return look_up(level_names, level); }
}  // namespace log

namespace trace {
std::string_view name(Kind kind) noexcept { return look_up(kind_names, kind); }
}  // namespace trace

}  // namespace hal
