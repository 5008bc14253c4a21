// SPDX-License-Identifier: Apache-2.0
// A plug-in that writes to standard output, then declines.
#include <hal/backend.h>
#include <unistd.h>

#include <cstring>

extern "C" __attribute__((visibility("default"))) const hal_backend* hal_backend_entry(
    const hal_backend_request* /*request*/, hal_failure* failure) {
  constexpr const char* noise = "noise of a plug-in\n";
  if (write(STDOUT_FILENO, noise, std::strlen(noise)) < 0) return nullptr;
  std::strcpy(failure->message, "this plug-in\x1b[31m declines \xff always");
  return nullptr;
}
