// SPDX-License-Identifier: Apache-2.0
#include "host/cgroup.hpp"

#include "host/small_file.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace hal::host {
namespace {

enum class Version { v1, v2 };

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The process's group as /proc/self/cgroup writes it, "4:memory:/a/b" or, in version 2, "0::/a/b".
std::optional<std::string> group_path(std::string_view cgroups, Version version,
                                      std::string_view controller) {
  for (std::string_view line : split(cgroups, '\n')) {
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool found = version == Version::v2 ? controllers.empty()
                                              : contains(split(controllers, ','), controller);
    if (found) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

struct Mount {
  std::string_view group;  ///< which group appears at `place`
  std::string_view place;
};

/// A line of /proc/self/mountinfo is "id parent device group place options... - type source
/// options".
std::optional<Mount> find_mount(std::string_view mounts, Version version,
                                std::string_view controller) {
  for (std::string_view line : split(mounts, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool found = version == Version::v2
                           ? after[0] == "cgroup2"
                           : after[0] == "cgroup" && contains(split(after[2], ','), controller);
    if (found) return Mount{before[3], before[4]};
  }
  return std::nullopt;
}

/// The directories of the process's group and of its parents, as far as they can be seen from here.
std::vector<std::string> group_directories(const std::string& root, Version version,
                                           std::string_view controller) {
  const std::string cgroups = read_file(root + "/proc/self/cgroup").value_or("");
  const std::string mounts = read_file(root + "/proc/self/mountinfo").value_or("");
  const auto group = group_path(cgroups, version, controller);
  const auto mount = find_mount(mounts, version, controller);
  if (!group || !mount) return {};

  // Inside a container the mount may show a part of the tree only.
  std::string_view below = *group;
  if (mount->group != "/") {
    below = below.starts_with(mount->group) ? below.substr(mount->group.size()) : "";
  }
  const std::string top = root + std::string(mount->place);
  std::vector<std::string> directories;
  while (!below.empty() && below != "/") {
    directories.push_back(top + std::string(below));
    below = below.substr(0, below.rfind('/'));
  }
  directories.push_back(top);
  return directories;
}

/// CPUs' worth of time, or 0 for no limit.
double quota_of(std::optional<std::uint64_t> quota_us, std::optional<std::uint64_t> period_us) {
  if (!quota_us || !period_us || *quota_us == 0 || *period_us == 0) return 0;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

/// "50000 100000", or "max 100000" for no limit.
double quota_v2(const std::string& directory) {
  const std::string text = read_file(directory + "/cpu.max").value_or("");
  const auto words = split(trimmed(text), ' ');
  return words.size() == 2 ? quota_of(leading_number(words[0]), leading_number(words[1])) : 0;
}

/// A quota of -1, which is no number here, is no limit.
double quota_v1(const std::string& directory) {
  return quota_of(read_number(directory + "/cpu.cfs_quota_us"),
                  read_number(directory + "/cpu.cfs_period_us"));
}

struct MemoryFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  ///< in memory.stat: cache that counts as used but is given up first
};
constexpr MemoryFiles memory_v1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                "total_inactive_file"};
constexpr MemoryFiles memory_v2{"/memory.max", "/memory.current", "inactive_file"};

/// Version 1 writes "no limit" as a number no machine has; version 2 as "max".
constexpr std::uint64_t no_limit = std::uint64_t{1} << 60U;

std::optional<MemoryLimit> memory_limit_of(const std::string& directory, const MemoryFiles& files) {
  const auto limit = read_number(directory + files.limit);
  if (!limit || *limit >= no_limit) return std::nullopt;
  const std::uint64_t usage = read_number(directory + files.usage).value_or(0);
  const std::string stat = read_file(directory + "/memory.stat").value_or("");
  const std::uint64_t reclaimable = number_after(stat, files.reclaimable).value_or(0);
  const std::uint64_t held = usage - std::min(usage, reclaimable);
  return MemoryLimit{*limit, *limit - std::min(*limit, held)};
}

}  // namespace

double read_cpu_quota(const std::string& root) {
  double tightest = 0;
  const auto consider = [&](double quota) {
    if (quota > 0 && (tightest == 0 || quota < tightest)) tightest = quota;
  };
  for (const auto& directory : group_directories(root, Version::v2, "")) {
    consider(quota_v2(directory));
  }
  for (const auto& directory : group_directories(root, Version::v1, "cpu")) {
    consider(quota_v1(directory));
  }
  return tightest;
}

std::optional<MemoryLimit> read_memory_limit(const std::string& root) {
  std::optional<MemoryLimit> tightest;
  const auto consider = [&](const std::optional<MemoryLimit>& found) {
    if (!found) return;
    if (!tightest) tightest = found;
    tightest->limit_bytes = std::min(tightest->limit_bytes, found->limit_bytes);
    tightest->available_bytes = std::min(tightest->available_bytes, found->available_bytes);
  };
  for (const auto& directory : group_directories(root, Version::v2, "")) {
    consider(memory_limit_of(directory, memory_v2));
  }
  for (const auto& directory : group_directories(root, Version::v1, "memory")) {
    consider(memory_limit_of(directory, memory_v1));
  }
  return tightest;
}

}  // namespace hal::host
