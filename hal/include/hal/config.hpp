// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hal::config {

/// What the text of a variable must look like.
enum class Type {
  boolean,       ///< 0, 1, true, false, on, off, yes, no
  integer,       ///< a whole number, within the variable's bounds
  bytes,         ///< a whole number with an optional k, m, g or t (powers of 1024)
  word,          ///< one of the words listed for the variable
  text,          ///< any text
  path,          ///< a file
  path_list,     ///< files separated by ':'
  count_or_word  ///< a whole number or one of the words listed
};

/// Who set the value in force.
enum class Origin { built_in, environment, program };

[[nodiscard]] HAL_API std::string_view name(Type type) noexcept;
[[nodiscard]] HAL_API std::string_view name(Origin origin) noexcept;

/// One row of the table of all `HAL_*` variables.
struct Variable {
  std::string name;  ///< "HAL_HOST_DEVICES"
  Type type = Type::text;
  std::string default_value;  ///< as text; empty: unset
  std::string value;          ///< in force now
  Origin origin = Origin::built_in;
  std::string accepts;  ///< "a whole number from 1 to 64, or numa"
  std::string description;
  std::string problem;  ///< why the environment's value does not parse, or empty
};

/// Every variable there is, in the order of the table. Never throws for a value that does not
/// parse; that stands in `problem`.
[[nodiscard]] HAL_API std::vector<Variable> variables();

/// `HAL_*` variables of the environment that this version does not know: most are misspelt.
[[nodiscard]] HAL_API std::vector<std::string> unknown_variables();

/// The value in force. Throws `not_found` for an unknown name, `invalid_argument` naming the
/// variable and its text for a value that does not parse.
[[nodiscard]] HAL_API std::string text(std::string_view name);
[[nodiscard]] HAL_API bool boolean(std::string_view name);
[[nodiscard]] HAL_API std::int64_t integer(std::string_view name);
[[nodiscard]] HAL_API std::size_t bytes(std::string_view name);
[[nodiscard]] HAL_API std::vector<std::string> path_list(std::string_view name);

/// Overrides a variable from the program, before what reads it first (most are read when the first
/// device is asked for). Throws as `text` does when the value does not parse.
HAL_API void set(std::string_view name, std::string_view value);

}  // namespace hal::config
