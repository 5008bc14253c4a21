// SPDX-License-Identifier: Apache-2.0
#include "host/topology.hpp"

#include "host/cgroup.hpp"
#include "host/cpu.hpp"
#include "host/small_file.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

namespace hal::host {
namespace {

/// The affinity mask of the calling thread, which the threads it starts inherit. The kernel refuses
/// a mask shorter than its own, so longer ones are tried.
std::vector<int> affinity_mask() {
  constexpr int most = 1 << 16;
  for (int count = 1024; count <= most; count *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(count), [](cpu_set_t* set) { CPU_FREE(set); });
    const std::size_t size = CPU_ALLOC_SIZE(count);
    if (mask == nullptr || ::sched_getaffinity(0, size, mask.get()) != 0) continue;
    std::vector<int> cpus;
    for (int cpu = 0; cpu < count; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask.get())) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {};
}

/// Without a mask (a sandbox that forbids asking): all that are online.
std::vector<int> allowed_cpus(const TopologySource& source) {
  std::vector<int> cpus = source.cpus ? *source.cpus : affinity_mask();
  if (cpus.empty()) {
    cpus = parse_list(read_file(source.root + "/sys/devices/system/cpu/online").value_or(""));
  }
  if (cpus.empty()) cpus.push_back(0);
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

int usable_cores(std::size_t cpus, double quota) {
  const int in_mask = static_cast<int>(cpus);
  if (quota <= 0 || quota >= in_mask) return in_mask;
  return std::max(1, static_cast<int>(std::ceil(quota)));
}

std::size_t kilobytes_after(const std::string& path, std::string_view key) {
  const std::string text = read_file(path).value_or("");
  return static_cast<std::size_t>(number_after(text, key).value_or(0)) * 1024;
}

std::vector<NumaNode> read_nodes(const std::string& root, const std::vector<int>& allowed) {
  const std::string folder = root + "/sys/devices/system/node";
  std::vector<NumaNode> nodes;
  std::vector<int> placed;
  for (int id : parse_list(read_file(folder + "/online").value_or(""))) {
    const std::string node = folder + "/node" + std::to_string(id);
    std::vector<int> cpus = parse_list(read_file(node + "/cpulist").value_or(""));
    std::sort(cpus.begin(), cpus.end());
    NumaNode& added = nodes.emplace_back();
    added.id = id;
    added.memory_bytes = kilobytes_after(node + "/meminfo", "MemTotal:");
    std::set_intersection(cpus.begin(), cpus.end(), allowed.begin(), allowed.end(),
                          std::back_inserter(added.cpus));
    placed.insert(placed.end(), added.cpus.begin(), added.cpus.end());
  }
  if (nodes.empty()) {
    nodes.emplace_back().memory_bytes = kilobytes_after(root + "/proc/meminfo", "MemTotal:");
  }
  std::sort(placed.begin(), placed.end());
  std::vector<int>& first = nodes.front().cpus;
  std::set_difference(allowed.begin(), allowed.end(), placed.begin(), placed.end(),
                      std::back_inserter(first));
  std::sort(first.begin(), first.end());
  return nodes;
}

/// "107520K", "32M".
std::optional<std::size_t> parse_cache_size(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  const char unit = trimmed(text).back();
  const unsigned shift = unit == 'K' ? 10U : unit == 'M' ? 20U : unit == 'G' ? 30U : 0U;
  return static_cast<std::size_t>(*number) << shift;
}

std::optional<std::size_t> last_level_cache(const std::string& cpu_folder) {
  std::optional<std::size_t> size;
  std::uint64_t deepest = 0;
  for (int index = 0;; ++index) {
    const std::string cache = cpu_folder + "/cache/index" + std::to_string(index);
    const auto level = read_number(cache + "/level");
    if (!level) return size;
    if (*level <= deepest) continue;
    deepest = *level;
    size = parse_cache_size(read_file(cache + "/size").value_or(""));
  }
}

std::string machine_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

}  // namespace

HostTopology read_topology(const TopologySource& source) {
  HostTopology topology;
  topology.cpus = allowed_cpus(source);
  topology.quota = read_cpu_quota(source.root);
  topology.cores = usable_cores(topology.cpus.size(), topology.quota);
  topology.nodes = read_nodes(source.root, topology.cpus);
  topology.cpu_model = detect_cpu_model();
  const CpuFeatures features = detect_cpu_features();
  topology.architecture = architecture_name(machine_name(), features);
  topology.types = numeric_types(features);
  const std::string cpu =
      source.root + "/sys/devices/system/cpu/cpu" + std::to_string(topology.cpus.front());
  topology.cache_bytes = last_level_cache(cpu);
  topology.max_khz = read_number(cpu + "/cpufreq/cpuinfo_max_freq");
  return topology;
}

MemoryAmounts read_memory(const TopologySource& source) {
  const std::string text = read_file(source.root + "/proc/meminfo").value_or("");
  const auto amount = [&](std::string_view key) {
    return static_cast<std::size_t>(number_after(text, key).value_or(0)) * 1024;
  };
  MemoryAmounts memory{amount("MemTotal:"), amount("MemAvailable:")};
  if (const auto limit = read_memory_limit(source.root)) {
    memory.total_bytes = std::min<std::size_t>(memory.total_bytes, limit->limit_bytes);
    memory.available_bytes = std::min<std::size_t>(memory.available_bytes, limit->available_bytes);
  }
  return memory;
}

const HostTopology& host_topology() {
  static const HostTopology topology = read_topology({});
  return topology;
}

MemoryAmounts host_memory() { return read_memory({}); }

}  // namespace hal::host
