// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command_queue.hpp"
#include "device_set.hpp"
#include "executor.hpp"
#include "memory.hpp"
#include "scheduler.hpp"
#include "spin_lock.hpp"

#include <hal/backend.h>
#include <hal/host_executor.hpp>

#include <cstdint>
#include <memory>
#include <unordered_set>

namespace hal::host {

class HostEvent;
class HostStream;
class NumaBinding;

/// One host device: its workers, its streams, its place on the machine.
class HostDevice {
 public:
  /// `executor`: runs the loops instead of the device's own arena; may be null.
  HostDevice(int index, const DeviceShare& share, bool huge_pages,
             std::shared_ptr<HostExecutor> executor, const hal_services& services);
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  [[nodiscard]] int index() const noexcept { return index_; }
  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] HostExecutor& loops() noexcept { return executor_ ? *executor_ : arena_; }
  [[nodiscard]] Scheduler& scheduler() noexcept { return scheduler_; }
  [[nodiscard]] ChunkPool& chunks() noexcept { return chunks_; }
  [[nodiscard]] const MemoryPolicy& memory() const noexcept { return memory_; }

  /// Every object of the device is known to it: quiescing ends the waits on streams, and what a
  /// program still holds when HAL ends stays reachable.
  void add(HostStream& stream);
  void remove(HostStream& stream) noexcept;
  void add(HostEvent& event);
  void remove(HostEvent& event) noexcept;

  /// From now on nothing queued is begun; waits for it end. Waits for what runs.
  void quiesce() noexcept;

  [[nodiscard]] bool tracing() const noexcept { return services_.tracing() != 0; }
  void trace(hal_span span, const HostStream& stream, std::uint64_t sequence,
             std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept;
  /// Fills the origin_* fields.
  void note_origin(hal_failure& failure, const hal_span& span, const HostStream& stream,
                   std::uint64_t sequence) const noexcept;

 private:
  const int index_;
  const hal_services& services_;
  std::unique_ptr<NumaBinding> binding_;
  MemoryPolicy memory_;
  std::shared_ptr<HostExecutor> executor_;
  ChunkPool chunks_;
  Arena arena_;
  Scheduler scheduler_;
  SpinLock lock_;
  std::unordered_set<HostStream*> streams_;
  std::unordered_set<HostEvent*> events_;
};

}  // namespace hal::host
