// SPDX-License-Identifier: Apache-2.0
// A plug-in whose constructor ends the process as if all were well.
#include <unistd.h>

namespace {
[[gnu::constructor]] void end_quietly() { _exit(0); }
}  // namespace
