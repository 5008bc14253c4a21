// SPDX-License-Identifier: Apache-2.0
// A shared object that is no plug-in.
extern "C" __attribute__((visibility("default"))) int hal_test_other_function() { return 1; }
