// SPDX-License-Identifier: Apache-2.0
// What the core offers backends.
#include "spi/registry.hpp"
#include "spi/trace.hpp"

#include <hal/config.hpp>
#include <hal/error.hpp>
#include <hal/log.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <set>
#include <string>

namespace hal::spi {
namespace {

void write_log(std::int32_t level, const char* message) {
  const std::int32_t known = std::clamp<std::int32_t>(level, HAL_LOG_ERROR, HAL_LOG_DEBUG);
  log::write(static_cast<log::Level>(known), message);
}

/// Backends may keep the address they were given, so each text is kept for the life of the process.
const char* keep(std::string text) {
  static std::mutex mutex;
  static auto* const kept = new std::set<std::string>;
  const std::lock_guard guard(mutex);
  return kept->insert(std::move(text)).first->c_str();
}

const char* config_text(const char* name) {
  try {
    return keep(config::text(name));
  } catch (const Error& error) {
    if (error.code() != Errc::not_found) log::write(log::Level::error, error.what());
  } catch (const std::exception& error) {
    log::write(log::Level::error, error.what());
  }
  return nullptr;
}

std::int32_t is_tracing() { return tracing() ? 1 : 0; }

void emit_span(const char* backend, const hal_span* given) {
  hal_span told{};
  std::memcpy(&told, given, std::min(given->struct_size, sizeof(hal_span)));

  char device[64];
  const auto written = fmt::format_to_n(device, sizeof device, "{}:{}", backend, told.device_index);
  trace::Span span;
  span.kind = static_cast<trace::Kind>(told.kind);
  span.device = {device, std::min(written.size, sizeof device)};
  span.stream = told.stream;
  span.sequence = told.sequence;
  span.begin_ns = told.begin_ns;
  span.end_ns = told.end_ns;
  span.bytes = told.bytes;
  if (told.site.name != nullptr) span.name = told.site.name;
  if (told.site.file != nullptr) span.file = told.site.file;
  span.line = told.site.line;
  emit(span);
}

constexpr hal_services offered{sizeof(hal_services), write_log, config_text, is_tracing, emit_span};

}  // namespace

const hal_services& services() noexcept { return offered; }

}  // namespace hal::spi
