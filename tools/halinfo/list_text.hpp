// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "document.hpp"
#include "output.hpp"

namespace halinfo {

/// The document of `halinfo list` for people.
[[nodiscard]] std::string list_text(const Json& document, Screen screen);

}  // namespace halinfo
