// SPDX-License-Identifier: Apache-2.0
#include "devices/host/topology.hpp"

#include "devices/host/cgroup.hpp"
#include "devices/host/cpu.hpp"
#include "devices/host/small_file.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <hal/backend.h>

#include <sched.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace hal::host;
using hal_test::TemporaryFolder;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

const char* const v2_mount =
    "25 1 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const v1_mounts =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

HostTopology read(const TemporaryFolder& root, std::vector<int> cpus) {
  return read_topology({root.path().string(), std::move(cpus)});
}

}  // namespace

TEST_CASE("kernel lists of numbers are read, and what is odd in them is left out") {
  CHECK(parse_list("0-3,8\n") == std::vector{0, 1, 2, 3, 8});
  CHECK(parse_list("5") == std::vector{5});
  CHECK(parse_list("").empty());
  CHECK(parse_list("\n").empty());
  CHECK(parse_list("x,2,-1,7-3,9-") == std::vector{2});
  CHECK(parse_list("0-4000000000").empty());
}

TEST_CASE("a number is found after its whole key only") {
  const std::string text = "total_inactive_file 7\ninactive_file 5\nNode 0 MemTotal:   9 kB\n";
  CHECK(number_after(text, "inactive_file") == 5U);
  CHECK(number_after(text, "MemTotal:") == 9U);
  CHECK_FALSE(number_after(text, "inactive").has_value());
}

TEST_CASE("a machine that tells nothing has one core, one node and no made-up numbers") {
  const TemporaryFolder root;
  const HostTopology topology = read(root, {});
  CHECK(topology.cpus == std::vector{0});
  CHECK(topology.cores == 1);
  CHECK(topology.quota == 0);
  REQUIRE(topology.nodes.size() == 1);
  CHECK(topology.nodes[0].cpus == topology.cpus);
  CHECK_FALSE(topology.cache_bytes.has_value());
  CHECK_FALSE(topology.max_khz.has_value());
}

TEST_CASE("nodes hold the allowed CPUs only, and every allowed CPU is in one") {
  const TemporaryFolder root;
  root.write("/sys/devices/system/node/online", "0-1\n");
  root.write("/sys/devices/system/node/node0/cpulist", "0-3\n");
  root.write("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       2048 kB\n");
  root.write("/sys/devices/system/node/node1/cpulist", "4-7\n");
  root.write("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       1024 kB\n");
  const HostTopology topology = read(root, {6, 1, 2, 6, 9});
  CHECK(topology.cpus == std::vector{1, 2, 6, 9});
  CHECK(topology.cores == 4);
  REQUIRE(topology.nodes.size() == 2);
  CHECK(topology.nodes[0].cpus == std::vector{1, 2, 9});
  CHECK(topology.nodes[0].memory_bytes == 2 * mebibyte);
  CHECK(topology.nodes[1].cpus == std::vector{6});
}

TEST_CASE("the last-level cache and the clock are those of the first allowed CPU") {
  const TemporaryFolder root;
  const std::string cpu = "/sys/devices/system/cpu/cpu2";
  root.write(cpu + "/cache/index0/level", "1\n");
  root.write(cpu + "/cache/index0/size", "48K\n");
  root.write(cpu + "/cache/index1/level", "3\n");
  root.write(cpu + "/cache/index1/size", "32M\n");
  root.write(cpu + "/cpufreq/cpuinfo_max_freq", "3700000\n");
  const HostTopology topology = read(root, {2});
  CHECK(topology.cache_bytes == 32 * mebibyte);
  CHECK(topology.max_khz == 3700000U);
}

