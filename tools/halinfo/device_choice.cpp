// SPDX-License-Identifier: Apache-2.0
#include "device_choice.hpp"

#include <hal/error.hpp>

#include <algorithm>

namespace halinfo {

namespace {

/// "cuda is absent (library_absent); " where the id begins with the name of a backend.
std::string why_not(const std::string& id, const Json& listing) {
  const std::string wanted = id.substr(0, id.find(':'));
  for (const Json& backend : listing["backends"]) {
    if (backend["name"] != wanted || backend["state"] == "loaded") continue;
    return wanted + " is " + backend["state"].get<std::string>() + " (" +
           backend["reason"].get<std::string>() + "); ";
  }
  return {};
}

[[noreturn]] void throw_not_found(const std::string& id, const Json& listing) {
  std::string there_are;
  for (const Json& device : listing["devices"]) {
    if (!there_are.empty()) there_are += ", ";
    there_are += device["id"].get<std::string>();
  }
  throw hal::Error(hal::Errc::not_found, "halinfo --device",
                   "there is no device \"" + id + "\": " + why_not(id, listing) +
                       (there_are.empty() ? "there is none here" : "choose from " + there_are));
}

}  // namespace

DeviceChoice::DeviceChoice(const std::vector<std::string>& wanted, const Json& listing) {
  const Json& devices = listing["devices"];
  for (const std::string& id : wanted) {
    const std::string full = id.find(':') == std::string::npos ? id + ":0" : id;
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const Json& device) { return device["id"] == full; });
    if (found == devices.end()) throw_not_found(id, listing);
    ids_.insert(full);
    backends_.insert((*found)["backend"].get<std::string>());
  }
}

}  // namespace halinfo
