// SPDX-License-Identifier: Apache-2.0
#include <hal/config.hpp>
#include <hal/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hal::config {
namespace {

// ---- the table ---------------------------------------------------------------------------------

struct Row {
  std::string_view name;
  Type type;
  std::string_view default_value;
  std::string_view description;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::span<const std::string_view> words = {};
};

constexpr std::string_view log_words[] = {"off", "error", "warning", "info", "debug"};
constexpr std::string_view numa_word[] = {"numa"};

constexpr std::string_view driver_description =
    "load the driver from this library instead of searching for it";

constexpr auto table = std::to_array<Row>({
    {.name = "HAL_DEVICE",
     .type = Type::text,
     .default_value = "",
     .description =
         "the default device, such as host:0 or cuda:1; unset: the first GPU, else host:0"},
    {.name = "HAL_PLUGINS",
     .type = Type::path_list,
     .default_value = "",
     .description = "backends to load besides those built in"},
    {.name = "HAL_LOG",
     .type = Type::word,
     .default_value = "warning",
     .description = "the least important messages that are still written",
     .words = log_words},
    {.name = "HAL_TRACE",
     .type = Type::path,
     .default_value = "",
     .description = "write what happens to this file, for chrome://tracing or ui.perfetto.dev"},
    {.name = "HAL_SYNC",
     .type = Type::boolean,
     .default_value = "0",
     .description =
         "wait after each piece of work, so that a failure names the call that caused it"},
    {.name = "HAL_HOST_DEVICES",
     .type = Type::count_or_word,
     .default_value = "1",
     .description = "how many host devices share the cores; numa: one for each NUMA node",
     .least = 1,
     .most = 64,
     .words = numa_word},
    {.name = "HAL_HOST_THREADS",
     .type = Type::integer,
     .default_value = "0",
     .description = "threads of the host devices together; 0: all cores this process may use",
     .least = 0,
     .most = 1024},
    {.name = "HAL_HOST_HUGE_PAGES",
     .type = Type::boolean,
     .default_value = "0",
     .description = "back large host allocations with huge pages"},
    {.name = "HAL_MEMORY_LIMIT",
     .type = Type::bytes,
     .default_value = "0",
     .description =
         "the most to take of each device's own memory, not of pinned and managed; 0: no limit",
     .least = 0,
     .most = std::numeric_limits<std::int64_t>::max()},
    {.name = "HAL_CUDA_DRIVER",
     .type = Type::path,
     .default_value = "",
     .description = driver_description},
    {.name = "HAL_HIP_DRIVER",
     .type = Type::path,
     .default_value = "",
     .description = driver_description},
    {.name = "HAL_PPU_DRIVER",
     .type = Type::path,
     .default_value = "",
     .description = driver_description},
});

/// "a, b or c"
std::string alternatives(std::span<const std::string_view> words) {
  std::string joined;
  for (std::size_t index = 0; index < words.size(); ++index) {
    if (index > 0) joined += index + 1 == words.size() ? " or " : ", ";
    joined += words[index];
  }
  return joined;
}

std::string accepts(const Row& row) {
  switch (row.type) {
    case Type::boolean:
      return "0, 1, true, false, on, off, yes or no";
    case Type::integer:
      return fmt::format("a whole number from {} to {}", row.least, row.most);
    case Type::bytes:
      return "a number of bytes, with k, m, g or t for a power of 1024";
    case Type::word:
      return alternatives(row.words);
    case Type::text:
      return "any text";
    case Type::path:
      return "the path of a file";
    case Type::path_list:
      return "paths of files, separated by ':'";
    case Type::count_or_word:
      return fmt::format("a whole number from {} to {}, or {}", row.least, row.most,
                         alternatives(row.words));
  }
  return {};
}

// ---- values ------------------------------------------------------------------------------------

/// What a text means. `text` is in the table's own spelling for words and booleans.
struct Value {
  std::string text;
  std::int64_t number = 0;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

/// All of `text` as a whole number within the row's bounds.
std::optional<std::int64_t> parse_number(const Row& row, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  if (number < row.least || number > row.most) return {};
  return number;
}

std::optional<std::int64_t> parse_bytes(const Row& row, std::string_view text) {
  constexpr std::string_view suffixes = "kmgt";
  std::int64_t unit = 1;
  if (!text.empty()) {
    const std::size_t power = suffixes.find(lower_case(text.substr(text.size() - 1)));
    if (power != std::string_view::npos) {
      unit = std::int64_t{1024} << (10 * power);
      text.remove_suffix(1);
    }
  }
  const std::optional<std::int64_t> number = parse_number(row, text);
  if (!number || *number > row.most / unit) return {};
  return *number * unit;
}

std::optional<bool> parse_boolean(std::string_view text) {
  struct Spelling {
    std::string_view text;
    bool value;
  };
  constexpr Spelling spellings[] = {{"0", false},   {"1", true},  {"false", false}, {"true", true},
                                    {"off", false}, {"on", true}, {"no", false},    {"yes", true}};
  const std::string lower = lower_case(text);
  for (const Spelling& spelling : spellings) {
    if (spelling.text == lower) return spelling.value;
  }
  return {};
}

std::optional<Value> parse_word(const Row& row, std::string_view text) {
  std::string lower = lower_case(text);
  if (std::ranges::find(row.words, lower) == row.words.end()) return {};
  return Value{.text = std::move(lower)};
}

std::optional<Value> with_number(std::string_view text, std::optional<std::int64_t> number) {
  if (!number) return {};
  return Value{.text = std::string(text), .number = *number};
}

std::optional<Value> parse(const Row& row, std::string_view text) {
  switch (row.type) {
    case Type::boolean:
      if (const std::optional<bool> value = parse_boolean(text)) {
        return Value{.text = *value ? "1" : "0", .number = *value ? 1 : 0};
      }
      return {};
    case Type::integer:
      return with_number(text, parse_number(row, text));
    case Type::bytes:
      return with_number(text, parse_bytes(row, text));
    case Type::word:
      return parse_word(row, text);
    case Type::count_or_word: {
      std::optional<Value> word = parse_word(row, text);
      return word ? word : with_number(text, parse_number(row, text));
    }
    case Type::text:
    case Type::path:
    case Type::path_list:
      return Value{.text = std::string(text)};
  }
  return {};
}

std::string problem_with(const Row& row, std::string_view text) {
  return fmt::format("{} is '{}': set it to {}", row.name, text, accepts(row));
}

// ---- what is in force --------------------------------------------------------------------------

struct Setting {
  std::string text;  ///< as given
  Origin origin = Origin::built_in;
  std::optional<Value> value;  ///< empty: the text does not parse
};

/// An empty text is as good as none.
Setting make_setting(const Row& row, std::string_view text, Origin origin) {
  if (text.empty()) text = row.default_value;
  return {.text = std::string(text), .origin = origin, .value = parse(row, text)};
}

Setting read_environment(const Row& row) {
  // Not `getenv`: a program with raised rights must not load what its caller names.
  const char* text = ::secure_getenv(std::string(row.name).c_str());
  const bool is_set = text != nullptr && *text != '\0';
  return make_setting(row, is_set ? text : "", is_set ? Origin::environment : Origin::built_in);
}

class Settings {
 public:
  Setting get(const Row& row) {
    const std::lock_guard lock(mutex_);
    std::optional<Setting>& setting = slot(row);
    if (!setting) setting = read_environment(row);
    return *setting;
  }

