// SPDX-License-Identifier: Apache-2.0
// A backend whose device tells the limits of blocks and grids.
#include "changed_null.hpp"

namespace {

hal_status device_describe(int32_t index, hal_device_description* out, hal_failure* failure) {
  const hal_status status = null_backend->device_describe(index, out, failure);
  out->max_threads_per_block = 1024;
  out->max_block_x = out->max_block_y = 1024;
  out->max_block_z = 64;
  out->max_grid_x = 1000000;
  out->max_grid_y = out->max_grid_z = 65535;
  return status;
}

}  // namespace

const hal_backend* changed_table() {
  static const hal_backend table = [] {
    hal_backend changed = null_table("limited");
    changed.device_describe = device_describe;
    return changed;
  }();
  return &table;
}
