// SPDX-License-Identifier: Apache-2.0
#include "doctor_checks.hpp"
#include "host/small_file.hpp"

#include <hal/hal.hpp>

#include <fmt/format.h>
#include <tbb/version.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace hal {
namespace {

/// Runs a check; one that fails itself is a finding too.
template <typename Check>
void add(std::vector<Finding>& findings, const char* id, Check&& check) {
  try {
    findings.push_back(check());
  } catch (const std::exception& error) {
    findings.push_back({id, Severity::unknown, error.what(), ""});
  }
}

/// HAL_CUDA_DRIVER for cuda, where there is such a variable and it is set.
bool library_named(const std::string& backend, const std::vector<config::Variable>& variables) {
  std::string wanted = "HAL_" + backend + "_DRIVER";
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::any_of(variables.begin(), variables.end(), [&](const config::Variable& variable) {
    return variable.name == wanted && !variable.value.empty();
  });
}

Finding check_default_device() {
  try {
    return {"device.default", Severity::ok, "the default device is " + default_device().id(), ""};
  } catch (const Error& error) {
    return {"device.default", Severity::critical, error.message(),
            "set HAL_DEVICE to an id that halinfo lists, or unset it"};
  }
}

/// Fill, kernel and copy, with a sum that is exact in float.
Finding check_compute() {
  constexpr std::size_t count = 1 << 16;
  try {
    const Device host = device("host:0");
    const Stream stream = host.create_stream();
    const auto x = host.allocate<float>(count, stream);
    stream.fill(x, 1.5F);
    stream.launch([](std::size_t i, float* values) { values[i] += static_cast<float>(i); },
                  over(count), x);
    const std::vector<float> out = stream.read(x);
    for (std::size_t i = 0; i < count; ++i) {
      if (out[i] == 1.5F + static_cast<float>(i)) continue;
      return {"host.compute", Severity::critical,
              fmt::format("element {} of a test on host:0 is {} instead of {}", i, out[i],
                          1.5F + static_cast<float>(i)),
              "this machine's processor or memory computes wrongly, or this build is broken"};
    }
    return {"host.compute", Severity::ok, "host:0 fills, computes and copies correctly", ""};
  } catch (const Error& error) {
    return {"host.compute", Severity::critical, error.what(),
            "the host device must work everywhere: correct what the message names"};
  }
}

void add_backends(std::vector<Finding>& findings, const std::vector<config::Variable>& variables) {
  for (const Backend& backend : backends()) {
    add(findings, "backend",
        [&] { return doctor::check_backend(backend, library_named(backend.name, variables)); });
  }
}

void add_host(std::vector<Finding>& findings) {
  add(findings, "host.cores", [] {
    return doctor::check_threads(host::host_topology(), config::integer("HAL_HOST_THREADS"));
  });
  add(findings, "host.quota", [] { return doctor::check_quota(host::host_topology()); });
  add(findings, "host.memory", [] { return doctor::check_memory(host::host_memory()); });
  add(findings, "host.huge_pages", [] {
    return doctor::check_huge_pages(
        host::read_file("/sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
  });
  add(findings, "host.tbb",
      [] { return doctor::check_tbb(TBB_runtime_interface_version(), TBB_INTERFACE_VERSION); });
  add(findings, "host.compute", check_compute);
}

}  // namespace

std::vector<Finding> diagnose() noexcept {
  std::vector<Finding> findings;
  std::vector<config::Variable> variables;
  add(findings, "config.values", [&] {
    variables = config::variables();
    return doctor::check_values(variables);
  });
  add(findings, "config.unknown",
      [&] { return doctor::check_unknown(config::unknown_variables(), variables); });
  add_backends(findings, variables);
  add(findings, "device.default", check_default_device);
  add_host(findings);
  return findings;
}

}  // namespace hal
