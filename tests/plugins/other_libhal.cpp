// SPDX-License-Identifier: Apache-2.0
// What another version of libhal looks like to this one: named libhal.so.9.
extern "C" {
extern __attribute__((visibility("default"))) const char hal_library_version[];
const char hal_library_version[] = "9.8.7";
}
