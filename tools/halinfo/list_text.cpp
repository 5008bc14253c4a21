// SPDX-License-Identifier: Apache-2.0
#include "list_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "layout.hpp"

namespace halinfo {

namespace {

constexpr std::size_t label_columns = 16;
constexpr std::size_t device_indent = 4;
constexpr const char* unknown = "unknown";

std::string text_of(const Json& value) {
  if (value.is_null()) return unknown;
  return value.is_string() ? printable(value.get<std::string>()) : value.dump();
}

std::string text_or_dash(const Json& value) { return value.is_null() ? "-" : text_of(value); }

std::string bytes_of(const Json& value) {
  return value.is_null() ? unknown : human_bytes(value.get<std::uint64_t>());
}

std::string clock_of(const Json& value) {
  return value.is_null() ? unknown : human_clock(value.get<std::uint64_t>());
}

// ---- backends

Colour state_colour(const std::string& state) {
  if (state == "loaded") return Colour::green;
  return state == "absent" ? Colour::yellow : Colour::red;
}

/// A plug-in that did not load is known by its path, which the column of libraries shows.
std::string short_name(const Json& backend) {
  const std::string name = text_of(backend["name"]);
  return backend["plugin"] == true ? std::filesystem::path(name).filename().string() : name;
}

/// What it is and what was found; what to do.
std::vector<std::string> backend_notes(const Json& backend) {
  std::vector<std::string> notes{text_of(backend["description"])};
  const std::string detail = text_of(backend["detail"]);
  const std::string advice = text_of(backend["advice"]);
  if (!detail.empty()) notes.front().append(": ").append(detail);
  if (!advice.empty()) notes.push_back("To do: " + advice);
  return notes;
}

void draw_backends(Page& page, const Json& backends) {
  Table table({"backend", "state", "reason", "version", "library"});
  for (const Json& backend : backends) {
    const std::string state = text_of(backend["state"]);
    const std::string reason = text_of(backend["reason"]);
    table.row({{short_name(backend), Colour::bold},
               {state, state_colour(state)},
               {reason == "none" ? "-" : reason},
               {text_or_dash(backend["version"])},
               {text_or_dash(backend["library"])}},
              backend_notes(backend));
  }
  page.heading("Backends");
  table.draw(page, 2);
}

// ---- devices

/// "1024 x 1024 x 64", or empty when unknown.
std::string extents(const Json& list) {
  std::string text;
  for (const Json& extent : list) {
    if (!text.empty()) text += " x ";
    text += extent.dump();
  }
  return text;
}

std::string limits(const Json& device) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& value) {
    if (value.empty() || value == unknown) return;
    if (!text.empty()) text += ", ";
    text.append(label).append(" ").append(value);
  };
  add("threads per block", text_of(device["max_threads_per_block"]));
  add("block", extents(device["max_block"]));
  add("grid", extents(device["max_grid"]));
  add("shared memory per block", bytes_of(device["shared_memory_per_block_bytes"]));
  add("registers per block", text_of(device["registers_per_block"]));
  add("allocations aligned to", bytes_of(device["memory_alignment_bytes"]));
  return text.empty() ? unknown : text;
}

std::string words(const Json& list) {
  std::string text;
  for (const Json& word : list) {
    if (!text.empty()) text += ' ';
    text += text_of(word);
  }
  return text.empty() ? "none" : text;
}

/// Two fields a line where both fit, else one.
void draw_pairs(Page& page, const std::vector<std::pair<const char*, std::string>>& fields) {
  const std::size_t half = (page.columns() - device_indent) / 2;
  const auto cell = [&](const auto& field) {
    const Colour colour = field.second == unknown ? Colour::dim : Colour::none;
    return padded(field.first, label_columns) + page.coloured(field.second, colour);
  };
  const auto plain_width = [](const auto& field) { return label_columns + width(field.second); };
  const std::string margin(device_indent, ' ');
  for (std::size_t at = 0; at < fields.size();) {
    std::string line = margin + cell(fields[at]);
    const std::size_t taken = plain_width(fields[at]);
    ++at;
    if (at < fields.size() && taken + 2 <= half && plain_width(fields[at]) <= half) {
      line.append(half - taken, ' ').append(cell(fields[at]));
      ++at;
    }
    page.line(line);
  }
}

void draw_device(Page& page, const Json& device) {
  page.line("  " + page.coloured(text_of(device["id"]), Colour::bold) + "  " +
            text_of(device["name"]));
  draw_pairs(page, {{"architecture", text_of(device["architecture"])},
                    {"driver", text_of(device["driver_version"])},
                    {"PCI address", text_of(device["pci_address"])},
                    {"NUMA node", text_of(device["numa_node"])},
                    {"memory", bytes_of(device["memory_total_bytes"])},
                    {"free memory", bytes_of(device["memory_free_bytes"])},
                    {"compute units", text_of(device["compute_units"])},
                    {"highest clock", clock_of(device["clock_max_khz"])},
                    {"subgroup width", text_of(device["subgroup_width"])},
                    {"cache", bytes_of(device["cache_bytes"])}});
  page.paragraph(device_indent, "limits", label_columns, limits(device));
  page.paragraph(device_indent, "features", label_columns, words(device["features"]));
  page.paragraph(device_indent, "types", label_columns, words(device["types"]));
}

}  // namespace

std::string list_text(const Json& document, Screen screen) {
  Page page(screen);
  page.line("hal " + text_of(document["hal_version"]));
  page.line();
  draw_backends(page, document["backends"]);
  page.line();
  page.heading("Devices");
  for (const Json& device : document["devices"])
    draw_device(page, device);
  if (document["devices"].empty()) page.line("  none");
  return page.text();
}

}  // namespace halinfo
