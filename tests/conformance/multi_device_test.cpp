// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using conformance::device;
using conformance::Gate;
using conformance::noise;
using conformance::outcome;

namespace {

/// The devices this one has to work with: others of its backend and one of each other backend that
/// it shares host memory with.
std::vector<hal::Device> partners() {
  std::vector<hal::Device> found = conformance::siblings();
  for (const hal::Device& stranger : conformance::strangers()) {
    if (stranger.has(hal::Feature::host_memory) || device().has(hal::Feature::host_memory)) {
      found.push_back(stranger);
    }
  }
  if (found.empty()) conformance::not_applicable("it is the only device here");
  return found;
}

}  // namespace

TEST_CASE("bytes travel between devices and back") {
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const std::vector<unsigned char> values = noise(100003, 1);
    const hal::Stream here = device().create_stream();
    const hal::Stream there = partner.create_stream();
    const auto near = conformance::upload(here, values);
    const auto far = partner.allocate<unsigned char>(values.size(), there);
    there.wait(here.record());
    there.copy(far, near);
    CHECK(there.read(far) == values);
    there.fill(far.view(0, 1000), static_cast<unsigned char>(7));
    here.wait(there.record());
    here.copy(near, far);
    const std::vector<unsigned char> back = here.read(near);
    CHECK(std::vector<unsigned char>(back.begin(), back.begin() + 1000) ==
          std::vector<unsigned char>(1000, 7));
    CHECK(std::equal(back.begin() + 1000, back.end(), values.begin() + 1000));
  }
}

TEST_CASE("boxes travel between devices") {
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const std::vector<unsigned char> values = noise(std::size_t{13} * 7 * 3, 2);
    const hal::Stream here = device().create_stream();
    const hal::Stream there = partner.create_stream();
    const auto near = conformance::upload(here, values);
    const auto far = partner.allocate<unsigned char>(std::size_t{20} * 8 * 3, there);
    there.fill(far, static_cast<unsigned char>(0));
    here.wait(there.record());
    here.copy_box(far, {20, 160}, near, {}, {13, 7, 3});
    const std::vector<unsigned char> got = here.read(near);
    there.wait(here.record());
    const std::vector<unsigned char> all = there.read(far);
    for (std::size_t plane = 0; plane < 3; ++plane) {
      for (std::size_t row = 0; row < 7; ++row) {
        for (std::size_t byte = 0; byte < 13; ++byte) {
          REQUIRE(all[plane * 160 + row * 20 + byte] == values[(plane * 7 + row) * 13 + byte]);
        }
        REQUIRE(all[plane * 160 + row * 20 + 13] == 0);
      }
    }
    CHECK(got == values);
  }
}

TEST_CASE("a stream waits for an event of another device") {
  if (!conformance::can_hold_up()) return conformance::not_applicable("nothing can be queued");
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const hal::Stream here = device().create_stream();
    const hal::Stream there = partner.create_stream();
    if (!partner.has(hal::Feature::host_function)) continue;
    int value = 0;
    int seen = -1;
    Gate gate(here);
    here.call([&value] { value = 5; });
    const hal::Event event = here.record();
    there.wait(event);
    there.call([&value, &seen] { seen = value; });
    CHECK(there.query() == hal::StreamStatus::busy);
    CHECK(outcome([&] { there.synchronize(1ms); }) == "timeout");
    gate.open();
    there.synchronize();
    CHECK(seen == 5);
  }
}

TEST_CASE("a failure crosses devices with its first cause") {
  if (!conformance::can_fail()) return conformance::not_applicable("no work can be made to fail");
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const hal::Stream here = device().create_stream();
    const hal::Stream there = partner.create_stream();
    const hal::Stream back = device().create_stream();
    conformance::fail(here, "far away");
    there.wait(here.record());
    back.wait(there.record());
    for (const hal::Stream& stream : {there, back}) {
      const hal::Error error = conformance::error_of([&] { stream.synchronize(); });
      CHECK(error.code() == hal::Errc::launch_failed);
      CHECK_THAT(error.message(), Catch::Matchers::ContainsSubstring("far away"));
      REQUIRE(error.origin().has_value());
      CHECK(error.origin()->device == device().id());
      CHECK(error.origin()->stream == here.id());
    }
  }
}

TEST_CASE("devices hand over to each other back and forth") {
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const hal::Stream here = device().create_stream();
    const hal::Stream there = partner.create_stream();
    const auto near = device().allocate<int>(100, here);
    const auto far = partner.allocate<int>(100, there);
    const hal::Event sent = device().create_event();
    const hal::Event received = partner.create_event();
    for (int round = 0; round < 300; ++round) {
      here.wait(received);
      here.fill(near, round);
      here.record(sent);
      there.wait(sent);
      there.copy(far, near);
      there.record(received);
    }
    CHECK(there.read(far) == std::vector<int>(100, 299));
    here.synchronize();
  }
}

TEST_CASE("an event is recorded on streams of its own device only") {
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const hal::Stream here = device().create_stream();
    const hal::Event foreign = partner.create_event();
    CHECK(outcome([&] { here.record(foreign); }) == "invalid_argument");
    CHECK(foreign.query() == hal::EventStatus::not_recorded);
  }
}

TEST_CASE("time between events of two devices is an invalid argument") {
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const hal::Stream here = device().create_stream();
    const hal::Stream there = partner.create_stream();
    const hal::Event near = here.record();
    const hal::Event far = there.record();
    here.synchronize();
    there.synchronize();
    CHECK(outcome([&] { (void)hal::elapsed_ms(near, far); }) == "invalid_argument");
  }
}

TEST_CASE("memory is allocated in the order of a stream of its own device only") {
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    const hal::Stream there = partner.create_stream();
    CHECK(outcome([&] { (void)device().allocate<int>(10, there); }) == "invalid_argument");
  }
}

TEST_CASE("peer access is enabled where it can be and refused where it cannot") {
  for (const hal::Device& partner : partners()) {
    CAPTURE(partner.id());
    if (device().can_access(partner)) {
      device().enable_peer_access(partner);
      device().enable_peer_access(partner);
    } else {
      CHECK(outcome([&] { device().enable_peer_access(partner); }) == "unsupported");
    }
  }
}

TEST_CASE("devices have ids of their own and are listed once") {
  const std::vector<hal::Device> all = hal::devices();
  for (std::size_t a = 0; a < all.size(); ++a) {
    CHECK(all[a].id() == all[a].backend() + ":" + std::to_string(all[a].index()));
    for (std::size_t b = 0; b < a; ++b)
      CHECK(all[a].id() != all[b].id());
  }
  CHECK(std::ranges::count(all, device()) == 1);
  CHECK(hal::device_count() == static_cast<int>(all.size()));
}
