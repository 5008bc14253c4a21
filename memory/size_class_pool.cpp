// SPDX-License-Identifier: Apache-2.0
#include "size_class_pool.hpp"

#include "size_classes.hpp"

#include <hal/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <iterator>
#include <string>
#include <utility>

namespace hal::memory {

namespace {

constexpr const char* allocate_operation = "Allocator::allocate";
constexpr const char* release_operation = "Allocator::release";

void add(MemoryCounter& counter, std::size_t bytes) noexcept {
  counter.current += static_cast<std::int64_t>(bytes);
  counter.total += static_cast<std::int64_t>(bytes);
  counter.peak = std::max(counter.peak, counter.current);
}

void subtract(MemoryCounter& counter, std::size_t bytes) noexcept {
  counter.current -= static_cast<std::int64_t>(bytes);
}

std::string readable(std::uint64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.4g} {}", value, units[unit]);
}

std::string readable(std::int64_t bytes) { return readable(static_cast<std::uint64_t>(bytes)); }

/// The furthest point on each stream; points before a stream's first work are reached already.
std::vector<detail::StreamPoint> merged(std::span<const detail::StreamPoint> uses) {
  std::vector<detail::StreamPoint> out;
  for (const detail::StreamPoint& use : uses) {
    if (use.sequence == 0) continue;
    auto same = std::ranges::find(out, use.stream, &detail::StreamPoint::stream);
    if (same == out.end()) {
      out.push_back(use);
    } else {
      same->sequence = std::max(same->sequence, use.sequence);
    }
  }
  return out;
}

}  // namespace

std::size_t SizeClassPool::ShapeHash::operator()(const Shape& shape) const noexcept {
  // Sizes are multiples of at least 64: the low bits are free for what seldom differs.
  const std::size_t mixed = shape.bytes ^
                            static_cast<std::size_t>(std::countr_zero(shape.alignment)) ^
                            (shape.huge_pages ? 32U : 0U);
  return mixed * 0x9E3779B97F4A7C15U >> 16;
}

SizeClassPool::SizeClassPool(Upstream& upstream, std::int32_t kind, std::size_t granule,
                             std::size_t limit)
    : upstream_(upstream), kind_(kind), granule_(granule), limit_(limit) {}

SizeClassPool::~SizeClassPool() {
  for (auto& [address, block] : blocks_)
    upstream_.release(block.request, address);
}

void* SizeClassPool::allocate(std::size_t bytes, std::size_t alignment,
                              const std::shared_ptr<detail::StreamState>& stream) {
  return allocate(make_request(bytes, alignment, false, stream.get()));
}

void* SizeClassPool::allocate_huge(std::size_t bytes, std::size_t alignment,
                                   const std::shared_ptr<detail::StreamState>& stream) {
  return allocate(make_request(bytes, alignment, true, stream.get()));
}

void* SizeClassPool::allocate(const Request& request) {
  if (void* address = reuse(request)) return address;
  return make_room(request);
}

SizeClassPool::Request SizeClassPool::make_request(std::size_t bytes, std::size_t alignment,
                                                   bool huge_pages,
                                                   const detail::StreamState* stream) const {
  if (bytes == 0) {
    throw Error(Errc::invalid_argument, allocate_operation,
                "0 bytes were asked for; ask for at least 1", upstream_.device());
  }
  if (!std::has_single_bit(alignment)) {
    throw Error(Errc::invalid_argument, allocate_operation,
                fmt::format("the alignment is {}, but must be a power of two", alignment),
                upstream_.device());
  }
  Request request{bytes, {}, stream, upstream_.stream_id(stream)};
  request.upstream = {sizeof(hal_allocation), 0, std::max(alignment, granule_), kind_,
                      huge_pages ? 1 : 0};
  const auto rounded = size_class(bytes, granule_);
  // A backend may look for the alignment by asking for that much more.
  if (!rounded || request.upstream.alignment > largest_size - *rounded) {
    throw full(request, nullptr);
  }
  request.upstream.bytes = *rounded;
  return request;
}

// ---- taking from the shelves ----------------------------------------------------------------

