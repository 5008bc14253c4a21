// SPDX-License-Identifier: Apache-2.0
#include <hal/backend_list.hpp>
#include <hal/config.hpp>
#include <hal/device.hpp>
#include <hal/doctor.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "commands.hpp"
#include "device_choice.hpp"
#include "document.hpp"
#include "layout.hpp"
#include "output.hpp"
#include "plugin_probe.hpp"

namespace halinfo {

namespace {

using hal::Finding;
using hal::Severity;

Finding finding_of(const PluginReport& plugin) {
  const Json& backend = plugin.backend;
  Finding finding;
  finding.id = "plugin." + std::filesystem::path(plugin.path).filename().string();
  if (!plugin.works()) {
    finding.severity = Severity::critical;
    finding.found = plugin.sentence();
    finding.advice = backend["advice"].get<std::string>();
  } else if (backend["state"] == "loaded") {
    finding.found = "the plug-in offers backend " + backend["name"].get<std::string>() +
                    ", devices: " + std::to_string(plugin.devices.size());
  } else {
    finding.severity = Severity::info;
    finding.found = plugin.sentence();
  }
  return finding;
}

/// The backend a finding speaks of: "cuda" for "backend.cuda" and "cuda.driver".
std::string subject(const Finding& finding) {
  constexpr std::string_view prefix = "backend.";
  std::string id = finding.id;
  if (id.starts_with(prefix)) id.erase(0, prefix.size());
  return id.substr(0, id.find('.'));
}

void drop_other_backends(std::vector<Finding>& findings, const std::vector<std::string>& wanted,
                         const std::vector<PluginReport>& plugins) {
  Json listing = {{"backends", Json::array()}, {"devices", Json::array()}};
  for (const auto& backend : hal::backends())
    listing["backends"].push_back(to_json(backend));
  for (const auto& device : hal::describe_devices())
    listing["devices"].push_back(to_json(device));
  for (const PluginReport& plugin : plugins) {
    for (const Json& device : plugin.devices)
      listing["devices"].push_back(device);
  }
  const DeviceChoice choice(wanted, listing);
  std::erase_if(findings, [&](const Finding& finding) {
    const std::string about = subject(finding);
    const auto& backends = listing["backends"];
    return !choice.has_backend(about) &&
           std::any_of(backends.begin(), backends.end(),
                       [&](const Json& backend) { return backend["name"] == about; });
  });
}

/// HAL does not know the devices of plug-ins that other processes have loaded.
void correct_default_device(std::vector<Finding>& findings,
                            const std::vector<PluginReport>& plugins) {
  const std::string wanted = hal::config::text("HAL_DEVICE");
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.id == "device.default";
  });
  if (found == findings.end()) return;
  for (const PluginReport& plugin : plugins) {
    for (const Json& device : plugin.devices) {
      const auto id = device["id"].get<std::string>();
      if (id != wanted && id != wanted + ":0") continue;
      *found = {found->id, Severity::ok, "the default device is " + id + ", of a plug-in", ""};
    }
  }
}

struct Summary {
  std::string status;
  int exit_status;
};

Summary summary(const std::vector<Finding>& findings) {
  const auto any = [&](Severity severity) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.severity == severity; });
  };
  if (any(Severity::critical)) return {"critical", 1};
  if (any(Severity::unknown)) return {"unknown", 2};
  return {any(Severity::warning) ? "warnings" : "healthy", 0};
}

Json document_of(const std::vector<Finding>& findings, const Summary& result) {
  Json document = new_document();
  document["status"] = result.status;
  Json& list = document["findings"] = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"id", finding.id},
                    {"severity", hal::name(finding.severity)},
                    {"found", finding.found},
                    {"advice", finding.advice}});
  }
  return document;
}

Colour colour_of(Severity severity) {
  switch (severity) {
    case Severity::ok:
      return Colour::green;
    case Severity::info:
      return Colour::none;
    case Severity::warning:
    case Severity::unknown:
      return Colour::yellow;
    case Severity::critical:
      return Colour::red;
  }
  return Colour::none;
}

std::string text_of(const std::vector<Finding>& findings, const Summary& result) {
  Page page(screen());
  std::size_t id_columns = 0;
  for (const Finding& finding : findings)
    id_columns = std::max(id_columns, width(finding.id));
  constexpr std::size_t severity_columns = 10;
  for (const Finding& finding : findings) {
    const std::string severity = padded(hal::name(finding.severity), severity_columns);
    const std::string label =
        page.coloured(severity, colour_of(finding.severity)) + printable(finding.id);
    // The label is padded by hand: its colour takes no columns.
    const std::string padding(id_columns + 2 - width(finding.id), ' ');
    const std::size_t taken = severity_columns + id_columns + 2;
    page.paragraph(0, label + padding, taken, printable(finding.found));
    if (!finding.advice.empty()) {
      page.paragraph(taken, {}, 0, "To do: " + printable(finding.advice), Colour::bold);
    }
  }
  page.line();
  page.line("Result: " + result.status);
  return page.text();
}

}  // namespace

int run_doctor(const Options& options) {
  const std::vector<PluginReport> plugins = take_plugins();
  std::vector<Finding> findings = hal::diagnose();
  for (const PluginReport& plugin : plugins)
    findings.push_back(finding_of(plugin));
  correct_default_device(findings, plugins);
  if (!options.devices.empty()) drop_other_backends(findings, options.devices, plugins);
  const Summary result = summary(findings);
  emit(options.json ? to_text(document_of(findings, result)) : text_of(findings, result));
  return result.exit_status;
}

}  // namespace halinfo
