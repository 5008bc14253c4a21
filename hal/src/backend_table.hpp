// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/backend_list.hpp>
#include <hal/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hal::core {

/// A backend's table as the core uses it, or why it cannot be used.
struct BackendTable {
  hal_backend functions{};  ///< entries the backend lacks are null
  Reason reason = Reason::none;
  std::string problem;  ///< a sentence about "it", the backend, that says what to do

  [[nodiscard]] bool usable() const noexcept { return reason == Reason::none; }
  [[nodiscard]] static BackendTable refused(Reason why, std::string sentence);
};

/// Copies what `given` has of the table this core knows, and checks what the ABI asks of it.
[[nodiscard]] BackendTable read_table(const hal_backend& given);

/// Asks a backend for its table.
[[nodiscard]] BackendTable ask_for_table(hal_backend_entry_function entry);

/// [a-z][a-z0-9_]*, the part of a device id before ':'.
[[nodiscard]] bool is_backend_name(std::string_view name) noexcept;

/// The bits of HAL_FEATURE_* whose entries this table has: a null entry takes a feature away.
[[nodiscard]] std::uint32_t offered_features(const hal_backend& table) noexcept;

/// Asks a backend with a usable table for its state.
[[nodiscard]] Backend probe(const hal_backend& table);

}  // namespace hal::core
