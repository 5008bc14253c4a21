// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/host_executor.hpp>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cstddef>

namespace hal::host {

class NumaBinding;

/// The workers of one host device: a oneTBB arena with one slot a core for workers, and further
/// slots for threads that wait and help.
class Arena final : public HostExecutor {
 public:
  /// `binding`: where the threads shall run while inside, or null.
  Arena(int cores, NumaBinding* binding);

  [[nodiscard]] int concurrency() const noexcept override { return cores_; }
  void parallel_for(std::size_t count, std::size_t grain, Body body) override;

  /// Runs `task(context)` on a worker some time soon.
  void submit(void (*task)(void*) noexcept, void* context) noexcept;

  /// Whether the calling thread is running a task of any arena.
  [[nodiscard]] static bool entered() noexcept;

  /// Whether a loop is being shared out: a worker with nothing to do should join it.
  [[nodiscard]] bool wants_workers() const noexcept {
    return loops_.load(std::memory_order_relaxed) > 0;
  }

 private:
  static constexpr int helper_slots = 32;

  int cores_;
  tbb::task_arena arena_;
  std::atomic<int> helpers_{0};
  std::atomic<int> loops_{0};
};

}  // namespace hal::host
