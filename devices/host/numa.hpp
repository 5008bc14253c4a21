// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology.hpp"

#include <tbb/task_arena.h>

#include <cstddef>
#include <memory>

namespace hal::host {

/// Ties the threads and the memory of a host device to one NUMA node.
class NumaBinding {
 public:
  explicit NumaBinding(const NumaNode& node);
  ~NumaBinding();
  NumaBinding(const NumaBinding&) = delete;
  NumaBinding& operator=(const NumaBinding&) = delete;

  /// From now on threads run on the node's cores while they are in the arena.
  void observe(tbb::task_arena& arena);
  /// Asks that pages not touched yet come from the node; a wish, not a duty.
  void bind_memory(void* address, std::size_t bytes) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hal::host
