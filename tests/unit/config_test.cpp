// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/outcome.hpp"
#include "support/self.hpp"

#include <hal/config.hpp>
#include <hal/error.hpp>

#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;
using hal::Errc;
using hal::Error;
using hal_test::error_of;

namespace config = hal::config;

/// Sets a variable, and back to what it was at the end.
class Override {
 public:
  Override(std::string name, std::string_view value) : name_(std::move(name)) {
    before_ = config::text(name_);
    config::set(name_, value);
  }
  ~Override() { config::set(name_, before_); }
  Override(const Override&) = delete;
  Override& operator=(const Override&) = delete;

 private:
  std::string name_;
  std::string before_;
};

config::Variable variable(std::string_view name) {
  for (config::Variable& row : config::variables()) {
    if (row.name == name) return row;
  }
  throw std::runtime_error("no such row");
}

bool accepts(const char* name, const char* value) {
  try {
    const Override changed(name, value);
    return true;
  } catch (const Error& error) {
    return error.code() != Errc::invalid_argument;
  }
}

/// What a new process with this environment prints of its configuration.
std::string configured_by(const std::vector<std::string>& environment) {
  const hal_test::Finished child = hal_test::run_self("[config-child]", environment);
  REQUIRE(child.exit_status == 0);
  return child.output;
}

}  // namespace

TEST_CASE("prints the configuration", "[.][config-child]") {
  for (const config::Variable& row : config::variables()) {
    std::cout << "@ " << row.name << '|' << row.value << '|' << name(row.origin) << '|'
              << row.problem << "|\n";
  }
  for (const std::string& name : config::unknown_variables())
    std::cout << "? " << name << "|\n";
  try {
    std::cout << "text: " << config::text("HAL_HOST_DEVICES") << "|\n";
  } catch (const Error& error) {
    std::cout << "threw " << name(error.code()) << "|\n";
  }
}

TEST_CASE("every row of the table says what it is for and has a default that parses") {
  std::set<std::string> names;
  for (const config::Variable& row : config::variables()) {
    INFO(row.name);
    CHECK(row.name.starts_with("HAL_"));
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.description.empty());
    CHECK_FALSE(row.accepts.empty());
    CHECK(accepts(row.name.c_str(), row.default_value.c_str()));
  }
  for (const char* name :
       {"HAL_DEVICE", "HAL_PLUGINS", "HAL_LOG", "HAL_TRACE", "HAL_SYNC", "HAL_HOST_DEVICES",
        "HAL_HOST_THREADS", "HAL_HOST_HUGE_PAGES", "HAL_MEMORY_LIMIT", "HAL_CUDA_DRIVER",
        "HAL_HIP_DRIVER", "HAL_PPU_DRIVER"}) {
    CHECK(names.count(name) == 1);
  }
}

TEST_CASE("values come from the environment, else from the table") {
  const std::string output =
      configured_by({"HAL_HOST_DEVICES=numa", "HAL_SYNC=Yes", "HAL_TRACE=", "HAL_PLUGINS=/a:/b"});
  CHECK_THAT(output, ContainsSubstring("@ HAL_HOST_DEVICES|numa|environment||"));
  CHECK_THAT(output, ContainsSubstring("@ HAL_SYNC|1|environment||"));
  CHECK_THAT(output, ContainsSubstring("@ HAL_PLUGINS|/a:/b|environment||"));
  CHECK_THAT(output, ContainsSubstring("@ HAL_TRACE||built_in||"));  // empty is unset
  CHECK_THAT(output, ContainsSubstring("@ HAL_HOST_HUGE_PAGES|0|built_in||"));
  CHECK_THAT(output, ContainsSubstring("text: numa|"));
}

TEST_CASE("a value of the environment that does not parse is named with what is accepted") {
  const std::string output = configured_by({"HAL_HOST_DEVICES=many", "HAL_MEMORY_LIMIT=1gb"});
  CHECK_THAT(output,
             ContainsSubstring("@ HAL_HOST_DEVICES|many|environment|HAL_HOST_DEVICES is 'many': "
                               "set it to a whole number from 1 to 64, or numa|"));
  CHECK_THAT(output,
             ContainsSubstring("@ HAL_MEMORY_LIMIT|1gb|environment|HAL_MEMORY_LIMIT is '1gb': "
                               "set it to a number of bytes"));
  CHECK_THAT(output, ContainsSubstring("threw invalid_argument|"));
}

TEST_CASE("misspelt variables are listed in order") {
  const std::string output =
      configured_by({"HAL_DEVISE=host:0", "HAL_=x", "HALF=1", "HAL_DEVICE=a=b"});
  CHECK_THAT(output, ContainsSubstring("? HAL_|\n"));
  CHECK_THAT(output, ContainsSubstring("? HAL_DEVISE|\n"));
  CHECK_THAT(output, !ContainsSubstring("? HALF"));
  CHECK_THAT(output, !ContainsSubstring("? HAL_DEVICE|"));
  CHECK(output.find("? HAL_|") < output.find("? HAL_DEVISE|"));
}

TEST_CASE("the program overrides a variable") {
  const Override changed("HAL_HOST_THREADS", "3");
  CHECK(config::integer("HAL_HOST_THREADS") == 3);
  CHECK(config::text("HAL_HOST_THREADS") == "3");
  CHECK(variable("HAL_HOST_THREADS").origin == config::Origin::program);
  CHECK(variable("HAL_HOST_THREADS").default_value == "0");
}

TEST_CASE("an empty text restores the default") {
  const Override changed("HAL_HOST_THREADS", "3");
  config::set("HAL_HOST_THREADS", "");
  CHECK(config::integer("HAL_HOST_THREADS") == 0);
}

