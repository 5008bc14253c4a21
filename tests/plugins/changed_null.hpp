// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plug-ins that differ from devices/null in one thing. They link null.cpp with its entry function
// renamed, and export one of their own.
#include <hal/backend.h>

extern "C" const hal_backend* hal_null_entry(const hal_backend_request* request,
                                             hal_failure* failure);

/// The null device's table with another name, to be changed further.
inline hal_backend null_table(const char* name) {
  hal_backend table = *hal_null_entry(nullptr, nullptr);
  table.name = name;
  return table;
}

extern "C" __attribute__((visibility("default"))) const hal_backend* hal_backend_entry(
    const hal_backend_request* request, hal_failure* failure);
