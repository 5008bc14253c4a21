// SPDX-License-Identifier: Apache-2.0
#include "spi/trace.hpp"
#include "support/catch.hpp"
#include "support/self.hpp"
#include "support/temporary_folder.hpp"

#include <hal/error.hpp>
#include <hal/log.hpp>
#include <hal/trace.hpp>

#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;
using hal::spi::emit;
using hal::trace::ChromeTraceWriter;
using hal::trace::Kind;
using hal::trace::Span;
using hal_test::TemporaryFolder;
using nlohmann::json;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

json parse(const std::string& path) { return json::parse(contents(path)); }

std::vector<json> events(const json& trace, std::string_view phase) {
  std::vector<json> found;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

/// What the viewer shows for a process ("process_name") or a row ("thread_name").
std::string label(const json& trace, std::string_view what, const json& event) {
  for (const json& meta : events(trace, "M")) {
    const bool same_row = what == "process_name" || meta.at("tid") == event.at("tid");
    if (meta.at("name") == what && meta.at("pid") == event.at("pid") && same_row) {
      return meta.at("args").at("name");
    }
  }
  return "(none)";
}

Span launch_on(std::string_view device, std::uint64_t stream) {
  Span span;
  span.device = device;
  span.stream = stream;
  span.sequence = 4;
  span.begin_ns = 5'000'123;
  span.end_ns = 5'002'456;
  span.name = "saxpy";
  span.file = "src/saxpy.cpp";
  span.line = 31;
  return span;
}

/// Files may not grow beyond `bytes`, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*signal_)(int);
  rlimit before_{};
};

template <typename F>
std::optional<hal::Error> error_of(F&& f) {
  try {
    f();
  } catch (const hal::Error& error) {
    return error;
  }
  return {};
}

}  // namespace

TEST_CASE("traces one launch as HAL_TRACE asks", "[.][trace-child]") {
  hal::spi::start_configured_trace();
  hal::spi::start_configured_trace();  // a second time changes nothing
  emit(launch_on("host:0", 7));
  hal::spi::finish_configured_trace();
  hal::spi::finish_configured_trace();
}

TEST_CASE("a launch stands in its device's process and its stream's row") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  {
    const ChromeTraceWriter writer(path);
    emit(launch_on("host:0", 7));
  }
  const json trace = parse(path);
  const std::vector<json> spans = events(trace, "X");
  REQUIRE(spans.size() == 1);
  const json& span = spans[0];
  CHECK(span.at("name") == "saxpy");
  CHECK(span.at("cat") == "launch");
  CHECK(span.at("ts") == 5000.123);
  CHECK(span.at("dur") == 2.333);
  CHECK(span.at("tid") == 7);
  CHECK(
      span.at("args") ==
      json({{"device", "host:0"}, {"stream", 7}, {"sequence", 4}, {"source", "src/saxpy.cpp:31"}}));
  CHECK(label(trace, "process_name", span) == "host:0");
  CHECK(label(trace, "thread_name", span) == "stream 7");
}

TEST_CASE("times keep their nanoseconds after months of uptime") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  {
    const ChromeTraceWriter writer(path);
    Span span = launch_on("host:0", 7);
    span.begin_ns = 12'345'678'901'234'007;
    span.end_ns = span.begin_ns + 9;
    emit(span);
  }
  CHECK_THAT(contents(path), ContainsSubstring(R"("ts":12345678901234.007,"dur":0.009,)"));
}

TEST_CASE("a span that ends before it began has no length") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  {
    const ChromeTraceWriter writer(path);
    Span span = launch_on("host:0", 7);
    span.end_ns = span.begin_ns - 1;
    emit(span);
  }
  CHECK(events(parse(path), "X").at(0).at("dur") == 0);
}

