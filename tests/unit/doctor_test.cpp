// SPDX-License-Identifier: Apache-2.0
#include <hal/doctor.hpp>

#include "devices/doctor_checks.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using hal::Backend;
using hal::Finding;
using hal::Reason;
using hal::Severity;
using namespace hal::doctor;

namespace {

hal::config::Variable variable(const std::string& name, const std::string& problem = "") {
  hal::config::Variable row;
  row.name = name;
  row.problem = problem;
  return row;
}

Backend unavailable(Reason reason, const std::string& detail = "what was found") {
  Backend backend;
  backend.name = "fake";
  backend.reason = reason;
  backend.detail = detail;
  return backend;
}

hal::host::HostTopology cores(int count, double quota = 0) {
  hal::host::HostTopology topology;
  topology.cpus.resize(static_cast<std::size_t>(count));
  topology.cores = count;
  topology.quota = quota;
  return topology;
}

}  // namespace

TEST_CASE("a value that does not parse is critical and is named") {
  const Finding bad = check_values({variable("HAL_DEVICE"), variable("HAL_SYNC", "HAL_SYNC is 7")});
  CHECK(bad.severity == Severity::critical);
  CHECK_THAT(bad.found, ContainsSubstring("HAL_SYNC is 7"));
  CHECK_FALSE(bad.advice.empty());
  CHECK(check_values({variable("HAL_DEVICE")}).severity == Severity::ok);
}

TEST_CASE("an unknown variable is a warning that names what was probably meant") {
  const std::vector known{variable("HAL_DEVICE"), variable("HAL_HOST_DEVICES")};
  const Finding close = check_unknown({"HAL_DEVCE"}, known);
  CHECK(close.severity == Severity::warning);
  CHECK_THAT(close.advice, ContainsSubstring("HAL_DEVICE for HAL_DEVCE"));
  const Finding far = check_unknown({"HAL_SOMETHING_ELSE"}, known);
  CHECK_THAT(far.found, ContainsSubstring("HAL_SOMETHING_ELSE"));
  CHECK_THAT(far.advice, !ContainsSubstring("perhaps"));
  CHECK(check_unknown({}, known).severity == Severity::ok);
}

TEST_CASE("a backend that is plainly absent is information, one that is half there a warning") {
  CHECK(check_backend(unavailable(Reason::library_absent), false).severity == Severity::info);
  CHECK(check_backend(unavailable(Reason::no_device), false).severity == Severity::info);
  CHECK(check_backend(unavailable(Reason::not_driven), false).severity == Severity::info);
  for (Reason reason : {Reason::library_stub, Reason::permission, Reason::driver_too_old,
                        Reason::dependency_missing, Reason::no_device_node}) {
    const Finding finding = check_backend(unavailable(reason), false);
    CHECK(finding.severity == Severity::warning);
    CHECK_FALSE(finding.advice.empty());
    CHECK_THAT(finding.found, ContainsSubstring(std::string(hal::name(reason))));
    CHECK_THAT(finding.found, ContainsSubstring("what was found"));
  }
}

TEST_CASE("what somebody asked for and cannot work is critical") {
  CHECK(check_backend(unavailable(Reason::library_absent), true).severity == Severity::critical);
  CHECK(check_backend(unavailable(Reason::not_driven), true).severity == Severity::info);
  Backend plugin = unavailable(Reason::abi_mismatch);
  plugin.plugin = true;
  CHECK(check_backend(plugin, false).severity == Severity::critical);
}

TEST_CASE("an available backend is fine under its own id") {
  Backend backend;
  backend.name = "host";
  backend.description = "Host CPU";
  backend.available = true;
  const Finding finding = check_backend(backend, false);
  CHECK(finding.id == "backend.host");
  CHECK(finding.severity == Severity::ok);
  CHECK_FALSE(finding.found.empty());
}

TEST_CASE("more threads than cores is a warning") {
  CHECK(check_threads(cores(4), 8).severity == Severity::warning);
  CHECK(check_threads(cores(4), 4).severity == Severity::ok);
  CHECK(check_threads(cores(4), 0).severity == Severity::ok);
}

TEST_CASE("a fractional quota is a warning, a whole one information") {
  CHECK(check_quota(cores(4)).severity == Severity::ok);
  CHECK(check_quota(cores(4, 1.5)).severity == Severity::warning);
  CHECK(check_quota(cores(4, 2)).severity == Severity::info);
  CHECK(check_quota(cores(4, 7.5)).severity == Severity::ok);
}

TEST_CASE("little memory is a warning, unreadable amounts are unknown") {
  constexpr std::size_t gibibyte = std::size_t{1} << 30U;
  CHECK(check_memory({4 * gibibyte, 2 * gibibyte}).severity == Severity::ok);
  CHECK(check_memory({4 * gibibyte, 1000}).severity == Severity::warning);
  CHECK(check_memory({0, 0}).severity == Severity::unknown);
}

TEST_CASE("huge pages that are off or not offered are information") {
  CHECK(check_huge_pages("always [madvise] never\n").severity == Severity::ok);
  CHECK(check_huge_pages("always madvise [never]\n").severity == Severity::info);
  CHECK(check_huge_pages("").severity == Severity::info);
}

TEST_CASE("an older oneTBB than the one compiled with is a warning") {
  CHECK(check_tbb(12080, 12080).severity == Severity::ok);
  CHECK(check_tbb(12100, 12080).severity == Severity::ok);
  CHECK(check_tbb(12020, 12080).severity == Severity::warning);
}

TEST_CASE("a diagnosis covers variables, backends, the default device and the host") {
  const std::vector<Finding> findings = hal::diagnose();
  std::set<std::string> ids;
  for (const Finding& finding : findings) {
    CHECK(ids.insert(finding.id).second);
    CHECK_FALSE(finding.found.empty());
    if (finding.severity == Severity::warning || finding.severity == Severity::critical) {
      CHECK_FALSE(finding.advice.empty());
    }
  }
  for (const char* id :
       {"config.values", "config.unknown", "backend.ppu", "backend.cuda", "backend.hip",
        "backend.host", "device.default", "host.cores", "host.quota", "host.memory",
        "host.huge_pages", "host.tbb", "host.compute"}) {
    CHECK(ids.count(id) == 1);
  }
}

TEST_CASE("the host device computes correctly on this machine") {
  const std::vector<Finding> findings = hal::diagnose();
  const auto compute = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.id == "host.compute";
  });
  REQUIRE(compute != findings.end());
  CHECK(compute->severity == Severity::ok);
}
