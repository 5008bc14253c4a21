// SPDX-License-Identifier: Apache-2.0
#include "spi/failure.hpp"
#include "support/catch.hpp"

#include <hal/error.hpp>

#include <cstring>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace {

using Catch::Matchers::ContainsSubstring;
using hal::Errc;
using hal::Error;
using hal::Reason;

constexpr int first_errc = static_cast<int>(Errc::invalid_argument);
constexpr int last_errc = static_cast<int>(Errc::internal);
constexpr int last_reason = static_cast<int>(Reason::not_driven);

/// What guarded code that throws `exception` becomes for a user.
template <typename Exception>
Error seen_by_user(const Exception& exception) {
  hal::spi::FailureBuffer failure;
  const hal_status status = hal::detail::guarded(&failure, [&] { throw exception; });
  return hal::spi::to_error(status, failure, "Stream::synchronize", "host:0");
}

hal::ErrorDetails asynchronous_failure() {
  hal::ErrorDetails details;
  details.code = Errc::launch_failed;
  details.operation = "Stream::synchronize";
  details.device = "host:0";
  details.message = "index 12 is out of range";
  details.origin = hal::Origin{.operation = "launch 'saxpy'",
                               .location = "saxpy.cpp:31",
                               .device = "host:0",
                               .stream = 7,
                               .sequence = 4};
  return details;
}

}  // namespace

TEST_CASE("an error says operation, device, code and message in one line") {
  const Error error(Errc::invalid_argument, "Stream::copy", "the sizes differ: 3 and 4 bytes",
                    "host:1");
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.operation() == "Stream::copy");
  CHECK(error.device() == "host:1");
  CHECK(error.message() == "the sizes differ: 3 and 4 bytes");
  CHECK_FALSE(error.vendor_code().has_value());
  CHECK_FALSE(error.origin().has_value());
  CHECK(std::string_view(error.what()) ==
        "Stream::copy on host:1: invalid_argument: the sizes differ: 3 and 4 bytes");
}

TEST_CASE("an error without a device does not name one") {
  const Error error(Errc::io, "config::set", "no");
  CHECK(std::string_view(error.what()) == "config::set: io: no");
}

TEST_CASE("an asynchronous error names the piece of work that failed") {
  CHECK(std::string_view(Error(asynchronous_failure()).what()) ==
        "Stream::synchronize on host:0: launch_failed: index 12 is out of range (launch 'saxpy' "
        "enqueued at saxpy.cpp:31, the 4th piece of work on stream 7 of host:0)");
}

TEST_CASE("an origin without a location is still a sentence") {
  hal::ErrorDetails details = asynchronous_failure();
  details.origin->location.clear();
  CHECK_THAT(Error(details).what(),
             ContainsSubstring("(launch 'saxpy', the 4th piece of work on stream 7 of host:0)"));
}

TEST_CASE("positions on a stream are counted in English") {
  const std::pair<std::uint64_t, const char*> cases[] = {
      {1, "the 1st "},     {2, "the 2nd "},     {3, "the 3rd "},       {4, "the 4th "},
      {11, "the 11th "},   {12, "the 12th "},   {13, "the 13th "},     {21, "the 21st "},
      {102, "the 102nd "}, {111, "the 111th "}, {1013, "the 1013th "}, {1000000, "the 1000000th "}};
  for (const auto& [sequence, expected] : cases) {
    hal::ErrorDetails details = asynchronous_failure();
    details.origin->sequence = sequence;
    CHECK_THAT(Error(details).what(), ContainsSubstring(expected));
  }
}

