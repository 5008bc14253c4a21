// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>

#include <cstring>
#include <memory>

namespace hal::host {

/// Why a stream failed; shared by all that waited for it.
struct Failure {
  hal_status status = HAL_STATUS_INTERNAL;
  hal_failure text{};
};

using FailureRef = std::shared_ptr<const Failure>;

/// The status of a failure, its text copied out.
inline hal_status report(const FailureRef& failure, hal_failure* out) noexcept {
  if (failure == nullptr) return HAL_STATUS_OK;
  if (out != nullptr) std::memcpy(out, &failure->text, sizeof(hal_failure));
  return failure->status;
}

}  // namespace hal::host
