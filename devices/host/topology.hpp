// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hal::host {

/// A NUMA node, with those of its cores that this process may use.
struct NumaNode {
  int id = 0;
  std::vector<int> cpus;         ///< may be empty: memory without cores, or none of them allowed
  std::size_t memory_bytes = 0;  ///< 0: unknown
};

/// What the host device needs to know of the machine and of this process's share of it.
struct HostTopology {
  std::vector<int> cpus;  ///< numbers of the CPUs in the affinity mask, ascending; never empty
  int cores = 1;          ///< CPUs' worth of time this process may use: mask and quota; >= 1
  double quota = 0;       ///< the tightest cgroup quota, in CPUs; 0: none
  std::vector<NumaNode> nodes;  ///< ascending by id; at least one, and their cpus cover `cpus`
  std::string cpu_model;        ///< "AMD EPYC 9654 96-Core Processor"; empty: unknown
  std::string architecture;     ///< "x86_64 avx512+amx"
  std::uint32_t types = 0;      ///< HAL_TYPE_* bits
  std::optional<std::size_t> cache_bytes;  ///< one instance of the last-level cache
  std::optional<std::uint64_t> max_khz;
};

/// Memory of the machine, or of the tightest cgroup limit around this process.
struct MemoryAmounts {
  std::size_t total_bytes = 0;
  std::size_t available_bytes = 0;  ///< can be allocated without swapping
};

/// Where to read from. Tests give a directory that holds `sys` and `proc`, and a mask.
struct TopologySource {
  std::string root;                      ///< before "/sys" and "/proc"; empty: this machine
  std::optional<std::vector<int>> cpus;  ///< instead of the calling process's affinity mask
};

/// Reads a few small files; never throws for one that is missing or odd.
[[nodiscard]] HostTopology read_topology(const TopologySource& source);
[[nodiscard]] MemoryAmounts read_memory(const TopologySource& source);

/// This machine, read at the first call and kept for the life of the process.
[[nodiscard]] const HostTopology& host_topology();
/// This machine, now.
[[nodiscard]] MemoryAmounts host_memory();

}  // namespace hal::host
