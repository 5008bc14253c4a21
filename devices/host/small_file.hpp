// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading what the kernel tells in small text files. Nothing here throws for a file that is
/// missing or odd.
namespace hal::host {

/// The whole file, or nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path);

/// The whole number at the start of a text, blanks before it skipped.
[[nodiscard]] std::optional<std::uint64_t> leading_number(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::string& path);

/// The number after `key` at the start of a line or after it: "MemTotal:", "inactive_file".
[[nodiscard]] std::optional<std::uint64_t> number_after(std::string_view text,
                                                        std::string_view key);

[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The numbers of a kernel list, "0-3,8": {0, 1, 2, 3, 8}. What does not parse is left out.
[[nodiscard]] std::vector<int> parse_list(std::string_view text);

}  // namespace hal::host