void* SizeClassPool::reuse(const Request& request) {
  std::vector<Snapshot> oldest;
  {
    const std::lock_guard lock(mutex_);
    const auto found = shelves_.find(
        {request.upstream.bytes, request.upstream.alignment, request.upstream.huge_pages != 0});
    if (found == shelves_.end()) return nullptr;
    Shelf& shelf = found->second;
    if (request.stream != nullptr) {
      const auto own = shelf.waiting.find(request.stream);
      // The newest is the likeliest to be in a cache of the device.
      if (own != shelf.waiting.end() && !own->second.empty()) {
        return hand_out(*own->second.back(), request);
      }
    }
    if (!shelf.ready.empty()) return hand_out(*shelf.ready.back(), request);
    oldest = oldest_waiting(shelf, request.stream);
  }
  for (const Snapshot& snapshot : oldest) {
    if (!all_reached(snapshot.uses)) continue;
    const std::lock_guard lock(mutex_);
    if (Block* block = cached_block(snapshot)) return hand_out(*block, request);
  }
  return nullptr;
}

std::vector<SizeClassPool::Snapshot> SizeClassPool::oldest_waiting(
    Shelf& shelf, const detail::StreamState* except) {
  std::erase_if(shelf.waiting, [](const auto& entry) { return entry.second.empty(); });
  std::vector<Snapshot> oldest;
  oldest.reserve(shelf.waiting.size());
  for (const auto& [stream, list] : shelf.waiting) {
    if (stream == except && except != nullptr) continue;
    const Block& block = *list.front();
    oldest.push_back({block.address, block.stamp, block.uses});
  }
  std::ranges::sort(oldest, {}, &Snapshot::stamp);
  return oldest;
}

void* SizeClassPool::hand_out(Block& block, const Request& request) noexcept {
  // Drops no last reference to a stream, whose end would call the device: the caller holds the
  // block's stream, or a snapshot of its uses.
  block.uses.clear();
  block.live = true;
  block.requested = request.bytes;
  block.stream = request.stream_id;
  move_to(block, live_);
  add(statistics_.requested, request.bytes);
  add(statistics_.allocated, block.request.bytes);
  ++statistics_.live_blocks;
  --statistics_.cached_blocks;
  return block.address;
}

SizeClassPool::Block* SizeClassPool::cached_block(const Snapshot& snapshot) noexcept {
  const auto found = blocks_.find(snapshot.address);
  if (found == blocks_.end()) return nullptr;
  Block& block = found->second;
  return !block.live && block.stamp == snapshot.stamp ? &block : nullptr;
}

void SizeClassPool::move_to(Block& block, List& list) noexcept {
  list.splice(list.end(), *block.list, block.position);
  block.list = &list;
}

bool SizeClassPool::all_reached(const Uses& uses) noexcept {
  return std::ranges::all_of(uses, [this](const auto& use) { return upstream_.reached(use); });
}

// ---- taking from the device -----------------------------------------------------------------

void* SizeClassPool::make_room(const Request& request) {
  std::uint64_t newest = 0;
  bool hopeless = false;
  {
    const std::lock_guard lock(mutex_);
    // Only blocks given back before now are waited for, so that this ends while others go on.
    newest = last_stamp_;
    hopeless = limit_ != 0 && request.upstream.bytes > limit_;
  }
  if (hopeless) throw full(request, nullptr);
  bool called = false;
  for (std::uint64_t waited = 0;;) {
    const std::int64_t releases_seen = statistics().device_releases;
    std::optional<Error> refusal;
    if (void* address = grow(request, refusal)) return address;
    if (give_back_idle() == 0) {
      if (!called && listeners_.call(request.upstream.bytes)) {
        const std::lock_guard lock(mutex_);
        newest = last_stamp_;  // what the callbacks released may have to be waited for
      } else if (!wait_for_next(waited, newest) && !others_made_room(releases_seen)) {
        throw full(request, refusal ? &*refusal : nullptr);
      }
      called = true;
    }
    if (void* address = reuse(request)) return address;
  }
}

