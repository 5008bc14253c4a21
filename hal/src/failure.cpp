// SPDX-License-Identifier: Apache-2.0
#include "spi/failure.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hal {
namespace {

/// `hal_status` is a code of `Errc` and this much.
constexpr hal_status first_code = 100;

/// A field of a plug-in, which may have forgotten to terminate it.
template <std::size_t Size>
std::string read_text(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

/// "/home/me/saxpy.cpp:31" as "saxpy.cpp:31".
std::string without_folder(std::string location) {
  const std::size_t slash = location.rfind('/');
  return slash == std::string::npos ? location : location.substr(slash + 1);
}

std::string message_of(hal_status status, const hal_failure& failure) {
  if (status == HAL_STATUS_NOT_READY) {
    return "the backend answered 'not ready' to a call that must be done when it returns; report "
           "this to the backend's author";
  }
  std::string message = read_text(failure.message);
  if (!message.empty()) return message;
  return fmt::format(
      "the backend gave status {} and no explanation; report this to the backend's author", status);
}

hal_status fill(hal_failure& failure, hal_status status, std::string_view message) noexcept {
  failure.has_vendor_code = 0;
  failure.has_origin = 0;
  failure.vendor_name[0] = '\0';
  detail::copy_text(failure.message, message);
  return status;
}

}  // namespace

hal_status detail::describe_current_exception(hal_failure* failure) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return spi::to_failure(error, *failure);
  } catch (const std::bad_alloc&) {
    return fill(*failure, HAL_STATUS_OUT_OF_MEMORY,
                "the process ran out of memory while the work ran; make the work smaller");
  } catch (const std::exception& exception) {
    return fill(*failure, HAL_STATUS_LAUNCH_FAILED, exception.what());
  } catch (...) {
    return fill(*failure, HAL_STATUS_LAUNCH_FAILED,
                "an exception that is not a std::exception was thrown");
  }
}

namespace spi {

Errc code_of(hal_status status) noexcept {
  const bool known = status >= HAL_STATUS_INVALID_ARGUMENT && status <= HAL_STATUS_INTERNAL;
  return known ? static_cast<Errc>(status - first_code) : Errc::internal;
}

hal_status status_of(Errc code) noexcept { return static_cast<hal_status>(code) + first_code; }

Error to_error(hal_status status, const hal_failure& failure, std::string_view operation,
               const std::string& device) {
  ErrorDetails details;
  details.code = code_of(status);
  details.operation = operation;
  details.device = device;
  details.message = message_of(status, failure);
  if (failure.has_vendor_code != 0) details.vendor_code = failure.vendor_code;
  details.vendor_name = read_text(failure.vendor_name);
  if (failure.has_origin != 0) {
    details.origin = Origin{.operation = read_text(failure.origin_operation),
                            .location = without_folder(read_text(failure.origin_location)),
                            .device = read_text(failure.origin_device),
                            .stream = failure.origin_stream,
                            .sequence = failure.origin_sequence};
  }
  return Error(std::move(details));
}

hal_status to_failure(const Error& error, hal_failure& failure) noexcept {
  fill(failure, HAL_STATUS_OK, error.message());
  if (const std::optional<std::int64_t> code = error.vendor_code()) {
    failure.has_vendor_code = 1;
    failure.vendor_code = *code;
  }
  detail::copy_text(failure.vendor_name, error.vendor_name());
  if (const std::optional<Origin>& origin = error.origin()) {
    failure.has_origin = 1;
    failure.origin_stream = origin->stream;
    failure.origin_sequence = origin->sequence;
    detail::copy_text(failure.origin_operation, origin->operation);
    detail::copy_text(failure.origin_location, origin->location);
    detail::copy_text(failure.origin_device, origin->device);
  }
  return status_of(error.code());
}

void throw_unsupported(std::string_view operation, std::string_view capability,
                       const std::string& device) {
  throw Error(Errc::unsupported, std::string(operation),
              fmt::format("this device does not offer '{}'; use a device that does", capability),
              device);
}

}  // namespace spi
}  // namespace hal
