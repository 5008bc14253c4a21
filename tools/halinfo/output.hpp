// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace halinfo {

/// Makes sure descriptors 0 to 2 are taken, so that no file opened later becomes standard output.
void reserve_standard_descriptors();

/// Writes the whole of `text`; returns 0, or the `errno` of what went wrong.
[[nodiscard]] int write_all(int descriptor, std::string_view text) noexcept;

/// Writes `text` to standard output and closes it. Throws `std::system_error` unless all of it
/// arrived.
void emit(std::string_view text);

/// One sentence on standard error.
void complain(std::string_view sentence);

/// What standard output can show.
struct Screen {
  bool colours = false;
  std::size_t columns = 80;
};
[[nodiscard]] Screen screen();

}  // namespace halinfo
