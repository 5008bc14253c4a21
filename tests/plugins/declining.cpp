// SPDX-License-Identifier: Apache-2.0
// A plug-in that gives no table and says why.
#include <hal/backend.h>

#include <cstring>

extern "C" __attribute__((visibility("default"))) const hal_backend* hal_backend_entry(
    const hal_backend_request*, hal_failure* failure) {
  std::strcpy(failure->message, "the licence of this backend has expired: renew it");
  return nullptr;
}
