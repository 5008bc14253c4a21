// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/new_process.hpp"
#include "support/outcome.hpp"
#include "support/temporary_folder.hpp"

#include <hal/hal.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using hal_test::in_new_process;

namespace {

std::string plugin(const std::string& name) { return HAL_TEST_PLUGINS "/" + name + ".so"; }

std::string message_of(hal::Errc code, void (*call)()) {
  try {
    call();
  } catch (const hal::Error& error) {
    CHECK(error.code() == code);
    return error.message();
  }
  FAIL("nothing was thrown");
  return {};
}

void list_devices() { (void)hal::devices(); }

hal::Backend refused(const std::string& path, hal::Reason reason) {
  hal::Backend row = hal::probe_plugin(path);
  INFO(row.detail);
  CHECK_FALSE(row.available);
  CHECK(row.reason == reason);
  CHECK(row.name == path);
  CHECK(row.library == path);
  CHECK(row.plugin);
  return row;
}

}  // namespace

TEST_CASE("probing a plug-in tells what its backend says") {
  const hal::Backend row = hal::probe_plugin(HAL_TEST_NULL_PLUGIN);
  CHECK(row.available);
  CHECK(row.reason == hal::Reason::none);
  CHECK(row.name == "null");
  CHECK(row.library == HAL_TEST_NULL_PLUGIN);
  CHECK(row.plugin);
  CHECK_FALSE(row.vendor_code.has_value());
}

TEST_CASE("probing a plug-in registers nothing") {
  in_new_process({"HAL_PLUGINS="}, [] {
    CHECK(hal::probe_plugin(HAL_TEST_NULL_PLUGIN).available);
    for (const hal::Backend& row : hal::backends())
      CHECK(row.name != "null");
  });
}

TEST_CASE("a plug-in that is not there is library_absent") {
  const hal::Backend row = refused(plugin("no_such_file"), hal::Reason::library_absent);
  CHECK_THAT(row.detail, ContainsSubstring("no such file"));
}

TEST_CASE("files of other kinds are not_a_plugin") {
  const hal_test::TemporaryFolder folder;
  std::ofstream(folder.file("notes.txt")) << "remember the milk\n";
  std::ofstream(folder.file("empty.so"));
  std::ofstream(folder.file("cut.so")) << "\177ELF";
  CHECK_THAT(refused(folder.file("notes.txt"), hal::Reason::not_a_plugin).detail,
             ContainsSubstring("not an ELF shared object"));
  CHECK_THAT(refused(folder.file("empty.so"), hal::Reason::not_a_plugin).detail,
             ContainsSubstring("not an ELF shared object"));
  refused(folder.file("cut.so"), hal::Reason::not_a_plugin);
  CHECK_THAT(refused(folder.path().string(), hal::Reason::not_a_plugin).detail,
             ContainsSubstring("not a file"));
  refused("/proc/self/exe", hal::Reason::not_a_plugin);
}

TEST_CASE("a shared object without the entry function is not_a_plugin") {
  CHECK_THAT(refused(plugin("without_entry"), hal::Reason::not_a_plugin).detail,
             ContainsSubstring("hal_backend_entry"));
}

TEST_CASE("another major version of the ABI is refused, naming both") {
  const hal::Backend row = refused(plugin("other_major"), hal::Reason::abi_mismatch);
  CHECK_THAT(row.detail, ContainsSubstring("major version 7"));
  CHECK_THAT(row.detail, ContainsSubstring("major version 1"));
}

TEST_CASE("a table without a required entry is refused, naming the entry") {
  CHECK_THAT(refused(plugin("missing_entry"), hal::Reason::symbol_missing).detail,
             ContainsSubstring("'stream_copy'"));
}

TEST_CASE("a name that cannot be part of a device id is refused") {
  CHECK_THAT(refused(plugin("bad_name"), hal::Reason::not_a_plugin).detail,
             ContainsSubstring("'My Device'"));
}

TEST_CASE("a plug-in that declines is quoted") {
  CHECK_THAT(refused(plugin("declining"), hal::Reason::init_failed).detail,
             ContainsSubstring("the licence of this backend has expired"));
}

TEST_CASE("an undefined symbol of a plug-in is symbol_missing") {
  CHECK_THAT(refused(plugin("undefined_symbol"), hal::Reason::symbol_missing).detail,
             ContainsSubstring("hal_test_function_that_nobody_has"));
}

