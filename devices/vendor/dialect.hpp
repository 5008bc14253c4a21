// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

/// The tables in which the vendors' drivers differ. Everything that reads them is written once.
namespace hal::vendor {

/// A folder that may hold a library: the value of an environment variable, if one is named (and the
/// folder is left out when it is unset or empty), then a path, which may be a shell pattern.
struct SearchFolder {
  const char* variable;
  const char* path;
};

/// A driver library and what is needed of it. A vendor has a second one when another library offers
/// the same functions under other names.
struct Profile {
  std::span<const char* const> library_names;  ///< in order of preference
  bool in_loader_path;                         ///< looked for as any library is, before `folders`
  std::span<const SearchFolder> folders;
  /// Exact exported names, each pinned to one signature, so never "the newest suffix".
  std::span<const char* const> required_symbols;
  /// `int f(int* version)`, which answers 0 and 1000 * major + 10 * minor, and starts nothing.
  /// Null: the version is in the file's name, "libx.so.7.1.70100".
  const char* version_symbol;
};

struct VisibilityVariable {
  const char* name;
  bool empty_hides;  ///< set but empty hides every device; otherwise that counts as unset
};

struct Dialect {
  const char* name;                   ///< of the backend, "cuda"
  const char* description;            ///< "NVIDIA GPUs (CUDA driver)"
  const char* device_noun;            ///< "NVIDIA GPU"
  const char* override_variable;      ///< the HAL variable that names the library instead
  std::span<const Profile> profiles;  ///< in order of preference
  /// Shell patterns. A device can be used when each matches a node this process may open.
  std::span<const char* const> device_nodes;
  const char* node_groups;  ///< groups that may open them; null: the distribution's choice
  const char* pci_vendor;   ///< as sysfs writes it, "0x10de"
  std::span<const VisibilityVariable> visibility_variables;
  int minimum_version;         ///< 1000 * major + 10 * minor; 0: none
  bool open_only_with_device;  ///< opening the library is slow: not without a device or an override
};

}  // namespace hal::vendor
