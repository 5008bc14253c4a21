// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/detail/closure.hpp>
#include <hal/error.hpp>

#include <string>
#include <string_view>

/// Failures between the C boundary and `hal::Error`.
namespace hal::spi {

/// A failure on the stack whose texts are terminated, to hand to a backend.
struct FailureBuffer : hal_failure {
  FailureBuffer() noexcept { detail::clear(*this); }
};

/// The code of a status that is neither OK nor NOT_READY; `internal` for numbers no version knows.
[[nodiscard]] Errc code_of(hal_status status) noexcept;
[[nodiscard]] hal_status status_of(Errc code) noexcept;

/// What a backend reported, as the error a user sees.
[[nodiscard]] Error to_error(hal_status status, const hal_failure& failure,
                             std::string_view operation, const std::string& device);

/// Throws `to_error` unless the status is OK. NOT_READY is a backend's defect here.
inline void check(hal_status status, const hal_failure& failure, std::string_view operation,
                  const std::string& device) {
  if (status != HAL_STATUS_OK) [[unlikely]]
    throw to_error(status, failure, operation, device);
}

/// The opposite direction: an error as what a backend carries along, its origin included.
hal_status to_failure(const Error& error, hal_failure& failure) noexcept;

/// Throws `unsupported`, naming the capability ("event_elapsed") and the device.
[[noreturn]] void throw_unsupported(std::string_view operation, std::string_view capability,
                                    const std::string& device);

}  // namespace hal::spi
