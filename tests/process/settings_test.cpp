// SPDX-License-Identifier: Apache-2.0
#include "process/program.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <sched.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using hal_test::TemporaryFolder;
using process::describe;
using process::run;

namespace {

/// What a person sees of a program that was given something wrong.
void check_one_sentence(const process::Result& result, const std::vector<std::string>& words) {
  INFO(describe(result));
  CHECK(result.status == 1);
  CHECK(std::ranges::count(result.err, '\n') == 1);
  CHECK(result.err.ends_with('\n'));
  for (const std::string& word : words)
    CHECK_THAT(result.err, ContainsSubstring(word));
}

/// Cores of each host device, as the scenario lists them.
std::map<std::string, int> host_devices(const process::Environment& environment) {
  const process::Result result = run("list-host-devices", environment);
  INFO(describe(result));
  REQUIRE(result.status == 0);
  std::map<std::string, int> devices;
  std::istringstream lines(result.out);
  std::string id;
  for (int cores = 0; lines >> id >> cores;)
    devices[id] = cores;
  return devices;
}

int cores_of_this_process() {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
  return CPU_COUNT(&set);
}

/// The complete events of a trace file by category.
std::map<std::string, std::vector<nlohmann::json>> events_of(const std::string& path) {
  std::ifstream file(path);
  const nlohmann::json trace = nlohmann::json::parse(file);
  std::map<std::string, std::vector<nlohmann::json>> events;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") events[event.at("cat").get<std::string>()].push_back(event);
  }
  return events;
}

}  // namespace

TEST_CASE("a value of any variable that does not parse ends the program with one sentence") {
  const std::set<std::string> checked{"boolean", "integer", "bytes", "word", "count_or_word"};
  const process::Result list = run("list-variables");
  REQUIRE(list.status == 0);
  std::istringstream lines(list.out);
  std::string variable;
  std::string type;
  int tried = 0;
  while (lines >> variable >> type) {
    if (!checked.contains(type)) continue;
    for (const std::string value : {"nonsense", "-1", "1.5", "99999999999999999999"}) {
      CAPTURE(variable, value);
      check_one_sentence(run("plain", {{variable, value}}), {variable, value});
      ++tried;
    }
  }
  CHECK(tried >= 20);
}

TEST_CASE("an empty value is as good as none") {
  const process::Result list = run("list-variables");
  std::istringstream lines(list.out);
  process::Environment all_empty;
  std::string type;
  for (std::string variable; lines >> variable >> type;)
    all_empty.emplace_back(variable, "");
  const process::Result result = run("plain", all_empty);
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "it works\n");
}

TEST_CASE("the default device is the one HAL_DEVICE names") {
  CHECK(run("use-default-device", {{"HAL_DEVICE", "host:1"}, {"HAL_HOST_DEVICES", "2"}}).out ==
        "host:1\n");
  CHECK(run("use-default-device", {{"HAL_DEVICE", "host"}}).out == "host:0\n");
}

TEST_CASE("a HAL_DEVICE that is not there ends the program with one sentence") {
  check_one_sentence(run("use-default-device", {{"HAL_DEVICE", "nonesuch:0"}}),
                     {"HAL_DEVICE", "nonesuch:0", "host:0"});
  check_one_sentence(run("use-default-device", {{"HAL_DEVICE", "host:1"}}),
                     {"HAL_DEVICE", "host:1", "host:0"});
  check_one_sentence(run("use-default-device", {{"HAL_DEVICE", "gibberish!"}}),
                     {"HAL_DEVICE", "gibberish!"});
}

TEST_CASE("HAL_PLUGINS that names no plug-in ends the program with one sentence") {
  const TemporaryFolder folder;
  const std::string text_file = folder.file("plugin.txt");
  std::ofstream(text_file) << "this is no plug-in\n";
  check_one_sentence(run("plain", {{"HAL_PLUGINS", text_file}}), {"HAL_PLUGINS", text_file});
  check_one_sentence(run("plain", {{"HAL_PLUGINS", folder.file("absent.so")}}),
                     {"HAL_PLUGINS", "absent.so"});
  check_one_sentence(run("plain", {{"HAL_PLUGINS", "/usr"}}), {"HAL_PLUGINS", "/usr"});
}

TEST_CASE("a trace that cannot be written ends the program with one sentence") {
  check_one_sentence(run("plain", {{"HAL_TRACE", "/nonexistent/trace.json"}}),
                     {"/nonexistent/trace.json"});
  check_one_sentence(run("plain", {{"HAL_TRACE", "/"}}), {"'/'"});
}

