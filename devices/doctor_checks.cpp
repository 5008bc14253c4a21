// SPDX-License-Identifier: Apache-2.0
#include "doctor_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hal::doctor {
namespace {

/// Insertions, deletions and replacements of characters that turn one text into the other
/// (Levenshtein's distance).
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// The known variable that was most likely meant; empty when none is close.
std::string closest(std::string_view unknown, const std::vector<config::Variable>& variables) {
  constexpr std::size_t most_edits = 3;
  std::size_t fewest = most_edits + 1;
  std::string found;
  for (const config::Variable& variable : variables) {
    const std::size_t edits = edits_between(unknown, variable.name);
    if (edits < fewest) {
      fewest = edits;
      found = variable.name;
    }
  }
  return found;
}

/// How much it matters that a backend is not available for this reason, when nobody asked for it.
Severity weight(Reason reason) {
  switch (reason) {
    case Reason::none:
      return Severity::ok;
    case Reason::library_absent:
    case Reason::no_device:
    case Reason::filtered_by_env:
    case Reason::not_driven:
      return Severity::info;
    case Reason::crashed:
    case Reason::not_a_plugin:
      return Severity::critical;
    default:
      return Severity::warning;
  }
}

std::string gibibytes(std::size_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1U << 30U));
}

}  // namespace

Finding check_values(const std::vector<config::Variable>& variables) {
  std::vector<std::string> problems;
  std::vector<std::string> set;
  for (const config::Variable& variable : variables) {
    if (!variable.problem.empty()) problems.push_back(variable.problem);
    if (variable.origin != config::Origin::built_in) set.push_back(variable.name);
  }
  if (!problems.empty()) {
    return {"config.values", Severity::critical, fmt::format("{}", fmt::join(problems, "; ")),
            "correct or unset these variables; halinfo --config lists what each accepts"};
  }
  return {"config.values", Severity::ok,
          set.empty() ? "no HAL variable is set"
                      : fmt::format("every value parses: {}", fmt::join(set, ", ")),
          ""};
}

Finding check_unknown(const std::vector<std::string>& unknown,
                      const std::vector<config::Variable>& variables) {
  if (unknown.empty())
    return {"config.unknown", Severity::ok, "no unknown HAL variable is set", ""};
  std::vector<std::string> meant;
  for (const std::string& name : unknown) {
    const std::string known = closest(name, variables);
    if (!known.empty()) meant.push_back(fmt::format("{} for {}", known, name));
  }
  return {"config.unknown", Severity::warning,
          fmt::format("set, but not known to this version: {}", fmt::join(unknown, ", ")),
          meant.empty() ? "unset them; halinfo --config lists the variables there are"
                        : fmt::format("perhaps you meant {}", fmt::join(meant, ", "))};
}

Finding check_backend(const Backend& backend, bool asked_for) {
  Finding finding{"backend." + backend.name, weight(backend.reason), backend.detail, ""};
  if (backend.available) {
    finding.severity = Severity::ok;
    if (finding.found.empty()) finding.found = backend.description + " can be used";
    return finding;
  }
  const std::string why(name(backend.reason));
  finding.found = backend.detail.empty() ? why : fmt::format("{}: {}", why, backend.detail);
  const bool wanted = asked_for || backend.plugin;
  const bool in_the_way =
      backend.reason != Reason::not_driven && backend.reason != Reason::filtered_by_env;
  if (wanted && in_the_way) finding.severity = Severity::critical;
  if (finding.severity != Severity::info) finding.advice = advice(backend.reason);
  return finding;
}

Finding check_threads(const host::HostTopology& topology, long long threads) {
  std::string found = fmt::format("{} of the {} CPUs in this process's affinity mask are used",
                                  topology.cores, topology.cpus.size());
  if (threads > topology.cores) {
    return {
        "host.cores", Severity::warning,
        fmt::format("HAL_HOST_THREADS asks for {} threads on {} cores", threads, topology.cores),
        "threads that share a core wait for each other: unset HAL_HOST_THREADS or lower it"};
  }
  return {"host.cores", Severity::ok, std::move(found), ""};
}

Finding check_quota(const host::HostTopology& topology) {
  if (topology.quota <= 0) {
    return {"host.quota", Severity::ok, "no control group limits CPU time", ""};
  }
  const std::string found =
      fmt::format("a control group limits this process to {:.2f} CPUs", topology.quota);
  const bool tight = topology.quota < static_cast<double>(topology.cpus.size());
  if (!tight) return {"host.quota", Severity::ok, found + ", more than it may run on", ""};
  if (topology.quota == std::floor(topology.quota)) {
    return {"host.quota", Severity::info, found, ""};
  }
  return {"host.quota", Severity::warning,
          fmt::format("{}, and {} threads share them", found, topology.cores),
          "all threads stop together when a period's time is used up: give a whole number of CPUs"};
}

Finding check_memory(const host::MemoryAmounts& memory) {
  constexpr std::size_t little = std::size_t{256} << 20U;
  if (memory.total_bytes == 0) {
    return {"host.memory", Severity::unknown, "the amount of memory could not be read", ""};
  }
  std::string found = fmt::format("{} of {} available", gibibytes(memory.available_bytes),
                                  gibibytes(memory.total_bytes));
  if (memory.available_bytes < little) {
    return {"host.memory", Severity::warning, std::move(found),
            "allocations on host devices may fail: end other programs or raise the limit"};
  }
  return {"host.memory", Severity::ok, std::move(found), ""};
}

Finding check_huge_pages(std::string_view setting) {
  if (setting.empty()) {
    return {"host.huge_pages", Severity::info, "the kernel offers no transparent huge pages", ""};
  }
  if (setting.find("[never]") != std::string_view::npos) {
    return {"host.huge_pages", Severity::info, "transparent huge pages are switched off",
            "large buffers are faster with them: write madvise to "
            "/sys/kernel/mm/transparent_hugepage/enabled"};
  }
  return {"host.huge_pages", Severity::ok, "transparent huge pages are available", ""};
}

Finding check_tbb(int running, int compiled) {
  if (running < compiled) {
    return {"host.tbb", Severity::warning,
            fmt::format("the oneTBB in this process has interface {}, and HAL was compiled with {}",
                        running, compiled),
            "an older libtbb is found first: check LD_LIBRARY_PATH"};
  }
  return {"host.tbb", Severity::ok, fmt::format("oneTBB interface {}", running), ""};
}

}  // namespace hal::doctor