TEST_CASE("each device is a process, each stream a row, labelled once") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  {
    const ChromeTraceWriter writer(path);
    for (int round = 0; round < 3; ++round) {
      emit(launch_on("host:0", 1));
      emit(launch_on("host:0", 2));
      emit(launch_on("host:1", 3));
    }
  }
  const json trace = parse(path);
  const std::vector<json> spans = events(trace, "X");
  REQUIRE(spans.size() == 9);
  CHECK(spans[0].at("pid") == spans[1].at("pid"));
  CHECK(spans[0].at("pid") != spans[2].at("pid"));
  CHECK(label(trace, "process_name", spans[2]) == "host:1");
  CHECK(label(trace, "thread_name", spans[1]) == "stream 2");
  CHECK(events(trace, "M").size() == 3 + 3);  // "calls" and two devices; three streams
}

TEST_CASE("calls stand in rows of their threads") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  {
    const ChromeTraceWriter writer(path);
    const auto call = [](Kind kind) { const hal::spi::ScopedSpan span(kind, "host:0", 7, 4096); };
    call(Kind::synchronize);
    call(Kind::release);
    std::thread([&] { call(Kind::allocate); }).join();
  }
  const json trace = parse(path);
  const std::vector<json> spans = events(trace, "X");
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].at("name") == "synchronize");
  CHECK(spans[2].at("name") == "allocate");
  CHECK(spans[2].at("args").at("bytes") == 4096);
  CHECK(spans[2].at("args").at("device") == "host:0");
  for (const json& span : spans)
    CHECK(label(trace, "process_name", span) == "calls");
  CHECK(spans[0].at("tid") == spans[1].at("tid"));
  CHECK(spans[0].at("tid") != spans[2].at("tid"));
  CHECK(label(trace, "thread_name", spans[0]) == "main thread");
  CHECK_THAT(label(trace, "thread_name", spans[2]), ContainsSubstring("thread "));
}

TEST_CASE("a trace of nothing is a valid file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  { const ChromeTraceWriter writer(path); }
  CHECK(events(parse(path), "X").empty());
}

TEST_CASE("any name is written as valid JSON") {
  const std::pair<std::string, std::string> cases[] = {
      {"quote\" back\\slash", "quote\" back\\slash"},
      {"tab\t line\n bell\a", "tab\t line\n bell\a"},
      {std::string("nul\0nul", 7), std::string("nul\0nul", 7)},
      {"gr\u00fc\u00df \u6f22 \U0001F600", "gr\u00fc\u00df \u6f22 \U0001F600"},
      {"lone \xff byte", "lone \ufffd byte"},
      {"cut \xe6\xbc", "cut \ufffd\ufffd"},
      {"overlong \xc0\xaf", "overlong \ufffd\ufffd"},
      {"surrogate \xed\xa0\x80", "surrogate \ufffd\ufffd\ufffd"},
      {"beyond \xf4\x90\x80\x80", "beyond \ufffd\ufffd\ufffd\ufffd"},
  };
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  {
    const ChromeTraceWriter writer(path);
    for (const auto& [name, expected] : cases) {
      Span span = launch_on(name, 1);
      span.name = name;
      span.file = name;
      emit(span);
    }
  }
  const json trace = parse(path);
  const std::vector<json> spans = events(trace, "X");
  REQUIRE(spans.size() == std::size(cases));
  for (std::size_t index = 0; index < spans.size(); ++index) {
    CHECK(spans[index].at("name") == cases[index].second);
    CHECK(label(trace, "process_name", spans[index]) == cases[index].second);
  }
}

TEST_CASE("many threads write one whole file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  constexpr std::size_t spans_a_thread = 2000;  // several buffers full
  {
    const ChromeTraceWriter writer(path);
    std::vector<std::thread> threads;
    for (std::uint64_t stream = 1; stream <= 4; ++stream) {
      threads.emplace_back([stream] {
        for (std::size_t round = 0; round < spans_a_thread; ++round)
          emit(launch_on("host:0", stream));
      });
    }
    for (std::thread& thread : threads)
      thread.join();
  }
  CHECK(events(parse(path), "X").size() == 4 * spans_a_thread);
}