TEST_CASE("what the driver said stands in the line") {
  hal::ErrorDetails details;
  details.code = Errc::device_lost;
  details.operation = "Device::synchronize";
  details.device = "cuda:0";
  details.message = "an address was not valid";
  details.vendor_name = "CUDA_ERROR_ILLEGAL_ADDRESS";
  CHECK_THAT(Error(details).what(),
             ContainsSubstring("valid [driver: CUDA_ERROR_ILLEGAL_ADDRESS]"));
  details.vendor_code = 700;
  CHECK_THAT(Error(details).what(),
             ContainsSubstring("[driver: CUDA_ERROR_ILLEGAL_ADDRESS (700)]"));
  details.vendor_name.clear();
  CHECK_THAT(Error(details).what(), ContainsSubstring("[driver: 700]"));
}

TEST_CASE("copies of an error share its text, and none is left without") {
  Error first(Errc::timeout, "Event::synchronize", "not done after 5 ms");
  const Error copy = first;
  CHECK(copy.what() == first.what());
  const Error taken = std::move(first);
  CHECK(taken.what() == copy.what());
  CHECK(first.what() == copy.what());  // NOLINT(bugprone-use-after-move): an error cannot be moved
}

TEST_CASE("every reason has advice of its own") {
  std::set<std::string_view> advice;
  for (int value = 0; value <= last_reason; ++value) {
    const std::string_view text = hal::advice(static_cast<Reason>(value));
    INFO(hal::name(static_cast<Reason>(value)));
    CHECK_FALSE(text.empty());
    CHECK(advice.insert(text).second);
  }
  CHECK_THAT(std::string(hal::advice(static_cast<Reason>(4711))), ContainsSubstring("update HAL"));
}

TEST_CASE("each code has a status, and foreign statuses are internal errors") {
  for (int value = first_errc; value <= last_errc; ++value) {
    const auto code = static_cast<Errc>(value);
    CHECK(hal::spi::code_of(hal::spi::status_of(code)) == code);
  }
  CHECK(hal::spi::status_of(Errc::out_of_memory) == HAL_STATUS_OUT_OF_MEMORY);
  CHECK(hal::spi::status_of(Errc::internal) == HAL_STATUS_INTERNAL);
  for (const hal_status foreign : {-1, 2, 100, 112, 4711}) {
    CHECK(hal::spi::code_of(foreign) == Errc::internal);
  }
}

TEST_CASE("a backend's failure becomes an error with all it said") {
  hal::spi::FailureBuffer failure;
  failure.has_vendor_code = 1;
  failure.vendor_code = -719;
  failure.has_origin = 1;
  failure.origin_stream = 7;
  failure.origin_sequence = 4;
  hal::detail::copy_text(failure.vendor_name, "LAUNCH_FAILED");
  hal::detail::copy_text(failure.message, "the kernel stopped");
  hal::detail::copy_text(failure.origin_operation, "launch 'saxpy'");
  hal::detail::copy_text(failure.origin_location, "/home/somebody/saxpy.cpp:31");
  hal::detail::copy_text(failure.origin_device, "gpu:0");

  const Error error =
      hal::spi::to_error(HAL_STATUS_LAUNCH_FAILED, failure, "Stream::synchronize", "gpu:1");
  CHECK(error.code() == Errc::launch_failed);
  CHECK(error.device() == "gpu:1");
  CHECK(error.message() == "the kernel stopped");
  CHECK(error.vendor_code() == -719);
  CHECK(error.vendor_name() == "LAUNCH_FAILED");
  REQUIRE(error.origin().has_value());
  CHECK(error.origin()->operation == "launch 'saxpy'");
  CHECK(error.origin()->location == "saxpy.cpp:31");
  CHECK(error.origin()->device == "gpu:0");
  CHECK(error.origin()->stream == 7);
  CHECK(error.origin()->sequence == 4);
}

TEST_CASE("a backend that explains nothing still gives a sentence") {
  const hal::spi::FailureBuffer failure;
  const Error unknown = hal::spi::to_error(4711, failure, "Device::allocate", "x:0");
  CHECK(unknown.code() == Errc::internal);
  CHECK_THAT(unknown.message(), ContainsSubstring("4711"));
  const Error not_ready = hal::spi::to_error(HAL_STATUS_NOT_READY, failure, "Stream::copy", "x:0");
  CHECK(not_ready.code() == Errc::internal);
  CHECK_THAT(not_ready.message(), ContainsSubstring("not ready"));
}

