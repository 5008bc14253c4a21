// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/topology.hpp"

#include <hal/backend_list.hpp>
#include <hal/config.hpp>
#include <hal/doctor.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The checks of `hal::diagnose`, each a function of what it judges.
namespace hal::doctor {

[[nodiscard]] Finding check_values(const std::vector<config::Variable>& variables);
/// `unknown` are HAL variables of the environment that are not among `variables`.
[[nodiscard]] Finding check_unknown(const std::vector<std::string>& unknown,
                                    const std::vector<config::Variable>& variables);

/// `asked_for`: a variable names this backend's library, so that its absence is not fine.
[[nodiscard]] Finding check_backend(const Backend& backend, bool asked_for);

/// `threads` is HAL_HOST_THREADS; 0: not set.
[[nodiscard]] Finding check_threads(const host::HostTopology& topology, long long threads);
[[nodiscard]] Finding check_quota(const host::HostTopology& topology);
[[nodiscard]] Finding check_memory(const host::MemoryAmounts& memory);
/// `setting` is the text of the kernel's transparent_hugepage/enabled; empty: not readable.
[[nodiscard]] Finding check_huge_pages(std::string_view setting);
/// Interface versions of oneTBB, the one in the process and the one compiled with.
[[nodiscard]] Finding check_tbb(int running, int compiled);

}  // namespace hal::doctor
