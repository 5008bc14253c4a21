// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/dialect.hpp"

#include <hal/error.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hal::vendor {

/// What a probe looks at, for tests to replace.
struct Surroundings {
  std::string root;              ///< before "/dev" and "/sys"; empty: this machine
  std::string override_library;  ///< the value of the dialect's override variable; empty: unset
  std::function<std::optional<std::string>(const char* name)> environment;  ///< as getenv
  std::function<bool(const std::string& path)> may_use;  ///< may this process read and write it?
};

/// This machine and this process.
[[nodiscard]] Surroundings real_surroundings(std::string override_library);

struct ProbeResult {
  Reason reason = Reason::none;
  std::optional<std::int64_t> vendor_code{};
  std::string library{};
  std::string version{};  ///< "13.0"; empty: unknown
  std::string detail{};   ///< one sentence without a full stop
};

/// Says why a vendor's devices cannot be used, `not_driven` when nothing of the vendor's is in the
/// way. Opens the driver's library, and calls nothing of it that starts the driver: the process may
/// fork afterwards.
[[nodiscard]] ProbeResult probe(const Dialect& dialect, const Surroundings& surroundings);

/// Addresses of the vendor's graphics and processing devices on the PCI bus.
[[nodiscard]] std::vector<std::string> pci_devices(const std::string& root,
                                                   std::string_view pci_vendor);

}  // namespace hal::vendor
