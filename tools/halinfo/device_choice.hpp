// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "document.hpp"

namespace halinfo {

/// The devices asked for with `--device`, by full id. As everywhere in HAL, "cuda" alone means the
/// first of its kind.
class DeviceChoice {
 public:
  /// Throws `hal::Error` (`not_found`), listing the ids there are, for an id that is not among the
  /// devices of `listing`, a document of `halinfo list`.
  DeviceChoice(const std::vector<std::string>& wanted, const Json& listing);

  [[nodiscard]] bool has_device(const std::string& id) const { return ids_.contains(id); }
  [[nodiscard]] bool has_backend(const std::string& name) const { return backends_.contains(name); }

 private:
  std::set<std::string> ids_;
  std::set<std::string> backends_;
};

}  // namespace halinfo
