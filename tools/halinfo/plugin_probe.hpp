// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "document.hpp"

namespace halinfo {

/// What a plug-in says of itself, as `to_json` writes it.
struct PluginReport {
  std::string path;
  Json backend;
  Json devices = Json::array();

  /// Whether it is a plug-in that works, though its backend may have no device here.
  [[nodiscard]] bool works() const { return backend["name"] != path; }
  /// "plug-in /x/libfoo.so: crashed: it ended ..."
  [[nodiscard]] std::string sentence() const;
};

/// Takes `HAL_PLUGINS` from this process, which will load none of them, and asks each of them in a
/// process of its own: one that crashes or hangs becomes a report that says so. Call it before HAL
/// has started anything, as it forks.
[[nodiscard]] std::vector<PluginReport> take_plugins();

}  // namespace halinfo
