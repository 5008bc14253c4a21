// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend_table.hpp"

#include <hal/backend_list.hpp>

#include <string>

namespace hal::core {

/// Loads the shared object at `path` and asks it for its table. It stays loaded for the life of the
/// process, also when it is refused: what its constructors registered cannot be taken back.
[[nodiscard]] BackendTable load_plugin(const std::string& path);

/// The row of a plug-in: the state of its backend, or why it was refused.
[[nodiscard]] Backend plugin_row(const std::string& path, const BackendTable& table);

}  // namespace hal::core
