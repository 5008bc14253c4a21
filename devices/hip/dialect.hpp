// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/dialect.hpp"

#include <hal/backend.h>

namespace hal::hip {

extern const vendor::Dialect dialect;

[[nodiscard]] const hal_backend* backend_entry(const hal_backend_request* request,
                                               hal_failure* failure);

}  // namespace hal::hip
