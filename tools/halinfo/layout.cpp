// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace halinfo {

namespace {

std::string with_unit(double value, int digits, const char* unit) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, unit);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string_view code(Colour colour) {
  switch (colour) {
    case Colour::bold:
      return "\x1b[1m";
    case Colour::dim:
      return "\x1b[2m";
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::red:
      return "\x1b[31m";
    case Colour::none:
      break;
  }
  return {};
}

/// Breaks at spaces; a word longer than `columns` stays whole, so that paths can be copied.
std::vector<std::string> broken(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && width(line) + 1 + width(word) > columns) {
      lines.push_back(std::exchange(line, {}));
    }
    if (!line.empty()) line.push_back(' ');
    line.append(word);
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return with_unit(value, 1, units[unit]);
}

std::string human_clock(std::uint64_t khz) {
  if (khz < 1'000'000) return with_unit(static_cast<double>(khz) / 1e3, 0, "MHz");
  return with_unit(static_cast<double>(khz) / 1e6, 2, "GHz");
}

std::string printable(std::string_view text) {
  std::string clean(text);
  const auto acts = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  std::replace_if(clean.begin(), clean.end(), acts, ' ');
  return clean;
}

std::size_t width(std::string_view text) noexcept {
  const auto starts_code_point = [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string padded(std::string_view text, std::size_t columns) {
  std::string out(text);
  const std::size_t taken = width(text);
  if (taken < columns) out.append(columns - taken, ' ');
  return out;
}

std::string Page::coloured(std::string_view text, Colour colour) const {
  if (!screen_.colours || colour == Colour::none || text.empty()) return std::string(text);
  return std::string(code(colour)).append(text).append("\x1b[0m");
}

void Page::paragraph(std::size_t indent, std::string_view label, std::size_t label_columns,
                     std::string_view text, Colour colour) {
  const std::size_t taken = indent + label_columns;
  const std::size_t room = columns() > taken + 20 ? columns() - taken : 20;
  std::string margin = std::string(indent, ' ') + padded(label, label_columns);
  for (const std::string& part : broken(text, room)) {
    line(margin + coloured(part, colour));
    margin.assign(taken, ' ');
  }
}

Table::Table(std::vector<std::string> headings) {
  Row first;
  for (std::string& heading : headings)
    first.cells.push_back({std::move(heading), Colour::dim});
  rows_.push_back(std::move(first));
}

void Table::row(std::vector<Cell> cells, std::vector<std::string> notes) {
  rows_.push_back({std::move(cells), std::move(notes)});
}

void Table::draw(Page& page, std::size_t indent) const {
  std::vector<std::size_t> widths(rows_.front().cells.size());
  for (const Row& row : rows_) {
    for (std::size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], width(row.cells[column].text));
    }
  }
  const std::size_t note_indent = indent + widths.front() + 2;
  for (const Row& row : rows_) {
    std::string text(indent, ' ');
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const Cell& cell = row.cells[column];
      text += page.coloured(cell.text, cell.colour);
      if (column + 1 < widths.size()) {
        text.append(widths[column] - width(cell.text) + 2, ' ');
      }
    }
    page.line(text);
    for (const std::string& note : row.notes) {
      page.paragraph(note_indent, {}, 0, note, Colour::dim);
    }
  }
}

}  // namespace halinfo