  void set(const Row& row, Setting setting) {
    const std::lock_guard lock(mutex_);
    slot(row) = std::move(setting);
  }

 private:
  std::optional<Setting>& slot(const Row& row) {
    return slots_[static_cast<std::size_t>(&row - table.data())];
  }

  std::mutex mutex_;
  std::array<std::optional<Setting>, table.size()> slots_;  ///< empty until first read
};

/// Never destroyed: variables are also read while the process ends.
Settings& settings() {
  static Settings& instance = *new Settings;
  return instance;
}

const Row* find(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Row::name);
  return found == table.end() ? nullptr : &*found;
}

const Row& require(std::string_view name, const char* operation) {
  if (const Row* row = find(name)) return *row;
  throw Error(
      Errc::not_found, operation,
      fmt::format("there is no variable '{}'; 'halinfo --config' lists those there are", name));
}

Value value_of(const Row& row, const char* operation) {
  Setting setting = settings().get(row);
  if (setting.value) return *std::move(setting.value);
  throw Error(Errc::invalid_argument, operation, problem_with(row, setting.text));
}

Value value_of(std::string_view name, Type type, const char* operation) {
  const Row& row = require(name, operation);
  if (row.type != type) {
    throw Error(Errc::invalid_argument, operation,
                fmt::format("{} is of type {}, not {}; config::text reads every type", row.name,
                            config::name(row.type), config::name(type)));
  }
  return value_of(row, operation);
}

}  // namespace

std::vector<Variable> variables() {
  std::vector<Variable> all;
  all.reserve(table.size());
  for (const Row& row : table) {
    const Setting setting = settings().get(row);
    all.push_back({.name = std::string(row.name),
                   .type = row.type,
                   .default_value = std::string(row.default_value),
                   .value = setting.value ? setting.value->text : setting.text,
                   .origin = setting.origin,
                   .accepts = accepts(row),
                   .description = std::string(row.description),
                   .problem = setting.value ? "" : problem_with(row, setting.text)});
  }
  return all;
}

std::vector<std::string> unknown_variables() {
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("HAL_") && find(name) == nullptr) unknown.emplace_back(name);
  }
  std::ranges::sort(unknown);
  return unknown;
}

std::string text(std::string_view name) {
  return value_of(require(name, "config::text"), "config::text").text;
}

bool boolean(std::string_view name) {
  return value_of(name, Type::boolean, "config::boolean").number != 0;
}

std::int64_t integer(std::string_view name) {
  return value_of(name, Type::integer, "config::integer").number;
}

std::size_t bytes(std::string_view name) {
  return static_cast<std::size_t>(value_of(name, Type::bytes, "config::bytes").number);
}

std::vector<std::string> path_list(std::string_view name) {
  const std::string joined = value_of(name, Type::path_list, "config::path_list").text;
  std::vector<std::string> paths;
  for (std::size_t begin = 0; begin < joined.size();) {
    const std::size_t end = std::min(joined.find(':', begin), joined.size());
    if (end > begin) paths.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

void set(std::string_view name, std::string_view value) {
  const Row& row = require(name, "config::set");
  Setting setting = make_setting(row, value, Origin::program);
  if (!setting.value) {
    throw Error(Errc::invalid_argument, "config::set", problem_with(row, value));
  }
  settings().set(row, std::move(setting));
}

}  // namespace hal::config