void* SizeClassPool::grow(const Request& request, std::optional<Error>& refusal) {
  const std::size_t bytes = request.upstream.bytes;
  {
    const std::lock_guard lock(mutex_);
    if (!within_limit(bytes)) return nullptr;
    reserving_ += bytes;
    ++calls_in_flight_;
  }
  void* address = nullptr;
  std::exception_ptr failure;
  try {
    address = reserve(request.upstream);
  } catch (const Error& error) {
    if (error.code() == Errc::out_of_memory) {
      refusal = error;
    } else {
      failure = std::current_exception();
    }
  }
  {
    const std::lock_guard lock(mutex_);
    reserving_ -= bytes;
    --calls_in_flight_;
    if (address != nullptr) {
      try {
        adopt(request, address);
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }
  call_ended_.notify_all();
  if (failure == nullptr) return address;
  if (address != nullptr) upstream_.release(request.upstream, address);
  std::rethrow_exception(failure);
}

void* SizeClassPool::reserve(const hal_allocation& request) {
  void* address = upstream_.reserve(request);
  if (reinterpret_cast<std::uintptr_t>(address) % request.alignment == 0) return address;
  upstream_.release(request, address);
  throw Error(Errc::unsupported, allocate_operation,
              fmt::format("the device cannot align memory to {} bytes; ask for a smaller alignment",
                          request.alignment),
              upstream_.device());
}

void SizeClassPool::adopt(const Request& request, void* address) {
  List node(1);
  const auto [entry, inserted] = blocks_.try_emplace(address);
  if (!inserted) {
    throw Error(Errc::internal, allocate_operation,
                "the backend returned an address it had already handed out", upstream_.device());
  }
  Block& block = entry->second;
  node.front() = &block;
  block.request = request.upstream;
  block.address = address;
  block.live = true;
  block.requested = request.bytes;
  block.stream = request.stream_id;
  block.list = &live_;
  block.position = node.begin();
  live_.splice(live_.end(), node);
  add(statistics_.requested, request.bytes);
  add(statistics_.allocated, request.upstream.bytes);
  add(statistics_.reserved, request.upstream.bytes);
  ++statistics_.device_allocations;
  ++statistics_.live_blocks;
}

bool SizeClassPool::within_limit(std::size_t bytes) const noexcept {
  if (limit_ == 0) return true;
  const std::size_t taken = static_cast<std::size_t>(statistics_.reserved.current) + reserving_;
  return taken <= limit_ && bytes <= limit_ - taken;
}

// ---- giving back to the device --------------------------------------------------------------

std::size_t SizeClassPool::give_back_idle() {
  std::vector<Snapshot> waiting;
  std::vector<Blocks::node_type> idle;
  {
    const std::lock_guard lock(mutex_);
    idle.reserve(blocks_.size());
    for (const auto& [shape, shelf] : shelves_) {
      for (const auto& [stream, list] : shelf.waiting) {
        for (const Block* block : list) {
          waiting.push_back({block->address, block->stamp, block->uses});
        }
      }
    }
    for (auto& [shape, shelf] : shelves_) {
      while (!shelf.ready.empty())
        idle.push_back(take_out(*shelf.ready.front()));
    }
    ++calls_in_flight_;
  }
  std::erase_if(waiting, [this](const Snapshot& block) { return !all_reached(block.uses); });
  {
    const std::lock_guard lock(mutex_);
    for (const Snapshot& snapshot : waiting) {
      if (Block* block = cached_block(snapshot)) idle.push_back(take_out(*block));
    }
  }
  std::size_t bytes = 0;
  for (auto& node : idle) {
    upstream_.release(node.mapped().request, node.key());
    bytes += node.mapped().request.bytes;
  }
  {
    const std::lock_guard lock(mutex_);
    --calls_in_flight_;
    subtract(statistics_.reserved, bytes);
    statistics_.device_releases += static_cast<std::int64_t>(idle.size());
  }
  call_ended_.notify_all();
  return bytes;
}

SizeClassPool::Blocks::node_type SizeClassPool::take_out(Block& block) noexcept {
  block.list->erase(block.position);
  --statistics_.cached_blocks;
  return blocks_.extract(block.address);
}

bool SizeClassPool::wait_for_next(std::uint64_t& waited, std::uint64_t newest) {
  Uses uses;
  {
    const std::lock_guard lock(mutex_);
    const Block* next = nullptr;
    for (const auto& [shape, shelf] : shelves_) {
      for (const auto& [stream, list] : shelf.waiting) {
        const auto found =
            std::ranges::find_if(list, [&](const Block* b) { return b->stamp > waited; });
        if (found != list.end() && (next == nullptr || (*found)->stamp < next->stamp))
          next = *found;
      }
    }
    if (next == nullptr || next->stamp > newest) return false;
    waited = next->stamp;
    uses = next->uses;
  }
  for (const detail::StreamPoint& use : uses)
    upstream_.wait(use);
  return true;
}

bool SizeClassPool::others_made_room(std::int64_t releases_seen) {
  std::unique_lock lock(mutex_);
  if (statistics_.device_releases != releases_seen) return true;
  if (calls_in_flight_ == 0) return false;
  call_ended_.wait(lock);
  return true;
}

// ---- the rest of the interface --------------------------------------------------------------

void SizeClassPool::release(void* address, std::span<const detail::StreamPoint> uses) {
  Uses several;
  std::span<const detail::StreamPoint> points = uses;
  if (uses.size() != 1 || uses.front().sequence == 0) points = several = merged(uses);
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || !found->second.live) {
    throw Error(
        Errc::invalid_argument, release_operation,
        fmt::format(
            "{} {}; give back each address once, exactly as it was returned", fmt::ptr(address),
            found == blocks_.end() ? "was not allocated here" : "has been given back already"),
        upstream_.device());
  }
  Block& block = found->second;
  Shelf& shelf =
      shelves_[{block.request.bytes, block.request.alignment, block.request.huge_pages != 0}];
  List& list = points.empty()
                   ? shelf.ready
                   : shelf.waiting[points.size() == 1 ? points.front().stream.get() : nullptr];
  block.uses.assign(points.begin(), points.end());
  block.live = false;
  block.stamp = ++last_stamp_;
  move_to(block, list);
  subtract(statistics_.requested, block.requested);
  subtract(statistics_.allocated, block.request.bytes);
  --statistics_.live_blocks;
  ++statistics_.cached_blocks;
}

AllocatorStatistics SizeClassPool::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void SizeClassPool::reset_peaks() {
  const std::lock_guard lock(mutex_);
  for (MemoryCounter* counter :
       {&statistics_.requested, &statistics_.allocated, &statistics_.reserved}) {
    counter->peak = counter->current;
  }
}

std::vector<MemoryBlock> SizeClassPool::snapshot() const {
  std::vector<MemoryBlock> out;
  {
    const std::lock_guard lock(mutex_);
    out.reserve(blocks_.size());
    for (const auto& [address, block] : blocks_) {
      out.push_back({.address = address,
                     .bytes = block.request.bytes,
                     .requested_bytes = block.live ? block.requested : 0,
                     .stream = block.stream,
                     .live = block.live});
    }
  }
  std::ranges::sort(out, {}, &MemoryBlock::address);
  return out;
}

std::size_t SizeClassPool::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

void SizeClassPool::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

PressureSubscription SizeClassPool::on_pressure(PressureCallback callback) {
  if (!callback) {
    throw Error(Errc::invalid_argument, "Allocator::on_pressure",
                "the callback is empty; give a function", upstream_.device());
  }
  return listeners_.add(std::move(callback));
}

std::size_t SizeClassPool::trim() { return give_back_idle(); }

Error SizeClassPool::full(const Request& request, const Error* refusal) const {
  const AllocatorStatistics now = statistics();
  const std::size_t most = limit();
  const auto info = upstream_.memory_info();
  ErrorDetails details;
  details.code = Errc::out_of_memory;
  details.operation = allocate_operation;
  details.device = upstream_.device();
  details.message = fmt::format(
      "no room for {} ({} bytes): {} live in {} blocks, {} cached, {} reserved, limit {}, the "
      "device "
      "has {}; release buffers{} or ask for less",
      readable(std::uint64_t{request.bytes}), request.bytes, readable(now.allocated.current),
      now.live_blocks, readable(now.reserved.current - now.allocated.current),
      readable(now.reserved.current),
      most == 0 ? "none" : readable(std::uint64_t{most}) + " (HAL_MEMORY_LIMIT or set_limit)",
      info ? fmt::format("{} free of {}", readable(std::uint64_t{info->free_bytes}),
                         readable(std::uint64_t{info->total_bytes}))
           : "not said what is free",
      most == 0 ? "" : ", raise the limit");
  if (refusal != nullptr) {
    details.message += fmt::format(" (the driver said: {})", refusal->message());
    details.vendor_code = refusal->vendor_code();
    details.vendor_name = refusal->vendor_name();
  }
  return Error(std::move(details));
}

}  // namespace hal::memory
