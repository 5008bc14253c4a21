// SPDX-License-Identifier: Apache-2.0
#include "triad.hpp"

#include <cstddef>

namespace bench {

void openmp_triad(float* a, const float* b, const float* c, float scale, std::size_t count) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i)
    a[i] = b[i] + scale * c[i];
}

}  // namespace bench
