// SPDX-License-Identifier: Apache-2.0
#include <hal/backend.h>

extern "C" __attribute__((visibility("default"))) const hal_backend* hal_test_needed() {
  return nullptr;
}
