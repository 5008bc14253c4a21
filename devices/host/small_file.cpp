// SPDX-License-Identifier: Apache-2.0
#include "host/small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

namespace hal::host {

std::optional<std::string> read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t count = 0;
  while ((count = ::read(file, chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  ::close(file);
  if (count < 0) return std::nullopt;
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  const auto text = read_file(path);
  return text ? leading_number(*text) : std::nullopt;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool starts_word = at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ';
    const std::string_view rest = text.substr(at + key.size());
    const bool ends_word = !rest.empty() && (rest[0] == ' ' || rest[0] == '\t');
    if (starts_word && ends_word) return leading_number(rest);
  }
  return std::nullopt;
}

std::vector<int> parse_list(std::string_view text) {
  // More than any kernel has; keeps a broken file from filling the memory.
  constexpr std::uint64_t most = 1U << 16U;
  std::vector<int> numbers;
  for (std::string_view part : split(trimmed(text), ',')) {
    const std::size_t dash = part.find('-');
    const auto first = leading_number(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : leading_number(part.substr(dash + 1));
    if (!first || !last || *last >= most) continue;
    for (std::uint64_t number = *first; number <= *last; ++number) {
      numbers.push_back(static_cast<int>(number));
    }
  }
  return numbers;
}

}  // namespace hal::host
