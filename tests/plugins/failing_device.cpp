// SPDX-License-Identifier: Apache-2.0
// A backend with two devices, of which the second cannot be opened, and one that is unavailable
// when HAL_TEST_UNAVAILABLE is set.
#include "changed_null.hpp"

#include <cstdlib>
#include <cstring>

namespace {

void probe(hal_probe* probe) {
  if (std::getenv("HAL_TEST_UNAVAILABLE") == nullptr) return;
  probe->reason = 7;  // hal::Reason::no_device_node
  probe->has_vendor_code = 1;
  probe->vendor_code = 999;
  std::strcpy(probe->detail, "/dev/failing is not there");
}

hal_status device_open(int32_t index, hal_device_handle* out, hal_failure* failure) {
  if (index == 0) return null_backend->device_open(index, out, failure);
  failure->has_vendor_code = 1;
  failure->vendor_code = 46;
  std::strcpy(failure->vendor_name, "FAILING_DEVICE_BUSY");
  std::strcpy(failure->message, "another process holds the device: end it");
  return HAL_STATUS_DEVICE_LOST;
}

}  // namespace

const hal_backend* changed_table() {
  static const hal_backend table = [] {
    hal_backend changed = null_table("failing");
    changed.probe = probe;
    changed.device_count = [] { return int32_t{2}; };
    changed.device_open = device_open;
    return changed;
  }();
  return &table;
}
