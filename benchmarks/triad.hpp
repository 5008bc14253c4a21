// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench {

/// a = b + scale * c over all of OpenMP's threads. In a file of its own: only it is compiled for
/// OpenMP.
void openmp_triad(float* a, const float* b, const float* c, float scale, std::size_t count);

}  // namespace bench
