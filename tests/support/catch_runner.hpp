// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hal_test {

/// Runs the test cases linked into this program as Catch2's own command line asks; returns the exit
/// status. A program with options of its own takes them out of `argv` first.
int run_catch(int argc, const char* const* argv);

}  // namespace hal_test
