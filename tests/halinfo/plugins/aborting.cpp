// SPDX-License-Identifier: Apache-2.0
// A plug-in whose constructor ends the process by a signal.
#include <cstdlib>

namespace {
[[gnu::constructor]] void end_by_signal() { std::abort(); }
}  // namespace
