// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "output.hpp"

/// How text is laid out on a screen: colours, columns, line breaks and units.
namespace halinfo {

enum class Colour { none, bold, dim, green, yellow, red };

/// "1.5 GiB", "32.0 KiB", "64 B"
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);
/// "3.70 GHz", "800 MHz"
[[nodiscard]] std::string human_clock(std::uint64_t khz);

/// `text` with what a terminal would act on replaced; drivers and plug-ins may say anything.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns `text` takes, counting a code point as one.
[[nodiscard]] std::size_t width(std::string_view text) noexcept;
/// `text` filled up with spaces to `columns`.
[[nodiscard]] std::string padded(std::string_view text, std::size_t columns);

/// A text that grows line by line.
class Page {
 public:
  explicit Page(Screen screen) : screen_(screen) {}

  [[nodiscard]] std::size_t columns() const noexcept { return screen_.columns; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  [[nodiscard]] std::string coloured(std::string_view text, Colour colour) const;
  void line(std::string_view text = {}) { text_.append(text).push_back('\n'); }
  void heading(std::string_view text) { line(coloured(text, Colour::bold)); }
  /// `label` in `indent` + `label_columns` columns, then `text` broken at spaces beside it.
  void paragraph(std::size_t indent, std::string_view label, std::size_t label_columns,
                 std::string_view text, Colour colour = Colour::none);

 private:
  Screen screen_;
  std::string text_;
};

/// Rows of cells under a heading; each column is as wide as its widest cell.
class Table {
 public:
  struct Cell {
    std::string text;
    Colour colour = Colour::none;
  };

  explicit Table(std::vector<std::string> headings);
  /// The notes stand below the row, broken at spaces.
  void row(std::vector<Cell> cells, std::vector<std::string> notes);
  void draw(Page& page, std::size_t indent) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::vector<std::string> notes;
  };
  std::vector<Row> rows_;
};

}  // namespace halinfo
