// SPDX-License-Identifier: Apache-2.0
#include "numa.hpp"

#include <hal/log.hpp>

#include <hwloc.h>
#include <sched.h>
#include <tbb/task_scheduler_observer.h>

#include <mutex>
#include <vector>

namespace hal::host {

namespace {

/// Loaded once and kept: it takes milliseconds, and only `HAL_HOST_DEVICES=numa` needs it.
hwloc_topology_t shared_topology() {
  static std::once_flag once;
  static hwloc_topology_t topology = nullptr;
  std::call_once(once, [] {
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0) {
      log::write(log::Level::warning, "hwloc cannot read this machine; memory stays unbound");
      topology = nullptr;
    }
  });
  return topology;
}

class Observer final : public tbb::task_scheduler_observer {
 public:
  Observer(tbb::task_arena& arena, const std::vector<int>& cpus)
      : tbb::task_scheduler_observer(arena) {
    CPU_ZERO(&mask_);
    for (const int cpu : cpus)
      CPU_SET(static_cast<std::size_t>(cpu), &mask_);
    observe(true);
  }
  ~Observer() override { observe(false); }

  void on_scheduler_entry(bool) override {
    cpu_set_t before;
    sched_getaffinity(0, sizeof(before), &before);
    saved_.push_back(before);
    sched_setaffinity(0, sizeof(mask_), &mask_);
  }
  void on_scheduler_exit(bool) override {
    if (saved_.empty()) return;
    sched_setaffinity(0, sizeof(cpu_set_t), &saved_.back());
    saved_.pop_back();
  }

 private:
  cpu_set_t mask_;
  // A thread that waits and helps gets its own mask back; arenas may be entered inside each other.
  static thread_local std::vector<cpu_set_t> saved_;
};
thread_local std::vector<cpu_set_t> Observer::saved_;

}  // namespace

struct NumaBinding::Impl {
  NumaNode node;
  std::unique_ptr<Observer> observer;
};

NumaBinding::NumaBinding(const NumaNode& node)
    : impl_(std::make_unique<Impl>(Impl{node, nullptr})) {}

NumaBinding::~NumaBinding() = default;

void NumaBinding::observe(tbb::task_arena& arena) {
  impl_->observer = std::make_unique<Observer>(arena, impl_->node.cpus);
}

void NumaBinding::bind_memory(void* address, std::size_t bytes) const noexcept {
  hwloc_topology_t topology = shared_topology();
  if (topology == nullptr) return;
  hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
  hwloc_bitmap_only(nodes, static_cast<unsigned>(impl_->node.id));
  hwloc_set_area_membind(topology, address, bytes, nodes, HWLOC_MEMBIND_BIND,
                         HWLOC_MEMBIND_BYNODESET);
  hwloc_bitmap_free(nodes);
}

}  // namespace hal::host
