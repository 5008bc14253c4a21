// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/new_process.hpp"

#include <hal/hal.hpp>

#include "spi/lifetime.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using hal_test::in_new_process;

namespace {

const std::string null_plugin = "HAL_PLUGINS=" HAL_TEST_NULL_PLUGIN;

/// What `body` returns in a forked child of this process: 0 to 255, or -1 when it crashed.
template <typename Body>
int in_forked_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 99;
    try {
      result = body();
    } catch (const std::exception&) {
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <typename Call>
std::string invalid_state(Call&& call) {
  try {
    call();
  } catch (const hal::Error& error) {
    CHECK(error.code() == hal::Errc::invalid_state);
    return error.message();
  }
  FAIL("nothing was thrown");
  return {};
}

bool forked_message(const hal::Error& error) {
  return error.code() == hal::Errc::invalid_state &&
         error.message().find("forked after HAL had started a device") != std::string::npos;
}

/// Destroyed when the process ends, after everything that was made later.
struct Leftovers {
  hal::Device device;
  hal::Stream stream;
  hal::Event event;
  hal::TypedBuffer<float> buffer;
};
Leftovers leftovers;

void leave_objects(const std::string& id) {
  leftovers.device = hal::device(id);
  leftovers.stream = leftovers.device.create_stream();
  leftovers.buffer = leftovers.device.allocate<float>(1000, leftovers.stream);
  leftovers.stream.fill(leftovers.buffer, 1.0F);
  leftovers.event = leftovers.stream.record();
}

}  // namespace

TEST_CASE("a child forked after HAL has started gets an error that says what to do") {
  in_new_process({}, [] {
    const hal::Device device = hal::device("host:0");
    const hal::Stream stream = device.create_stream();
    CHECK(in_forked_child([&] {
            try {
              (void)hal::device("host:0");
            } catch (const hal::Error& error) {
              if (!forked_message(error)) return 1;
            }
            try {
              stream.synchronize();
            } catch (const hal::Error& error) {
              return forked_message(error) ? 0 : 2;
            }
            return 3;
          }) == 0);
    stream.synchronize();
  });
}

TEST_CASE("a forked child may destroy its parent's objects and shut down") {
  in_new_process({}, [] {
    std::optional<hal::Device> device = hal::device("host:0");
    std::optional<hal::Stream> stream = device->create_stream();
    auto buffer = std::optional(device->allocate<int>(100, *stream));
    CHECK(in_forked_child([&] {
            buffer.reset();
            stream.reset();
            device.reset();
            hal::shutdown();
            return 0;
          }) == 0);
  });
}

TEST_CASE("a child may use HAL when its parent has only looked at what there is") {
  in_new_process({null_plugin}, [] {
    CHECK_FALSE(hal::backends().empty());
    CHECK(hal::device_count() > 0);
    CHECK_FALSE(hal::describe_devices().empty());
    CHECK(in_forked_child([] {
            const hal::Stream stream = hal::device("host:0").create_stream();
            int value = 0;
            stream.call([&value] { value = 42; });
            stream.synchronize();
            return value;
          }) == 42);
    CHECK(hal::device("host:0").index() == 0);
  });
}

TEST_CASE("after a shutdown every use is an error and destruction is fine") {
  in_new_process({null_plugin}, [] {
    for (const char* id : {"host:0", "null:0"})
      (void)hal::device(id).create_stream();
    const hal::Device device = hal::device("null:0");
    std::optional<hal::Stream> stream = device.create_stream();
    std::optional<hal::Event> event = stream->record();
    auto buffer = std::optional(device.allocate<int>(100, *stream));
    auto untied = std::optional(device.allocate<int>(100, hal::MemoryKind::device));
    hal::shutdown();
    for (const std::string& message :
         {invalid_state([] { (void)hal::devices(); }),
          invalid_state([] { (void)hal::device("host:0"); }),
          invalid_state([] { (void)hal::default_device(); }),
          invalid_state([&] { device.synchronize(); }),
          invalid_state([&] { (void)device.create_stream(); }),
          invalid_state([&] { (void)device.allocator(); }),
          invalid_state([&] { (void)device.allocate<int>(1, *stream); }),
          invalid_state([&] { stream->fill(*buffer, 1); }),
          invalid_state([&] { stream->synchronize(); }),
          invalid_state([&] { event->synchronize(); })}) {
      CHECK_THAT(message, ContainsSubstring("hal::shutdown()"));
    }
    CHECK(device.id() == "null:0");
    event.reset();
    buffer.reset();
    untied.reset();
    stream.reset();
  });
}

TEST_CASE("shutting down twice or without a start is fine") {
  in_new_process({}, [] {
    hal::shutdown();
    hal::shutdown();
    invalid_state([] { (void)hal::device("host:0"); });
  });
}

TEST_CASE("shutdown waits for all work and throws the first failure when everything is closed") {
  in_new_process({}, [] {
    const hal::Device device = hal::device("host:0");
    const hal::Stream failing = device.create_stream();
    const hal::Stream working = device.create_stream();
    bool done = false;
    failing.call([] { throw std::runtime_error("the work failed"); });
    working.call([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
    try {
      hal::shutdown();
      FAIL("nothing was thrown");
    } catch (const hal::Error& error) {
      CHECK(error.code() == hal::Errc::launch_failed);
      CHECK_THAT(error.message(), ContainsSubstring("the work failed"));
    }
    CHECK(done);
    invalid_state([&] { device.synchronize(); });
  });
}

TEST_CASE("objects of a host device that outlive the end of main are destroyed in peace") {
  in_new_process({}, [] { leave_objects("host:0"); });
}

TEST_CASE("objects of a plug-in that outlive the end of main are destroyed in peace") {
  in_new_process({null_plugin}, [] { leave_objects("null:0"); });
}

TEST_CASE("objects that outlive a shutdown and main are destroyed in peace") {
  in_new_process({null_plugin}, [] {
    leave_objects("null:0");
    hal::shutdown();
  });
}

TEST_CASE("use of HAL by a destructor at the end of the process is an error") {
  struct LateUser {
    ~LateUser() {
      try {
        (void)hal::device("host:0");
      } catch (const hal::Error& error) {
        if (error.code() == hal::Errc::invalid_state) return;
      }
      ::_exit(9);
    }
  };
  in_new_process({}, [] {
    static const LateUser late;
    (void)hal::device("host:0");
  });
}

TEST_CASE("the first failure of a device's streams is thrown after all were waited for") {
  in_new_process({}, [] {
    const hal::Device device = hal::device("host:0");
    const hal::Stream failing = device.create_stream();
    const hal::Stream working = device.create_stream();
    bool done = false;
    failing.call([] { throw std::runtime_error("the work failed"); });
    working.call([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
    CHECK_THROWS_WITH(device.synchronize(), ContainsSubstring("the work failed"));
    CHECK(done);
  });
}

TEST_CASE("ids are never repeated") {
  std::vector<std::vector<std::uint64_t>> parts(4, std::vector<std::uint64_t>(1000));
  std::vector<std::thread> threads;
  for (auto& part : parts) {
    threads.emplace_back([&part] { std::generate(part.begin(), part.end(), hal::spi::next_id); });
  }
  for (std::thread& thread : threads)
    thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(all.front() > 0);
}
