// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/dialect.hpp"

#include <hal/backend.h>

#include <string>

namespace hal::vendor {

struct ProbeResult;

/// The table of a vendor's backend: it says why its devices are not available, has none, and
/// answers `unsupported` to whatever needs one.
[[nodiscard]] hal_backend make_table(const Dialect& dialect, void (*probe)(hal_probe* out));

/// Probes this machine with the override variable's value from the core. Never throws.
[[nodiscard]] ProbeResult probe_this_machine(const Dialect& dialect) noexcept;

void write_probe(const ProbeResult& result, hal_probe& out) noexcept;

/// The entry function of a vendor's backend. `dialect` lives as long as the process; it is probed
/// once.
template <const Dialect& dialect>
const hal_backend* backend_entry(const hal_backend_request*, hal_failure*) {
  static const hal_backend table = make_table(dialect, [](hal_probe* out) {
    static const ProbeResult result = probe_this_machine(dialect);
    write_probe(result, *out);
  });
  return &table;
}

}  // namespace hal::vendor
