// SPDX-License-Identifier: Apache-2.0
// A plug-in that was not linked with what it uses.
#include <hal/backend.h>

extern "C" const hal_backend* hal_test_function_that_nobody_has();

extern "C" __attribute__((visibility("default"))) const hal_backend* hal_backend_entry(
    const hal_backend_request*, hal_failure*) {
  return hal_test_function_that_nobody_has();
}
