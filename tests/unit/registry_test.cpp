// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/new_process.hpp"
#include "support/outcome.hpp"

#include <hal/hal.hpp>

#include "spi/registry.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using hal_test::error_of;
using hal_test::in_new_process;

namespace {

const std::string failing_plugin = "HAL_PLUGINS=" HAL_TEST_PLUGINS "/failing_device.so";
const std::string null_plugin = "HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN;

hal::Error not_a_device(const std::string& id) {
  return error_of([&] { (void)hal::device(id); });
}

std::vector<std::string> ids(const std::vector<hal::Device>& devices) {
  std::vector<std::string> found;
  for (const hal::Device& device : devices)
    found.push_back(device.id());
  return found;
}

}  // namespace

TEST_CASE("the host is always there and the last resort") {
  in_new_process({null_plugin, "HAL_HOST_DEVICES=2"}, [] {
    const std::vector<hal::Backend> rows = hal::backends();
    REQUIRE_FALSE(rows.empty());
    CHECK(rows.back().name == "host");
    CHECK(rows.back().available);
    CHECK(hal::device_count("host") == 2);
    const std::vector<std::string> found = ids(hal::devices());
    REQUIRE(found.size() >= 3);
    CHECK(std::vector(found.end() - 3, found.end()) ==
          std::vector<std::string>{"null:0", "host:0", "host:1"});
    CHECK(hal::device_count() >= static_cast<int>(found.size()));
  });
}

TEST_CASE(
    "every backend of the build has a row with a name and a reason when it is not available") {
  in_new_process({}, [] {
    for (const hal::Backend& row : hal::backends()) {
      INFO(row.name);
      CHECK_FALSE(row.name.empty());
      CHECK_FALSE(row.description.empty());
      CHECK(row.available == (row.reason == hal::Reason::none));
    }
  });
}

TEST_CASE("an unknown backend has no devices") { CHECK(hal::device_count("nosuch") == 0); }

TEST_CASE("the same id is the same device") {
  in_new_process({null_plugin}, [] {
    CHECK(hal::device("null:0") == hal::device("null:0"));
    CHECK(hal::device("null") == hal::device("null:0"));
    CHECK(hal::device("null:0") != hal::device("host:0"));
    CHECK(hal::device("null:0").backend() == "null");
    CHECK(hal::device("null:0").index() == 0);
  });
}

TEST_CASE("threads that ask first at the same time get the same device") {
  in_new_process({null_plugin}, [] {
    std::vector<hal::Device> found(8);
    std::vector<std::thread> threads;
    for (hal::Device& device : found) {
      threads.emplace_back([&device] { device = hal::device("null:0"); });
    }
    for (std::thread& thread : threads)
      thread.join();
    for (const hal::Device& device : found)
      CHECK(device == found.front());
  });
}

TEST_CASE("a device that is not there is an error that lists those that are") {
  in_new_process({failing_plugin, "HAL_HOST_DEVICES=2"}, [] {
    const hal::Error unknown = not_a_device("nosuch:0");
    CHECK(unknown.code() == hal::Errc::not_found);
    CHECK_THAT(unknown.message(), ContainsSubstring("'nosuch:0' is not a device here"));
    CHECK_THAT(unknown.message(), ContainsSubstring("no backend is called 'nosuch'"));
    CHECK_THAT(unknown.message(), ContainsSubstring("failing:0, failing:1, host:0, host:1"));
    const hal::Error beyond = not_a_device("failing:2");
    CHECK(beyond.code() == hal::Errc::not_found);
    CHECK_THAT(beyond.message(), ContainsSubstring("failing has 2 devices"));
    CHECK(not_a_device("failing:2147483647").code() == hal::Errc::not_found);
  });
}

TEST_CASE("a device of a backend that is not available is an error with the reason and advice") {
  in_new_process({failing_plugin, "HAL_TEST_UNAVAILABLE=1"}, [] {
    const hal::Error error = not_a_device("failing:0");
    CHECK(error.code() == hal::Errc::not_found);
    CHECK_THAT(error.message(),
               ContainsSubstring("failing has none (no_device_node: /dev/failing is not there)"));
    CHECK_THAT(error.message(),
               ContainsSubstring(std::string(hal::advice(hal::Reason::no_device_node))));
    CHECK(hal::device_count("failing") == 0);
    const std::vector<hal::Backend> rows = hal::backends();
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [](const hal::Backend& each) { return each.name == "failing"; });
    REQUIRE(row != rows.end());
    CHECK(row->vendor_code == 999);
  });
}

TEST_CASE("a malformed id is an error that shows the form") {
  in_new_process({}, [] {
    for (const char* id : {"", ":", ":0", "host:", "host:x", "host:-1", "host:+1", "host:0x1",
                           "host:0:1", "host:1 ", "Host:0", "0host", "host:99999999999"}) {
      INFO("'" << id << "'");
      const hal::Error error = not_a_device(id);
      CHECK(error.code() == hal::Errc::invalid_argument);
      CHECK_THAT(error.message(), ContainsSubstring("'cuda:0'"));
    }
  });
}

