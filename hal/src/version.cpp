// SPDX-License-Identifier: Apache-2.0
#include <hal/version.hpp>

#include "version_text.hpp"

namespace hal {

std::string_view version() noexcept { return HAL_VERSION_TEXT; }

}  // namespace hal