TEST_CASE("HAL_TRACE writes a valid file of all that happened, at exit and at shutdown") {
  for (const char* scenario : {"work-of-all-kinds", "work-then-shut-down"}) {
    CAPTURE(scenario);
    const TemporaryFolder folder;
    const process::Result result = run(scenario, {{"HAL_TRACE", folder.file("trace.json")}});
    INFO(describe(result));
    REQUIRE(result.status == 0);
    CHECK(std::ranges::distance(std::filesystem::directory_iterator(folder.path())) == 1);
    auto events = events_of(folder.file("trace.json"));
    for (const char* kind : {"launch", "copy", "fill", "host_function", "record", "wait",
                             "synchronize", "allocate", "release"}) {
      CAPTURE(kind);
      CHECK(!events[kind].empty());
    }
    REQUIRE(events["launch"].size() == 1);
    CHECK(events["launch"][0].at("name") == "a \"quoted\" kernel\n");
    CHECK(events["launch"][0].at("args").at("device") == "host:0");
    CHECK(events["launch"][0].at("dur").get<double>() >= 0.0);
  }
}

TEST_CASE("HAL_SYNC makes the call that fails throw at once") {
  const process::Result later = run("fail-at-once");
  INFO(describe(later));
  CHECK_THAT(later.out, ContainsSubstring("launch returned\nthen: launch_failed\ncall: ok\n"));

  const process::Result at_once = run("fail-at-once", {{"HAL_SYNC", "1"}});
  INFO(describe(at_once));
  CHECK(at_once.status == 0);
  CHECK_THAT(at_once.out, ContainsSubstring("launch threw kernel"));
  CHECK_THAT(at_once.out, ContainsSubstring("picky"));
  CHECK_THAT(at_once.out,
             ContainsSubstring("then: launch_failed\ncall: launch_failed\nsound: ok\n"));
}

TEST_CASE("HAL_HOST_DEVICES gives that many devices, each with a share of the cores") {
  const int cores = cores_of_this_process();
  for (const int count : {1, 2, 4}) {
    CAPTURE(count);
    const auto devices = host_devices({{"HAL_HOST_DEVICES", std::to_string(count)}});
    REQUIRE(static_cast<int>(devices.size()) == count);
    int sum = 0;
    for (const auto& [id, share] : devices) {
      CAPTURE(id);
      CHECK(share >= 1);
      sum += share;
    }
    CHECK(sum <= std::max(cores, count));
  }
  for (const char* count : {"1", "4", "64", "numa"}) {
    const process::Result result = run("use-all-host-devices", {{"HAL_HOST_DEVICES", count}});
    INFO(describe(result));
    CHECK(result.out == "right\n");
  }
}

TEST_CASE("HAL_HOST_DEVICES=numa gives a device a NUMA node") {
  const auto devices = host_devices({{"HAL_HOST_DEVICES", "numa"}});
  CHECK(!devices.empty());
  for (const auto& [id, share] : devices)
    CHECK(share >= 1);
}

TEST_CASE("HAL_HOST_THREADS sets the threads of the host device") {
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    const process::Environment environment{{"HAL_HOST_THREADS", std::to_string(threads)}};
    CHECK(host_devices(environment) == std::map<std::string, int>{{"host:0", threads}});
    CHECK(run("plain", environment).out == "it works\n");
  }
}

TEST_CASE("HAL_MEMORY_LIMIT bounds what a device gives") {
  CHECK(run("allocate-four-megabytes", {{"HAL_MEMORY_LIMIT", "1m"}}).out == "out_of_memory\n");
  CHECK(run("allocate-four-megabytes", {{"HAL_MEMORY_LIMIT", "64m"}}).out == "ok\n");
  CHECK(run("allocate-four-megabytes").out == "ok\n");
}

TEST_CASE("huge pages may be asked for with a variable") {
  const process::Result result = run("allocate-four-megabytes", {{"HAL_HOST_HUGE_PAGES", "1"}});
  INFO(describe(result));
  CHECK(result.out == "ok\n");
}

TEST_CASE("a program may set variables before the first device is asked for") {
  const process::Result result = run("set-variables");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK_THAT(result.out, ContainsSubstring("unknown: not_found\nnonsense: invalid_argument\n"
                                           "out of bounds: invalid_argument\n"));
  CHECK_THAT(result.out, ContainsSubstring("host:2"));
}

TEST_CASE("a program that owns the cores may run the loops itself") {
  const process::Result result = run("install-an-executor");
  INFO(describe(result));
  CHECK(result.status == 0);
  CHECK(result.out == "right\nby its owner\nlate: invalid_state\n");
}

// A sanitizer's library must be loaded before any other, so nothing can be loaded before the
// program.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("two versions of the library in one process end the program with one sentence") {
  check_one_sentence(run("use-default-device", {{"LD_PRELOAD", HAL_TEST_PLUGINS "/libhal.so.9"}}),
                     {"/libhal.so.9'", "link"});
}
#endif
