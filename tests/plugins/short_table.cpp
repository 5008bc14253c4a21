// SPDX-License-Identifier: Apache-2.0
// A backend of an older minor version: its table ends before `peer_accessible`. What follows in
// memory is not the table's, and a core that reads it crashes.
#include "changed_null.hpp"

#include <cstddef>

namespace {

template <typename Function>
Function garbage() {
  return reinterpret_cast<Function>(0x10);
}

hal_backend make_table() {
  hal_backend table = null_table("short");
  table.struct_size = offsetof(hal_backend, peer_accessible);
  table.peer_accessible = garbage<decltype(table.peer_accessible)>();
  table.peer_enable = garbage<decltype(table.peer_enable)>();
  table.quiesce = garbage<decltype(table.quiesce)>();
  table.device_describe = [](int32_t index, hal_device_description* out, hal_failure* failure) {
    const hal_status status = null_backend->device_describe(index, out, failure);
    out->features |= HAL_FEATURE_PEER | HAL_FEATURE_TIMING;
    return status;
  };
  return table;
}

}  // namespace

const hal_backend* changed_table() {
  static const hal_backend table = make_table();
  return &table;
}