TEST_CASE("one device that does not open takes no other away") {
  in_new_process({failing_plugin, "HAL_LOG=off"}, [] {
    const std::vector<std::string> found = ids(hal::devices());
    CHECK(std::count(found.begin(), found.end(), "failing:0") == 1);
    CHECK(std::count(found.begin(), found.end(), "failing:1") == 0);
    CHECK(found.back() == "host:0");
    const hal::Error error = not_a_device("failing:1");
    CHECK(error.code() == hal::Errc::device_lost);
    CHECK(error.device() == "failing:1");
    CHECK(error.vendor_code() == 46);
    CHECK(error.vendor_name() == "FAILING_DEVICE_BUSY");
  });
}

TEST_CASE("a plug-in is the default device only when HAL_DEVICE names it") {
  in_new_process({null_plugin}, [] { CHECK(hal::default_device().backend() != "null"); });
}

TEST_CASE("HAL_DEVICE names the default device") {
  in_new_process({null_plugin, "HAL_DEVICE=null"},
                 [] { CHECK(hal::default_device().id() == "null:0"); });
}

TEST_CASE("HAL_DEVICE naming no device is an error that says so") {
  in_new_process({"HAL_DEVICE=nosuch:3"}, [] {
    const hal::Error error = error_of([] { (void)hal::default_device(); });
    CHECK(error.code() == hal::Errc::not_found);
    CHECK_THAT(error.message(),
               ContainsSubstring("HAL_DEVICE names 'nosuch:3', which is not a device here"));
  });
}

TEST_CASE("a variable that does not parse is an error of finding devices that names it") {
  in_new_process({"HAL_HOST_DEVICES=many"}, [] {
    const hal::Error error = error_of([] { (void)hal::devices(); });
    CHECK(error.code() == hal::Errc::invalid_argument);
    CHECK_THAT(error.message(), ContainsSubstring("HAL_HOST_DEVICES"));
    CHECK_THAT(error.message(), ContainsSubstring("'many'"));
  });
}

TEST_CASE("describing devices opens none of them") {
  in_new_process({failing_plugin}, [] {
    const std::vector<hal::DeviceSummary> all = hal::describe_devices();
    const auto second = std::find_if(all.begin(), all.end(), [](const hal::DeviceSummary& each) {
      return each.id == "failing:1";
    });
    REQUIRE(second != all.end());
    CHECK(second->backend == "failing");
    CHECK(second->properties.name == "Null device");
    CHECK_FALSE(second->properties.memory_total_bytes.has_value());
    CHECK_FALSE(second->properties.max_block[0].has_value());
  });
}

TEST_CASE("a device made by default says where to get one") {
  const hal::Device none;
  CHECK_FALSE(none);
  for (const hal::Error& error :
       {error_of([&] { (void)none.id(); }), error_of([&] { (void)none.properties(); }),
        error_of([&] { none.synchronize(); })}) {
    CHECK(error.code() == hal::Errc::invalid_state);
    CHECK_THAT(error.message(), ContainsSubstring("hal::device(\"host:0\")"));
  }
}

TEST_CASE("two versions of libhal in one process are an error that names both") {
  in_new_process({"HAL_LOG=off"}, [] {
    REQUIRE(::dlopen(HAL_TEST_PLUGINS "/libhal.so.9", RTLD_NOW) != nullptr);
    CHECK_FALSE(hal::backends().empty());
    const hal::Error error = error_of([] { (void)hal::device("host:0"); });
    CHECK(error.code() == hal::Errc::invalid_state);
    CHECK_THAT(error.message(), ContainsSubstring("9.8.7"));
    CHECK_THAT(error.message(), ContainsSubstring("/libhal.so.9'"));
    CHECK_THAT(error.message(), ContainsSubstring(std::string(hal::version())));
    CHECK_THAT(error.message(), ContainsSubstring("link"));
    CHECK_THROWS_AS(hal::devices(), hal::Error);
    CHECK_THROWS_AS(hal::default_device(), hal::Error);
  });
}

TEST_CASE("backends are offered the values of variables") {
  in_new_process({"HAL_DEVICE=host:0", "HAL_HOST_DEVICES=many", "HAL_LOG=off"}, [] {
    const hal_services& services = hal::spi::services();
    const char* const device = services.config("HAL_DEVICE");
    REQUIRE(device != nullptr);
    CHECK(std::string(device) == "host:0");
    CHECK(services.config("HAL_DEVICE") == device);
    CHECK(services.config("HAL_NO_SUCH_VARIABLE") == nullptr);
    CHECK(services.config("HAL_HOST_DEVICES") == nullptr);
  });
}

TEST_CASE("spans of backends reach subscribers, also from one that knows fewer fields") {
  const hal_services& services = hal::spi::services();
  CHECK(services.tracing() == 0);
  std::string device;
  std::string name;
  hal::trace::Span seen;
  const auto subscription = hal::trace::subscribe([&](const hal::trace::Span& span) {
    seen = span;
    device = span.device;
    name = span.name;
  });
  CHECK(services.tracing() != 0);

  hal_span span{};
  span.struct_size = sizeof span;
  span.kind = HAL_SPAN_COPY;
  span.device_index = 3;
  span.stream = 5;
  span.bytes = 64;
  span.site.name = "first";
  services.trace("null", &span);
  CHECK(device == "null:3");
  CHECK(name == "first");
  CHECK(seen.kind == hal::trace::Kind::copy);
  CHECK(seen.stream == 5);
  CHECK(seen.bytes == 64);

  span.struct_size = offsetof(hal_span, bytes);
  services.trace("null", &span);
  CHECK(device == "null:3");
  CHECK(name.empty());
  CHECK(seen.bytes == 0);
}