TEST_CASE("the file appears when the writer is closed, in place of an old one") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  std::ofstream(path) << "old";
  ChromeTraceWriter writer(path);
  emit(launch_on("host:0", 1));
  CHECK(contents(path) == "old");
  writer.close();
  CHECK(events(parse(path), "X").size() == 1);
  emit(launch_on("host:0", 1));
  CHECK_NOTHROW(writer.close());
  CHECK(events(parse(path), "X").size() == 1);
  CHECK_FALSE(hal::spi::tracing());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that cannot be created is named at once") {
  const TemporaryFolder folder;
  const std::string path = folder.file("no/such/folder.json");
  const auto error = error_of([&] { const ChromeTraceWriter writer(path); });
  REQUIRE(error.has_value());
  CHECK(error->code() == hal::Errc::io);
  CHECK_THAT(error->message(), ContainsSubstring(path) && ContainsSubstring("No such file"));
  CHECK_FALSE(hal::spi::tracing());
}

TEST_CASE("what is not a regular file is refused, not replaced") {
  const TemporaryFolder folder;
  for (const std::string& path :
       {std::string("/dev/null"), folder.path().string(), std::string()}) {
    const auto error = error_of([&] { const ChromeTraceWriter writer(path); });
    REQUIRE(error.has_value());
    CHECK(error->code() == hal::Errc::io);
    CHECK_THAT(error->message(), ContainsSubstring("not a regular file"));
  }
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a full disk is an error that names the file, and leaves nothing") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  ChromeTraceWriter writer(path);
  {
    const FileSizeLimit full(4096);
    for (int round = 0; round < 5000; ++round)
      emit(launch_on("host:0", 1));
    const auto error = error_of([&] { writer.close(); });
    REQUIRE(error.has_value());
    CHECK(error->code() == hal::Errc::io);
    CHECK_THAT(error->message(), ContainsSubstring(path));
  }
  CHECK(folder.empty());
  CHECK_FALSE(hal::spi::tracing());
}

TEST_CASE("a writer that is destroyed on a full disk logs the error and leaves nothing") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  std::string logged;
  hal::log::set_sink([&](hal::log::Level, std::string_view message) { logged += message; });
  {
    std::optional<ChromeTraceWriter> writer(path);
    const FileSizeLimit full(10);
    writer.reset();
  }
  hal::log::set_sink({});
  CHECK_THAT(logged, ContainsSubstring(path));
  CHECK(folder.empty());
}

TEST_CASE("two writers of one file do not mix") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  {
    const ChromeTraceWriter first(path);
    const ChromeTraceWriter second(path);
    emit(launch_on("host:0", 1));
  }
  CHECK(events(parse(path), "X").size() == 1);
}

TEST_CASE("a forked child leaves its parent's trace alone") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  auto* writer = new ChromeTraceWriter(path);
  emit(launch_on("host:0", 1));
  const pid_t child = ::fork();
  if (child == 0) {
    emit(launch_on("host:0", 2));
    delete writer;
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK_FALSE(std::filesystem::exists(path));
  emit(launch_on("host:0", 3));
  delete writer;
  const std::vector<json> spans = events(parse(path), "X");
  REQUIRE(spans.size() == 2);
  CHECK(spans[1].at("tid") == 3);
}

TEST_CASE("HAL_TRACE writes the whole program's trace") {
  const TemporaryFolder folder;
  const std::string path = folder.file("trace.json");
  CHECK(hal_test::run_self("[trace-child]", {"HAL_TRACE=" + path}).exit_status == 0);
  CHECK(events(parse(path), "X").size() == 1);
}

TEST_CASE("without HAL_TRACE nothing is traced, and a bad one fails with its name") {
  CHECK(hal_test::run_self("[trace-child]", {"HAL_TRACE="}).exit_status == 0);
  const auto child = hal_test::run_self("[trace-child]", {"HAL_TRACE=/no/such/folder.json"});
  CHECK(child.exit_status != 0);
  CHECK_THAT(child.output, ContainsSubstring("/no/such/folder.json"));
}
