// SPDX-License-Identifier: Apache-2.0
// A backend whose name cannot be part of a device id.
#include "changed_null.hpp"

const hal_backend* changed_table() {
  static const hal_backend table = null_table("My Device");
  return &table;
}
