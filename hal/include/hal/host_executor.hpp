// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <cstddef>
#include <memory>

namespace hal {

/// Who runs the parallel loops of host devices. HAL's own is a oneTBB arena over the cores this
/// process may use; a program that owns the cores already installs its own.
class HAL_API HostExecutor {
 public:
  /// One piece of a loop: calls `run(context, begin, end)`.
  struct Body {
    void (*run)(void* context, std::size_t begin, std::size_t end) noexcept;
    void* context;
  };

  virtual ~HostExecutor() = default;

  /// How many threads a loop can use at once, the calling one included; >= 1, and constant.
  [[nodiscard]] virtual int concurrency() const noexcept = 0;

  /// Calls `body` for disjoint pieces that cover [0, count), at once where it can, and returns when
  /// all are done. Pieces have at least `grain` items, except perhaps the last. Called from several
  /// threads at once. May not throw, nor
  /// run anything else on the calling thread meanwhile.
  virtual void parallel_for(std::size_t count, std::size_t grain, Body body) = 0;
};

/// Installs the executor of all host devices, or with null HAL's own. Throws `invalid_state` once a
/// host device has been opened: the loops of a device have one owner.
HAL_API void set_host_executor(std::shared_ptr<HostExecutor> executor);

}  // namespace hal
