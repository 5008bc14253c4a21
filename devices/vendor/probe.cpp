// SPDX-License-Identifier: Apache-2.0
#include "vendor/probe.hpp"

#include "vendor/library.hpp"

#include <fmt/format.h>

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hal::vendor {
namespace {

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

std::string first_word(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

struct PciDevice {
  std::string address;
  std::string vendor;
};

/// Display controllers (class 03), co-processors (0b40) and processing accelerators (12).
bool computes(std::string_view pci_class) {
  return pci_class.starts_with("0x03") || pci_class.starts_with("0x0b40") ||
         pci_class.starts_with("0x12");
}

std::vector<PciDevice> scan_pci(const std::string& root) {
  std::vector<PciDevice> devices;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(root + "/sys/bus/pci/devices", error)) {
    if (!computes(first_word(entry.path() / "class"))) continue;
    devices.push_back({entry.path().filename().string(), first_word(entry.path() / "vendor")});
  }
  return devices;
}

/// Hundreds of small files on a server: read once for all vendors.
const std::vector<PciDevice>& pci_of_this_machine() {
  static const std::vector<PciDevice> devices = scan_pci("");
  return devices;
}

/// A visibility variable that hides every device, as "NAME is 'value'".
std::optional<std::string> hidden_by(const Dialect& dialect, const Surroundings& surroundings) {
  for (const VisibilityVariable& variable : dialect.visibility_variables) {
    const auto value = surroundings.environment(variable.name);
    if (!value) continue;
    const std::string first = value->substr(0, value->find(','));
    const bool hides =
        value->empty() ? variable.empty_hides : first == "-1" || first == "NoDevFiles";
    if (!hides) continue;
    if (value->empty()) return fmt::format("{} is set and empty", variable.name);
    return fmt::format("{} is '{}'", variable.name, *value);
  }
  return std::nullopt;
}

struct NodeState {
  std::string missing;  ///< a pattern that matches nothing; empty: all are there
  std::string denied;   ///< a node this process may not open; empty: none
};

NodeState find_nodes(const Dialect& dialect, const Surroundings& surroundings) {
  NodeState state;
  for (const char* pattern : dialect.device_nodes) {
    const std::vector<std::string> nodes = matches(surroundings.root + pattern);
    if (nodes.empty()) {
      if (state.missing.empty()) state.missing = pattern;
    } else if (std::none_of(nodes.begin(), nodes.end(), surroundings.may_use)) {
      if (state.denied.empty()) state.denied = nodes.front().substr(surroundings.root.size());
    }
  }
  return state;
}

/// No device at all, or one without its node: the kernel driver is not loaded, or a container was
/// not given it.
ProbeResult without_node(const Dialect& dialect, const Surroundings& surroundings,
                         const std::string& pattern, const std::string& library) {
  ProbeResult result;
  result.library = library;
  const auto devices = pci_devices(surroundings.root, dialect.pci_vendor);
  if (devices.empty()) {
    result.reason = Reason::no_device;
    result.detail = fmt::format("there is no {} on the PCI bus and no device node {}",
                                dialect.device_noun, pattern);
  } else {
    result.reason = Reason::no_device_node;
    result.detail = fmt::format(
        "the {} at PCI address {} has no device node {}: its kernel driver is not loaded, "
        "or this container was not given the device",
        dialect.device_noun, devices.front(), pattern);
  }
  return result;
}

ProbeResult without_permission(const Dialect& dialect, const std::string& node,
                               const std::string& library) {
  ProbeResult result{.reason = Reason::permission, .library = library};
  result.detail = fmt::format("this process may not read and write {}", node);
  if (dialect.node_groups != nullptr) {
    result.detail += fmt::format(": its user is not in the groups {}", dialect.node_groups);
  }
  return result;
}

std::vector<std::string> expand(std::span<const SearchFolder> folders,
                                const Surroundings& surroundings) {
  std::vector<std::string> expanded;
  for (const SearchFolder& folder : folders) {
    std::string path = folder.path;
    if (folder.variable != nullptr) {
      const auto value = surroundings.environment(folder.variable);
      if (!value || value->empty()) continue;
      path.insert(0, *value);
    }
    if (path.find('*') == std::string::npos) {
      expanded.push_back(std::move(path));
    } else {
      const auto found = matches(path);
      // Newer versions sort last.
      expanded.insert(expanded.end(), found.rbegin(), found.rend());
    }
  }
  return expanded;
}

std::string missing_symbol(const Library& library, const Profile& profile) {
  for (const char* symbol : profile.required_symbols) {
    if (library.symbol(symbol) == nullptr) return symbol;
  }
  return {};
}

struct Found {
  LibraryResult library;
  const Profile* profile = nullptr;
};

/// A library named by the user may be of any profile: the first that it satisfies.
Found open_override(const Dialect& dialect, const std::string& file) {
  Found found{open_library(file), dialect.profiles.data()};
  const auto* library = std::get_if<Library>(&found.library);
  if (library == nullptr) return found;
  for (const Profile& profile : dialect.profiles) {
    if (!missing_symbol(*library, profile).empty()) continue;
    found.profile = &profile;
    break;
  }
  return found;
}

Found find_driver(const Dialect& dialect, const Surroundings& surroundings) {
  if (!surroundings.override_library.empty()) {
    Found found = open_override(dialect, surroundings.override_library);
    if (auto* failure = std::get_if<LibraryFailure>(&found.library)) {
      failure->detail = fmt::format("{} names a library that cannot be used: {}",
                                    dialect.override_variable, failure->detail);
    }
    return found;
  }
  std::optional<Found> first_failure;
  for (const Profile& profile : dialect.profiles) {
    LibrarySearch search;
    search.names.assign(profile.library_names.begin(), profile.library_names.end());
    search.in_loader_path = profile.in_loader_path;
    search.folders = expand(profile.folders, surroundings);
    Found found{find_library(search), &profile};
    const auto* failure = std::get_if<LibraryFailure>(&found.library);
    if (failure == nullptr || failure->reason != Reason::library_absent) return found;
    if (!first_failure) first_failure = std::move(found);
  }
  return *std::move(first_failure);
}

ProbeResult without_library(const Dialect& dialect, const Surroundings& surroundings,
                            const LibraryFailure& failure) {
  ProbeResult result{
      .reason = failure.reason, .library = failure.library, .detail = failure.detail};
  const auto devices = pci_devices(surroundings.root, dialect.pci_vendor);
  if (!devices.empty()) {
    result.detail += fmt::format(", though there is the {} at PCI address {}", dialect.device_noun,
                                 devices.front());
  }
  return result;
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// "libx.so.7.1.70100" is 7010.
std::optional<int> version_in_file_name(const std::string& path) {
  std::error_code error;
  const std::string file = std::filesystem::canonical(path, error).filename().string();
  const std::size_t at = file.find(".so.");
  if (error || at == std::string::npos) return std::nullopt;
  const char* end = file.data() + file.size();
  int major = 0;
  int minor = 0;
  const auto after_major = std::from_chars(file.data() + at + 4, end, major);
  if (after_major.ec != std::errc() || after_major.ptr == end || *after_major.ptr != '.') {
    return std::nullopt;
  }
  if (std::from_chars(after_major.ptr + 1, end, minor).ec != std::errc()) return std::nullopt;
  return major * 1000 + minor * 10;
}

/// What the vendors' stub libraries, made for linking only, answer to everything.
constexpr int stub_code = 34;

/// Asks the library; fills in `result` and returns nothing when it does not answer.
std::optional<int> query_version(const Library& library, const char* symbol, ProbeResult& result) {
  using Query = int (*)(int*);
  const auto query = reinterpret_cast<Query>(library.symbol(symbol));
  int version = 0;
  const int code = query(&version);
  if (code == 0) return version;
  result.vendor_code = code;
  if (code == stub_code) {
    result.reason = Reason::library_stub;
    result.detail = fmt::format("{} is the stub made for linking, not a driver", library.path());
  } else {
    result.reason = Reason::init_failed;
    result.detail = fmt::format("{} of {} answered code {}", symbol, library.path(), code);
  }
  return std::nullopt;
}

ProbeResult judge_library(const Dialect& dialect, const Profile& profile, const Library& library) {
  ProbeResult result{.library = library.path()};
  if (const std::string symbol = missing_symbol(library, profile); !symbol.empty()) {
    result.reason = Reason::symbol_missing;
    result.detail = fmt::format("{} does not offer {}", library.path(), symbol);
    return result;
  }
  const std::optional<int> version = profile.version_symbol != nullptr
                                         ? query_version(library, profile.version_symbol, result)
                                         : version_in_file_name(library.path());
  if (result.reason != Reason::none) return result;
  if (version) result.version = version_text(*version);
  if (version && *version < dialect.minimum_version) {
    result.reason = Reason::driver_too_old;
    result.detail =
        fmt::format("the driver {} has version {}, and HAL needs {} or newer", library.path(),
                    result.version, version_text(dialect.minimum_version));
    return result;
  }
  result.reason = Reason::not_driven;
  result.detail = fmt::format("the driver{}{} is here, but this version of HAL cannot drive it yet",
                              version ? " " : "", result.version);
  return result;
}

}  // namespace

Surroundings real_surroundings(std::string override_library) {
  return {
      .root = {},
      .override_library = std::move(override_library),
      .environment = [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      },
      .may_use = [](const std::string& path) { return ::access(path.c_str(), R_OK | W_OK) == 0; }};
}

std::vector<std::string> pci_devices(const std::string& root, std::string_view pci_vendor) {
  std::vector<std::string> addresses;
  for (const PciDevice& device : root.empty() ? pci_of_this_machine() : scan_pci(root)) {
    if (device.vendor == pci_vendor) addresses.push_back(device.address);
  }
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

ProbeResult probe(const Dialect& dialect, const Surroundings& surroundings) {
  if (auto hidden = hidden_by(dialect, surroundings)) {
    return {.reason = Reason::filtered_by_env,
            .detail = fmt::format("{}, which hides every {}", *hidden, dialect.device_noun)};
  }
  const NodeState nodes = find_nodes(dialect, surroundings);
  if (dialect.open_only_with_device && !nodes.missing.empty() &&
      surroundings.override_library.empty()) {
    return without_node(dialect, surroundings, nodes.missing,
                        dialect.profiles.front().library_names.front());
  }
  const Found found = find_driver(dialect, surroundings);
  if (const auto* failure = std::get_if<LibraryFailure>(&found.library)) {
    return without_library(dialect, surroundings, *failure);
  }
  const auto& library = std::get<Library>(found.library);
  const ProbeResult verdict = judge_library(dialect, *found.profile, library);
  // What is wrong with a library somebody named says more than a device that is missing.
  const bool named = !surroundings.override_library.empty();
  if (named && verdict.reason != Reason::not_driven) return verdict;
  if (!nodes.missing.empty()) {
    return without_node(dialect, surroundings, nodes.missing, library.path());
  }
  if (!nodes.denied.empty()) return without_permission(dialect, nodes.denied, library.path());
  return verdict;
}

}  // namespace hal::vendor
