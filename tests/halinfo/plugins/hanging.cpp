// SPDX-License-Identifier: Apache-2.0
// A plug-in whose constructor never returns.
#include <unistd.h>

namespace {
[[gnu::constructor]] void wait_for_ever() {
  for (;;)
    pause();
}
}  // namespace
