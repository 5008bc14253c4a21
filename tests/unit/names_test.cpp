// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <hal/buffer.hpp>
#include <hal/config.hpp>
#include <hal/device.hpp>
#include <hal/doctor.hpp>
#include <hal/error.hpp>
#include <hal/log.hpp>
#include <hal/trace.hpp>
#include <hal/version.hpp>

#include <set>
#include <string>
#include <string_view>

namespace {

/// Whether the enumerators from `first` to `last` have different names, and the next has none.
template <typename Enum>
bool all_named(Enum first, Enum last) {
  std::set<std::string_view> names;
  const int begin = static_cast<int>(first);
  const int end = static_cast<int>(last) + 1;
  for (int value = begin; value < end; ++value) {
    const std::string_view text = name(static_cast<Enum>(value));
    if (text.empty() || text == "unrecognised" || !names.insert(text).second) return false;
  }
  return name(static_cast<Enum>(end)) == "unrecognised";
}

}  // namespace

TEST_CASE("every enumerator has a name of its own") {
  CHECK(all_named(hal::Errc::invalid_argument, hal::Errc::internal));
  CHECK(all_named(hal::Reason::none, hal::Reason::not_driven));
  CHECK(all_named(hal::Feature::host_code, hal::Feature::huge_pages));
  CHECK(all_named(hal::NumericType::f64, hal::NumericType::f16_matrix));
  CHECK(all_named(hal::MemoryKind::device, hal::MemoryKind::managed));
  CHECK(all_named(hal::Severity::ok, hal::Severity::unknown));
  CHECK(all_named(hal::config::Type::boolean, hal::config::Type::count_or_word));
  CHECK(all_named(hal::config::Origin::built_in, hal::config::Origin::program));
  CHECK(all_named(hal::log::Level::off, hal::log::Level::debug));
  CHECK(all_named(hal::trace::Kind::launch, hal::trace::Kind::release));
}

TEST_CASE("names are the enumerators' own") {
  CHECK(name(hal::Errc::out_of_memory) == "out_of_memory");
  CHECK(name(hal::Reason::library_absent) == "library_absent");
  CHECK(name(hal::Feature::host_function) == "host_function");
  CHECK(name(hal::NumericType::bf16_matrix) == "bf16_matrix");
  CHECK(name(hal::MemoryKind::pinned) == "pinned");
  CHECK(name(hal::Severity::critical) == "critical");
  CHECK(name(hal::config::Type::path_list) == "path_list");
  CHECK(name(hal::config::Origin::built_in) == "built_in");
  CHECK(name(hal::log::Level::off) == "off");
  CHECK(name(hal::trace::Kind::synchronize) == "synchronize");
}

TEST_CASE("the library has the version of its headers") {
  const std::string expected = std::to_string(HAL_VERSION_MAJOR) + "." +
                               std::to_string(HAL_VERSION_MINOR) + "." +
                               std::to_string(HAL_VERSION_PATCH);
  CHECK(hal::version() == expected);
}