TEST_CASE("a value that does not parse is refused and changes nothing") {
  const Override changed("HAL_HOST_DEVICES", "2");
  const Error error = error_of([] { config::set("HAL_HOST_DEVICES", "many"); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.message() ==
        "HAL_HOST_DEVICES is 'many': set it to a whole number from 1 to 64, or numa");
  CHECK(config::text("HAL_HOST_DEVICES") == "2");
}

TEST_CASE("booleans have several spellings and one text") {
  for (const char* yes : {"1", "true", "on", "yes", "TRUE", "On"}) {
    const Override changed("HAL_SYNC", yes);
    CHECK(config::boolean("HAL_SYNC"));
    CHECK(config::text("HAL_SYNC") == "1");
  }
  for (const char* no : {"0", "false", "off", "no", "No"}) {
    const Override changed("HAL_SYNC", no);
    CHECK_FALSE(config::boolean("HAL_SYNC"));
    CHECK(config::text("HAL_SYNC") == "0");
  }
  for (const char* bad : {"2", "y", "truee", " 1"})
    CHECK_FALSE(accepts("HAL_SYNC", bad));
}

TEST_CASE("whole numbers are bounded and nothing else") {
  for (const char* good : {"0", "1", "1024", "007"})
    CHECK(accepts("HAL_HOST_THREADS", good));
  for (const char* bad :
       {"-1", "1025", "1.5", "0x10", "+1", " 1", "1 ", "1k", "one", "99999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(accepts("HAL_HOST_THREADS", bad));
  }
}

TEST_CASE("a count may also be one of its words, in any case") {
  for (const char* good : {"1", "64"})
    CHECK(accepts("HAL_HOST_DEVICES", good));
  for (const char* bad : {"0", "65", "numas", "-1"})
    CHECK_FALSE(accepts("HAL_HOST_DEVICES", bad));
  const Override changed("HAL_HOST_DEVICES", "NUMA");
  CHECK(config::text("HAL_HOST_DEVICES") == "numa");
}

TEST_CASE("words are those listed, in any case") {
  const Override changed("HAL_LOG", "Debug");
  CHECK(config::text("HAL_LOG") == "debug");
  CHECK_FALSE(accepts("HAL_LOG", "loud"));
  CHECK(variable("HAL_LOG").accepts == "off, error, warning, info or debug");
}

TEST_CASE("bytes take a power of 1024") {
  const std::pair<const char*, std::size_t> cases[] = {{"0", 0},
                                                       {"4096", 4096},
                                                       {"1k", std::size_t{1} << 10},
                                                       {"512M", std::size_t{512} << 20},
                                                       {"1g", std::size_t{1} << 30},
                                                       {"3t", std::size_t{3} << 40},
                                                       {"9223372036854775807", INT64_MAX}};
  for (const auto& [text, expected] : cases) {
    const Override changed("HAL_MEMORY_LIMIT", text);
    CHECK(config::bytes("HAL_MEMORY_LIMIT") == expected);
  }
}

TEST_CASE("bytes that do not fit are refused") {
  for (const char* bad : {"99999999999999999999g", "9223372036854775808", "8388608t", "-1", "-1g",
                          "g", "1gb", "1 g", "1kk", "k1", "1.5g"}) {
    INFO(bad);
    CHECK_FALSE(accepts("HAL_MEMORY_LIMIT", bad));
  }
  CHECK(accepts("HAL_MEMORY_LIMIT", "8388607t"));
}

TEST_CASE("lists of paths are split at colons") {
  using Paths = std::vector<std::string>;
  const std::pair<const char*, Paths> cases[] = {{"", {}},
                                                 {"/a.so", {"/a.so"}},
                                                 {"/a.so:b/c.so", {"/a.so", "b/c.so"}},
                                                 {":/a.so::/b.so:", {"/a.so", "/b.so"}},
                                                 {":", {}}};
  for (const auto& [text, expected] : cases) {
    const Override changed("HAL_PLUGINS", text);
    CHECK(config::path_list("HAL_PLUGINS") == expected);
  }
}

TEST_CASE("an unknown variable is not found, by any way of asking") {
  CHECK(error_of([] { (void)config::text("HAL_DEVISE"); }).code() == Errc::not_found);
  CHECK(error_of([] { (void)config::boolean("HAL_DEVISE"); }).code() == Errc::not_found);
  CHECK(error_of([] { (void)config::integer("HAL_DEVISE"); }).code() == Errc::not_found);
  CHECK(error_of([] { (void)config::bytes("HAL_DEVISE"); }).code() == Errc::not_found);
  CHECK(error_of([] { (void)config::path_list("HAL_DEVISE"); }).code() == Errc::not_found);
  const Error error = error_of([] { config::set("HAL_DEVISE", "x"); });
  CHECK(error.code() == Errc::not_found);
  CHECK_THAT(error.message(), ContainsSubstring("HAL_DEVISE"));
}

TEST_CASE("asking for another type than a variable has is an error that names both") {
  const Error error = error_of([] { (void)config::integer("HAL_HOST_DEVICES"); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK_THAT(error.message(),
             ContainsSubstring("HAL_HOST_DEVICES is of type count_or_word, not integer"));
}

TEST_CASE("variables are read and set by many threads") {
  const Override changed("HAL_HOST_THREADS", "1");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t index = 0; index < wrong.size(); ++index) {
    threads.emplace_back([&, index] {
      for (int round = 0; round < 200; ++round) {
        config::set("HAL_HOST_THREADS", round % 2 == 0 ? "1" : "2");
        const std::int64_t value = config::integer("HAL_HOST_THREADS");
        if (value != 1 && value != 2) ++wrong[index];
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}
