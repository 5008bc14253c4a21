// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using conformance::device;
using conformance::Gate;

namespace {

/// A span whose texts stay.
struct Seen {
  hal::trace::Kind kind;
  std::string device;
  std::uint64_t stream;
  std::uint64_t sequence;
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t bytes;
  std::string name;
  std::string file;
  std::uint32_t line;
};

/// Collects what happens while it lives.
class Recorder {
 public:
  Recorder()
      : subscription_(hal::trace::subscribe([this](const hal::trace::Span& span) {
          const std::lock_guard lock(mutex_);
          spans_.push_back({span.kind, std::string(span.device), span.stream, span.sequence,
                            span.begin_ns, span.end_ns, span.bytes, std::string(span.name),
                            std::string(span.file), span.line});
        })) {}

  /// The spans of one kind on one stream (0: any), by sequence.
  [[nodiscard]] std::vector<Seen> of(hal::trace::Kind kind, std::uint64_t stream) const {
    const std::lock_guard lock(mutex_);
    std::vector<Seen> found;
    std::ranges::copy_if(spans_, std::back_inserter(found), [&](const Seen& span) {
      return span.kind == kind && span.device == device().id() &&
             (stream == 0 || span.stream == stream);
    });
    std::ranges::stable_sort(found, {}, &Seen::sequence);
    return found;
  }

  /// Waits until that many spans of the kind are seen: they may arrive after the work is done.
  [[nodiscard]] std::vector<Seen> wait_for(hal::trace::Kind kind, std::uint64_t stream,
                                           std::size_t count) const {
    conformance::wait_until([&] { return of(kind, stream).size() >= count; });
    return of(kind, stream);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Seen> spans_;
  hal::trace::Subscription subscription_;
};

/// Whether the backend tells of the work it does: it need not.
bool tells_of_its_work() {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(1, stream);
  const Recorder recorder;
  stream.fill(buffer, 1);
  stream.synchronize();
  if (!recorder.of(hal::trace::Kind::fill, stream.id()).empty()) return true;
  conformance::not_applicable("its backend does not tell of the work it does");
  return false;
}

}  // namespace

TEST_CASE("work on a device is traced with its kind, stream, position and size") {
  using hal::trace::Kind;
  if (!tells_of_its_work()) return;
  const hal::Stream stream = device().create_stream();
  const hal::Stream other = device().create_stream();
  const auto buffer = device().allocate<int>(100, stream);
  std::vector<int> host(100);
  const hal::Event event = other.record();
  other.synchronize();
  const Recorder recorder;
  stream.fill(buffer, 1);
  stream.copy(host, buffer);
  stream.record(event);
  stream.wait(event);
  stream.synchronize();

  const auto fills = recorder.wait_for(Kind::fill, stream.id(), 1);
  const auto copies = recorder.wait_for(Kind::copy, stream.id(), 1);
  const auto records = recorder.wait_for(Kind::record, stream.id(), 1);
  REQUIRE(fills.size() == 1);
  REQUIRE(copies.size() == 1);
  REQUIRE(records.size() == 1);
  CHECK(fills[0].bytes == 400);
  CHECK(copies[0].bytes == 400);
  CHECK(fills[0].sequence == 1);
  CHECK(copies[0].sequence == 2);
  CHECK(records[0].sequence == 3);
  CHECK(fills[0].begin_ns <= fills[0].end_ns);
  CHECK(fills[0].end_ns <= copies[0].begin_ns);
  CHECK(copies[0].end_ns <= records[0].end_ns);
  CHECK_THAT(copies[0].file, Catch::Matchers::ContainsSubstring("trace_test.cpp"));
  CHECK(copies[0].line > fills[0].line);
}

TEST_CASE("a record and a wait on an idle stream are traced too") {
  using hal::trace::Kind;
  if (!tells_of_its_work()) return;
  const hal::Stream stream = device().create_stream();
  const Recorder recorder;
  const hal::Event event = stream.record();
  event.synchronize();
  stream.wait(event);
  stream.synchronize();
  const auto records = recorder.wait_for(Kind::record, stream.id(), 1);
  const auto waits = recorder.wait_for(Kind::wait, stream.id(), 1);
  REQUIRE(records.size() == 1);
  REQUIRE(waits.size() == 1);
  CHECK(records[0].sequence == 1);
  CHECK(waits[0].sequence == 2);
}

TEST_CASE("launches and host functions are traced with their names") {
  using hal::trace::Kind;
  if (!tells_of_its_work()) return;
  const hal::Stream stream = device().create_stream();
  const Recorder recorder;
  if (device().has(hal::Feature::host_code)) {
    stream.launch([](std::size_t) {}, hal::over(10).named("nothing much"));
    const auto launches = recorder.wait_for(Kind::launch, stream.id(), 1);
    REQUIRE(launches.size() == 1);
    CHECK(launches[0].name == "nothing much");
    CHECK_THAT(launches[0].file, Catch::Matchers::ContainsSubstring("trace_test.cpp"));
  }
  if (device().has(hal::Feature::host_function)) {
    stream.call([] {}, "tick");
    const auto functions = recorder.wait_for(Kind::host_function, stream.id(), 1);
    REQUIRE(functions.size() == 1);
    CHECK(functions[0].name == "tick");
  }
  stream.synchronize();
}

TEST_CASE("waits between streams are traced") {
  using hal::trace::Kind;
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  if (!tells_of_its_work()) return;
  const hal::Stream source = device().create_stream();
  const hal::Stream waiter = device().create_stream();
  const Recorder recorder;
  Gate gate(source);
  waiter.wait(source.record());
  gate.open();
  waiter.synchronize();
  const auto waits = recorder.wait_for(Kind::wait, waiter.id(), 1);
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].sequence == 1);
}

TEST_CASE("what threads do is traced: synchronizing, allocating and releasing") {
  using hal::trace::Kind;
  const hal::Stream stream = device().create_stream();
  const Recorder recorder;
  { const hal::Buffer buffer = device().allocate_bytes(12345, stream); }
  stream.synchronize();
  const auto allocations = recorder.of(Kind::allocate, 0);
  const auto releases = recorder.of(Kind::release, 0);
  CHECK(std::ranges::count(allocations, 12345U, &Seen::bytes) == 1);
  CHECK(std::ranges::count(releases, 12345U, &Seen::bytes) == 1);
  CHECK(!recorder.of(Kind::synchronize, stream.id()).empty());
}

TEST_CASE("a subscription that has ended hears nothing") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(10, stream);
  int calls = 0;
  {
    const auto subscription = hal::trace::subscribe([](const hal::trace::Span&) {});
    auto ended =
        std::optional(hal::trace::subscribe([&calls](const hal::trace::Span&) { ++calls; }));
    ended.reset();
    const int before = calls;
    stream.fill(buffer, 1);
    stream.synchronize();
    CHECK(calls == before);
  }
}

TEST_CASE("a callback that throws harms nobody") {
  const hal::Stream stream = device().create_stream();
  const auto buffer = device().allocate<int>(10, stream);
  hal::log::set_sink([](hal::log::Level, std::string_view) {});
  {
    const auto subscription =
        hal::trace::subscribe([](const hal::trace::Span&) { throw std::runtime_error("no"); });
    stream.fill(buffer, 3);
    CHECK(stream.read(buffer) == std::vector<int>(10, 3));
  }
  hal::log::set_sink({});
}