TEST_CASE("a library that a plug-in needs and is not there is dependency_missing") {
  CHECK_THAT(refused(plugin("needs_library"), hal::Reason::dependency_missing).detail,
             ContainsSubstring("hal_test_needed"));
}

TEST_CASE("a plug-in without a folder in its path is one of the current folder") {
  in_new_process({}, [] {
    std::filesystem::current_path(HAL_TEST_PLUGINS);
    CHECK(hal::probe_plugin("declining.so").reason == hal::Reason::init_failed);
  });
}

TEST_CASE("HAL_PLUGINS naming a text file is an error that says what to do") {
  const hal_test::TemporaryFolder folder;
  const std::string path = folder.file("notes.txt");
  std::ofstream(path) << "remember the milk\n";
  in_new_process({"HAL_PLUGINS=" + path}, [] {
    const std::string named = hal::config::path_list("HAL_PLUGINS").at(0);
    const std::string message = message_of(hal::Errc::invalid_argument, list_devices);
    CHECK(message == "HAL_PLUGINS names '" + named +
                         "', but it is not a HAL plug-in (not an ELF shared object): remove it or "
                         "name the .so of a backend");
    CHECK(message_of(hal::Errc::invalid_argument, [] { (void)hal::device("host:0"); }) == message);
    CHECK(message_of(hal::Errc::invalid_argument, [] { (void)hal::default_device(); }) == message);
    bool listed = false;
    for (const hal::Backend& row : hal::backends()) {
      listed = listed || (row.name == named && row.reason == hal::Reason::not_a_plugin);
    }
    CHECK(listed);
  });
}

TEST_CASE("a plug-in with the name of a backend of this build is refused") {
  in_new_process({"HAL_PLUGINS=" + plugin("taken_name")}, [] {
    CHECK_THAT(message_of(hal::Errc::invalid_argument, list_devices),
               ContainsSubstring("its name 'host' is already that of a backend of this build"));
  });
}

TEST_CASE("a second plug-in with one name is refused and the first still listed") {
  in_new_process({"HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN ":" HAL_TEST_NULL_PLUGIN}, [] {
    CHECK_THAT(message_of(hal::Errc::invalid_argument, list_devices),
               ContainsSubstring("its name 'null' is already that of the plug-in '"));
    CHECK(hal::device_count("null") == 1);
  });
}

TEST_CASE("a shorter table lacks the later capabilities") {
  in_new_process({"HAL_PLUGINS=" + plugin("short_table")}, [] {
    const hal::Device device = hal::device("short:0");
    CHECK_FALSE(device.has(hal::Feature::peer));
    CHECK_FALSE(device.has(hal::Feature::timing));
    CHECK(device.can_access(device));
    CHECK_FALSE(device.can_access(hal::device("host:0")));
    try {
      device.enable_peer_access(hal::device("host:0"));
      FAIL("nothing was thrown");
    } catch (const hal::Error& error) {
      CHECK(error.code() == hal::Errc::unsupported);
      CHECK_THAT(error.message(), ContainsSubstring("'peer_enable'"));
      CHECK(error.device() == "short:0");
    }
  });
}

TEST_CASE("a null device named in HAL_PLUGINS copies and fills") {
  in_new_process({"HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN}, [] {
    const hal::Device device = hal::device("null:0");
    const hal::Stream stream = device.create_stream();
    std::vector<std::int32_t> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto first = device.allocate<std::int32_t>(numbers.size(), stream);
    const auto second = device.allocate<std::int32_t>(numbers.size(), stream);
    stream.copy(first, numbers);
    stream.copy(second, first);
    CHECK(stream.read(second) == numbers);
    stream.fill(second.view(10, 20), 7);
    std::fill_n(numbers.begin() + 10, 20, 7);
    CHECK(stream.read(second) == numbers);
  });
}

