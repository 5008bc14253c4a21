# SPDX-License-Identifier: Apache-2.0
# What libhal itself is made with. Tools, examples, benchmarks and tests find their own.

# GLOBAL: a static libhal hands these on to whoever links it, also from a directory above this one.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED GLOBAL)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HAL_HWLOC REQUIRED IMPORTED_TARGET GLOBAL hwloc)

# Header-only, so that neither users of libhal nor its package depend on a version of fmt.
find_package(fmt REQUIRED)
