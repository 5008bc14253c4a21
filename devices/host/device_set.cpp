// SPDX-License-Identifier: Apache-2.0
#include "device_set.hpp"

#include <hal/config.hpp>
#include <hal/error.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

namespace hal::host {

namespace {

struct InstalledExecutor {
  std::mutex mutex;
  std::shared_ptr<HostExecutor> executor;
  bool taken = false;
};

// Never destroyed: devices keep it, and they live as long as the process.
InstalledExecutor& installed() {
  static auto* const instance = new InstalledExecutor;
  return *instance;
}

/// All cores, or as many as `HAL_HOST_THREADS` says.
int total_threads(const HostTopology& topology) {
  const auto asked = static_cast<int>(config::integer("HAL_HOST_THREADS"));
  return asked > 0 ? asked : topology.cores;
}

std::vector<DeviceShare> one_per_node(const HostTopology& topology, int threads) {
  std::vector<DeviceShare> shares;
  const auto cpus = static_cast<int>(topology.cpus.size());
  for (const NumaNode& node : topology.nodes) {
    if (node.cpus.empty()) continue;
    const auto own = static_cast<int>(node.cpus.size());
    // A quota or a smaller number of threads is shared in proportion to the cores.
    shares.push_back({std::max(1, own * std::min(threads, cpus) / cpus), node});
  }
  return shares;
}

}  // namespace

std::vector<DeviceShare> device_shares() {
  const HostTopology& topology = host_topology();
  const int threads = total_threads(topology);
  const std::string asked = config::text("HAL_HOST_DEVICES");
  if (asked == "numa") return one_per_node(topology, threads);
  const int count = std::stoi(asked);
  std::vector<DeviceShare> shares;
  for (int index = 0; index < count; ++index) {
    const int extra = index < threads % count ? 1 : 0;
    shares.push_back({std::max(1, threads / count + extra), std::nullopt});
  }
  return shares;
}

std::shared_ptr<HostExecutor> take_installed_executor() {
  InstalledExecutor& here = installed();
  const std::lock_guard guard(here.mutex);
  here.taken = true;
  return here.executor;
}

}  // namespace hal::host

namespace hal {

void set_host_executor(std::shared_ptr<HostExecutor> executor) {
  host::InstalledExecutor& here = host::installed();
  const std::lock_guard guard(here.mutex);
  if (here.taken) {
    throw Error(Errc::invalid_state, "set_host_executor",
                "a host device is open already and keeps the executor it has: install yours before "
                "the first call of hal::device or hal::devices");
  }
  here.executor = std::move(executor);
}

}  // namespace hal
