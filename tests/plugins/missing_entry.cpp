// SPDX-License-Identifier: Apache-2.0
// A backend that forgot a required entry.
#include "changed_null.hpp"

const hal_backend* changed_table() {
  static const hal_backend table = [] {
    hal_backend changed = null_table("incomplete");
    changed.stream_copy = nullptr;
    return changed;
  }();
  return &table;
}