TEST_CASE("a text that a backend forgot to terminate is read to the end of its field") {
  hal::spi::FailureBuffer failure;
  std::memset(failure.message, 'x', sizeof failure.message);
  const Error error = hal::spi::to_error(HAL_STATUS_IO, failure, "open", "x:0");
  CHECK(error.message() == std::string(sizeof failure.message, 'x'));
}

TEST_CASE("check throws for a failure and not for success") {
  hal::spi::FailureBuffer failure;
  CHECK_NOTHROW(hal::spi::check(HAL_STATUS_OK, failure, "Stream::fill", "host:0"));
  CHECK_THROWS_AS(hal::spi::check(HAL_STATUS_TIMEOUT, failure, "Stream::fill", "host:0"), Error);
}

TEST_CASE("a hal::Error thrown by user code arrives whole") {
  hal::ErrorDetails details = asynchronous_failure();
  details.code = Errc::device_lost;
  details.vendor_code = 700;
  details.vendor_name = "ILLEGAL_ADDRESS";
  const Error error = seen_by_user(Error(details));
  CHECK(error.code() == Errc::device_lost);
  CHECK(error.message() == details.message);
  CHECK(error.vendor_code() == 700);
  CHECK(error.vendor_name() == "ILLEGAL_ADDRESS");
  REQUIRE(error.origin().has_value());
  CHECK(error.origin()->operation == "launch 'saxpy'");
  CHECK(error.origin()->location == "saxpy.cpp:31");
  CHECK(error.origin()->device == "host:0");
  CHECK(error.origin()->stream == 7);
  CHECK(error.origin()->sequence == 4);
}

TEST_CASE("other exceptions of user code become failures with their text") {
  const Error thrown = seen_by_user(std::runtime_error("index 12 is out of range"));
  CHECK(thrown.code() == Errc::launch_failed);
  CHECK(thrown.message() == "index 12 is out of range");

  CHECK(seen_by_user(std::bad_alloc()).code() == Errc::out_of_memory);

  const Error foreign = seen_by_user(42);
  CHECK(foreign.code() == Errc::launch_failed);
  CHECK_THAT(foreign.message(), ContainsSubstring("an exception that is not a std::exception"));
}

TEST_CASE("a failure described again keeps nothing of the one before") {
  hal::spi::FailureBuffer failure;
  hal::spi::to_failure(Error(asynchronous_failure()), failure);
  REQUIRE(failure.has_origin == 1);
  const hal_status status =
      hal::detail::guarded(&failure, [] { throw std::runtime_error("second"); });
  const Error error = hal::spi::to_error(status, failure, "x", "");
  CHECK(error.message() == "second");
  CHECK_FALSE(error.origin().has_value());
}

TEST_CASE("texts are cut to their field between characters") {
  char field[6];
  hal::detail::copy_text(field, "abcdefgh");
  CHECK(std::string_view(field) == "abcde");
  hal::detail::copy_text(field, "abcd\u00e9");  // the last character would end at byte 6
  CHECK(std::string_view(field) == "abcd");
  hal::detail::copy_text(field, "abc\u00e9");
  CHECK(std::string_view(field) == "abc\u00e9");
  hal::detail::copy_text(field, "");
  CHECK(std::string_view(field).empty());
}

TEST_CASE("a missing capability is named together with the device") {
  try {
    hal::spi::throw_unsupported("elapsed_ms", "event_elapsed", "null:0");
    FAIL("it returned");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.device() == "null:0");
    CHECK(error.operation() == "elapsed_ms");
    CHECK_THAT(error.message(), ContainsSubstring("event_elapsed"));
  }
}
