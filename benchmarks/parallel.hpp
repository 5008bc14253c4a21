// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <hal/hal.hpp>

#include <cstddef>

namespace bench {

/// The hand-written oneTBB loop: `body(begin, end)` over pieces of [0, count).
template <typename Body>
void tbb_loop(std::size_t count, const Body& body) {
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, count),
                            [&](const oneapi::tbb::blocked_range<std::size_t>& range) {
                              body(range.begin(), range.end());
                            });
}

/// One equal piece for each core, to an element: what memory copies by hand do.
template <typename Body>
void tbb_pieces(std::size_t count, const Body& body) {
  const auto pieces = static_cast<std::size_t>(oneapi::tbb::this_task_arena::max_concurrency());
  oneapi::tbb::parallel_for(
      std::size_t{0}, pieces,
      [&](std::size_t i) {
        body(count / pieces * i, i + 1 == pieces ? count : count / pieces * (i + 1));
      },
      oneapi::tbb::simple_partitioner());
}

}  // namespace bench
