// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>

namespace hal::host {

/// The entry function of the host backend.
const hal_backend* backend_entry(const hal_backend_request* request, hal_failure* failure);

}  // namespace hal::host