TEST_CASE("a quota of version 2 is rounded up to cores, and a parent's counts too") {
  const TemporaryFolder root;
  root.write("/proc/self/cgroup", "0::/job/step\n");
  root.write("/proc/self/mountinfo", v2_mount);
  root.write("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  CHECK(read_cpu_quota(root.path().string()) == 0);

  root.write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  CHECK(read_cpu_quota(root.path().string()) == 1.5);
  CHECK(read(root, {0, 1, 2, 3}).cores == 2);
  CHECK(read(root, {0}).cores == 1);

  root.write("/sys/fs/cgroup/job/step/cpu.max", "20000 100000\n");
  CHECK(read(root, {0, 1, 2, 3}).cores == 1);
}

TEST_CASE("a quota of version 1 counts, and -1 is none") {
  const TemporaryFolder root;
  root.write("/proc/self/cgroup", "4:memory:/a\n1:cpu,cpuacct:/a/b\n0::/\n");
  root.write("/proc/self/mountinfo", v1_mounts);
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
  CHECK(read_cpu_quota(root.path().string()) == 0);
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  CHECK(read_cpu_quota(root.path().string()) == 3);
}

TEST_CASE("inside a container the mounted part of the group tree is used") {
  const TemporaryFolder root;
  root.write("/proc/self/cgroup", "0::/docker/42/inner\n");
  root.write("/proc/self/mountinfo",
             "25 1 0:22 /docker/42 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  root.write("/sys/fs/cgroup/inner/cpu.max", "200000 100000\n");
  root.write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  CHECK(read_cpu_quota(root.path().string()) == 1);
}

TEST_CASE("memory is the machine's when no group limits it") {
  const TemporaryFolder root;
  root.write("/proc/meminfo", "MemTotal:  8192 kB\nMemFree: 1 kB\nMemAvailable:  4096 kB\n");
  root.write("/proc/self/cgroup", "4:memory:/a\n");
  root.write("/proc/self/mountinfo", v1_mounts);
  root.write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  const MemoryAmounts memory = read_memory({root.path().string(), {}});
  CHECK(memory.total_bytes == 8 * mebibyte);
  CHECK(memory.available_bytes == 4 * mebibyte);
}

TEST_CASE("a group's memory limit counts, less what it holds and cannot give up") {
  const TemporaryFolder root;
  root.write("/proc/meminfo", "MemTotal:  65536 kB\nMemAvailable:  65536 kB\n");
  root.write("/proc/self/cgroup", "0::/job/step\n");
  root.write("/proc/self/mountinfo", v2_mount);
  root.write("/sys/fs/cgroup/job/memory.max", std::to_string(16 * mebibyte) + "\n");
  root.write("/sys/fs/cgroup/job/memory.current", std::to_string(14 * mebibyte) + "\n");
  root.write("/sys/fs/cgroup/job/memory.stat",
             "anon 1\ninactive_file " + std::to_string(4 * mebibyte) + "\n");
  root.write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  const MemoryAmounts memory = read_memory({root.path().string(), {}});
  CHECK(memory.total_bytes == 16 * mebibyte);
  CHECK(memory.available_bytes == 6 * mebibyte);
}

TEST_CASE("a group above its memory limit has nothing available") {
  const TemporaryFolder root;
  root.write("/proc/meminfo", "MemTotal:  65536 kB\nMemAvailable:  65536 kB\n");
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/proc/self/mountinfo", v2_mount);
  root.write("/sys/fs/cgroup/memory.max", "1000\n");
  root.write("/sys/fs/cgroup/memory.current", "2000\n");
  CHECK(read_memory({root.path().string(), {}}).available_bytes == 0);
}

TEST_CASE("architecture and numeric types follow the CPU's features") {
  CpuFeatures features;
  CHECK(architecture_name("aarch64", features) == "aarch64");
  CHECK((numeric_types(features) & HAL_TYPE_F64) != 0);
  CHECK((numeric_types(features) & (HAL_TYPE_F16 | HAL_TYPE_BF16_MATRIX)) == 0);

  features.avx = features.avx2 = true;
  CHECK(architecture_name("x86_64", features) == "x86_64 avx2");
  features.avx512 = features.avx512_fp16 = features.amx_bf16 = true;
  CHECK(architecture_name("x86_64", features) == "x86_64 avx512+amx");
  CHECK((numeric_types(features) & HAL_TYPE_F16) != 0);
  CHECK((numeric_types(features) & HAL_TYPE_BF16_MATRIX) != 0);
  CHECK((numeric_types(features) & HAL_TYPE_I8_MATRIX) == 0);
}

TEST_CASE("features of this CPU agree with the compiler's own test") {
#if defined(__x86_64__)
  const CpuFeatures features = detect_cpu_features();
  CHECK(features.avx == (__builtin_cpu_supports("avx") != 0));
  CHECK(features.avx2 ==
        (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0));
  CHECK(features.avx512_bf16 == (__builtin_cpu_supports("avx512bf16") != 0));
#else
  CHECK(architecture_name("", detect_cpu_features()).empty());
#endif
}

TEST_CASE("this machine's topology is of this process") {
  const HostTopology& topology = host_topology();
  CHECK(topology.cores >= 1);
  CHECK(topology.cores <= static_cast<int>(topology.cpus.size()));
  std::size_t placed = 0;
  for (const NumaNode& node : topology.nodes)
    placed += node.cpus.size();
  CHECK(placed == topology.cpus.size());
  const MemoryAmounts memory = host_memory();
  CHECK(memory.total_bytes > 0);
  CHECK(memory.available_bytes <= memory.total_bytes);
}

TEST_CASE("the affinity mask of the calling thread decides which CPUs there are") {
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  const int last = host_topology().cpus.back();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(last), &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const HostTopology topology = read_topology({});
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(topology.cpus == std::vector{last});
  CHECK(topology.cores == 1);
}