TEST_CASE("a null device says what it does not offer") {
  in_new_process({"HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN}, [] {
    const hal::Device device = hal::device("null:0");
    CHECK_FALSE(device.has(hal::Feature::host_code));
    CHECK(device.has(hal::Feature::host_function));
    CHECK_FALSE(device.properties().memory_total_bytes.has_value());
    CHECK(device.properties().memory_alignment_bytes == 64U);
    CHECK(device.properties().pci_address.empty());
    CHECK_THAT(
        message_of(hal::Errc::unsupported, [] { (void)hal::device("null:0").memory_info(); }),
        ContainsSubstring("'memory_info'"));
    CHECK_THAT(message_of(hal::Errc::unsupported,
                          [] {
                            const hal::Stream stream = hal::device("null:0").create_stream();
                            stream.launch([](std::size_t) {}, hal::over(10));
                          }),
               ContainsSubstring("host"));
  });
}

TEST_CASE("a failure on a null device sticks, with its cause, and travels along events") {
  in_new_process({"HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN}, [] {
    const hal::Device device = hal::device("null:0");
    const hal::Stream failing = device.create_stream();
    const hal::Stream waiting = device.create_stream();
    bool ran = false;
    failing.call([] { throw std::runtime_error("the first cause"); }, "thrower");
    failing.call([] { throw std::runtime_error("a later one"); });
    const hal::Event event = failing.record();
    waiting.wait(event);
    waiting.call([&ran] { ran = true; });
    for (const hal::Stream& stream : {failing, waiting}) {
      try {
        stream.synchronize();
        FAIL("nothing was thrown");
      } catch (const hal::Error& error) {
        CHECK(error.code() == hal::Errc::launch_failed);
        CHECK_THAT(error.message(), ContainsSubstring("the first cause"));
        REQUIRE(error.origin().has_value());
        CHECK(error.origin()->operation == "host function 'thrower'");
        CHECK(error.origin()->stream == failing.id());
        CHECK(error.origin()->sequence == 1);
        CHECK_THAT(error.origin()->location, ContainsSubstring("plugin_test.cpp:"));
      }
    }
    CHECK_FALSE(ran);
    waiting.reset_error();
    waiting.call([&ran] { ran = true; });
    waiting.synchronize();
    CHECK(ran);
  });
}

TEST_CASE("work that a null device's host function adds runs after the function") {
  in_new_process({"HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN}, [] {
    const hal::Device device = hal::device("null:0");
    const hal::Stream stream = device.create_stream();
    const hal::Stream other = device.create_stream();
    std::vector<int> order;
    stream.call([&] {
      stream.call([&] { order.push_back(2); });
      const hal::Event event = stream.record();
      other.wait(event);
      other.call([&] {
        stream.synchronize();
        order.push_back(3);
      });
      order.push_back(1);
    });
    stream.synchronize();
    other.synchronize();
    CHECK(order == std::vector<int>{1, 2, 3});
  });
}

TEST_CASE("a null device's host function that waits for its own stream gets an error") {
  in_new_process({"HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN}, [] {
    const hal::Stream stream = hal::device("null:0").create_stream();
    stream.call([&] { stream.synchronize(); });
    CHECK_THROWS_AS(stream.synchronize(), hal::Error);
  });
}

TEST_CASE("a launch beyond the device's limits names the device and both numbers") {
  in_new_process({"HAL_PLUGINS=" + plugin("limited")}, [] {
    const hal::Stream stream = hal::device("limited:0").create_stream();
    const auto refused = [&](hal::Dim3 grid, hal::Dim3 block, const std::string& numbers) {
      const hal::Error error =
          hal_test::error_of([&] { stream.launch([](hal::Block) {}, hal::blocks(grid, block)); });
      CHECK(error.code() == hal::Errc::invalid_argument);
      CHECK(error.device() == "limited:0");
      CHECK_THAT(error.message(), ContainsSubstring(numbers));
    };
    refused({1}, {1025}, "1025, and the device allows 1024");
    refused({1}, {1, 1, 65}, "65, and the device allows 64");
    refused({1000001}, {1}, "1000001, and the device allows 1000000");
    refused({1, 65536}, {1}, "65536, and the device allows 65535");
    refused({1}, {0, 5}, "no threads");
    // Threads whose number overflows are too many, not few or none.
    constexpr std::size_t half = std::size_t{1} << 32U;
    refused({1}, {half, half}, "the device allows 1024");
    refused({1}, {half + 1, half, 3}, "the device allows 1024");
    // Within the limits the answer is the null device's: it runs no kernels.
    CHECK(hal_test::outcome([&] {
            stream.launch([](hal::Block) {}, hal::blocks({1000000}, {1024}));
          }) == "unsupported");
  });
}
