// SPDX-License-Identifier: Apache-2.0
#include <hal/backend_list.hpp>
#include <hal/config.hpp>
#include <hal/device.hpp>

#include <algorithm>
#include <iterator>
#include <string>

#include "commands.hpp"
#include "device_choice.hpp"
#include "document.hpp"
#include "list_text.hpp"
#include "output.hpp"
#include "plugin_probe.hpp"

namespace halinfo {

namespace {

Json listing(const std::vector<PluginReport>& plugins) {
  Json document = new_document();
  Json& backends = document["backends"] = Json::array();
  Json& devices = document["devices"] = Json::array();
  for (const hal::Backend& backend : hal::backends())
    backends.push_back(to_json(backend));
  for (const hal::DeviceSummary& device : hal::describe_devices()) {
    devices.push_back(to_json(device));
  }
  for (const PluginReport& plugin : plugins) {
    backends.push_back(plugin.backend);
    for (const Json& device : plugin.devices)
      devices.push_back(device);
  }
  return document;
}

/// As `hal::devices()` does: what a wrong value was meant to say is not guessed.
void require_valid_variables() {
  for (const hal::config::Variable& variable : hal::config::variables()) {
    if (variable.problem.empty()) continue;
    throw hal::Error(hal::Errc::invalid_argument, "halinfo list", variable.problem);
  }
}

Json without(const Json& rows, const auto& unwanted) {
  Json kept = Json::array();
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept),
               [&](const Json& row) { return !unwanted(row); });
  return kept;
}

/// Leaves the devices asked for and their backends. Plug-ins that did not load stay: what they
/// would have offered is not known.
void keep_chosen(Json& document, const DeviceChoice& choice) {
  document["devices"] = without(document["devices"], [&](const Json& device) {
    return !choice.has_device(device["id"].get<std::string>());
  });
  document["backends"] = without(document["backends"], [&](const Json& backend) {
    const bool broken_plugin = backend["plugin"] == true && backend["state"] != "loaded";
    return !broken_plugin && !choice.has_backend(backend["name"].get<std::string>());
  });
}

}  // namespace

int run_list(const Options& options) {
  require_valid_variables();
  const std::vector<PluginReport> plugins = take_plugins();
  Json document = listing(plugins);
  if (!options.devices.empty()) keep_chosen(document, DeviceChoice(options.devices, document));

  emit(options.json ? to_text(document) : list_text(document, screen()));
  int status = 0;
  for (const PluginReport& plugin : plugins) {
    if (plugin.works()) continue;
    complain(plugin.sentence());
    status = 1;
  }
  return status;
}

}  // namespace halinfo
