// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plug-ins that differ from devices/null in one thing. They link null.cpp with its entry function
// renamed; the one they export is here, and hands out what each defines as `changed_table`.
#include <hal/backend.h>

extern "C" const hal_backend* hal_null_entry(const hal_backend_request* request,
                                             hal_failure* failure);

/// The null device's own table.
inline const hal_backend* null_backend = nullptr;

/// The null device's table with another name, to be changed further.
inline hal_backend null_table(const char* name) {
  hal_backend table = *null_backend;
  table.name = name;
  return table;
}

const hal_backend* changed_table();

extern "C" __attribute__((visibility("default"))) const hal_backend* hal_backend_entry(
    const hal_backend_request* request, hal_failure* failure) {
  null_backend = hal_null_entry(request, failure);
  return changed_table();
}
