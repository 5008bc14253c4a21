// SPDX-License-Identifier: Apache-2.0
// A backend of another major version of the ABI.
#include "changed_null.hpp"

const hal_backend* changed_table() {
  static const hal_backend table = [] {
    hal_backend changed = null_table("future");
    changed.abi_major = HAL_BACKEND_ABI_MAJOR + 6;
    return changed;
  }();
  return &table;
}
