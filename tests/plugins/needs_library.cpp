// SPDX-License-Identifier: Apache-2.0
// A plug-in that needs a library which the loader does not find.
#include <hal/backend.h>

extern "C" const hal_backend* hal_test_needed();

extern "C" __attribute__((visibility("default"))) const hal_backend* hal_backend_entry(
    const hal_backend_request*, hal_failure*) {
  return hal_test_needed();
}
