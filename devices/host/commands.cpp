// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "copy.hpp"
#include "device.hpp"
#include "stream.hpp"

#include <hal/detail/closure.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace hal::host {

namespace {

hal_span span(std::int32_t kind, std::uint64_t bytes, const hal_site& site) noexcept {
  hal_span span{};
  span.struct_size = sizeof(span);
  span.kind = kind;
  span.bytes = bytes;
  span.site = site;
  return span;
}

std::size_t saturating_product(std::size_t a, std::size_t b) noexcept {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  return b != 0 && a > most / b ? most : a * b;
}

/// A launch shared out among threads. The space is cut into units: pieces of rows where there are
/// few rows, whole rows otherwise; neighbouring units run as one box where they form one.
struct SharedLaunch {
  void* object;
  hal_status (*run)(void*, const std::size_t[3], const std::size_t[3], hal_failure*);
  const std::size_t* extent;
  std::size_t pieces;  // units a row
  std::size_t piece;   // items a unit
  hal_failure* failure;
  std::atomic<hal_status> status{HAL_STATUS_OK};

  void run_units(std::size_t begin, std::size_t end) noexcept {
    while (begin < end && status.load(std::memory_order_relaxed) == HAL_STATUS_OK) {
      const std::size_t row = begin / pieces;
      const std::size_t plane = row / extent[1];
      std::size_t low[3] = {plane, row % extent[1], (begin % pieces) * piece};
      std::size_t high[3] = {plane + 1, low[1] + 1, extent[2]};
      if (pieces == 1) {
        const std::size_t rows = std::min(end - begin, extent[1] - low[1]);
        high[1] = low[1] + rows;
        begin += rows;
      } else {
        const std::size_t units = std::min(end - begin, pieces - begin % pieces);
        // The product cannot overflow: it is at most one unit beyond the extent of the row.
        const std::size_t left = extent[2] - low[2];
        high[2] = units >= left / piece + 1 ? extent[2] : low[2] + units * piece;
        begin += units;
      }
      run_box(low, high);
    }
  }

 private:
  void run_box(const std::size_t low[3], const std::size_t high[3]) noexcept {
    hal_failure text;
    detail::clear(text);
    const hal_status outcome = run(object, low, high, &text);
    if (outcome == HAL_STATUS_OK) return;
    hal_status none = HAL_STATUS_OK;
    if (status.compare_exchange_strong(none, outcome)) *failure = text;
  }
};

}  // namespace

Payload::Payload(const hal_closure& closure, void* room) noexcept
    : object_(room), destroy_(closure.destroy) {
  if (room == nullptr) {
    own_alignment_ = std::max<std::size_t>(closure.alignment, 16);
    object_ = ::operator new(closure.size, std::align_val_t(own_alignment_), std::nothrow);
    if (object_ == nullptr) return;
  }
  if (closure.relocate != nullptr) {
    closure.relocate(object_, closure.object);
  } else {
    std::memcpy(object_, closure.object, closure.size);
  }
}

void Payload::destroy() noexcept {
  if (destroy_ != nullptr) destroy_(object_);
  if (own_alignment_ != 0) ::operator delete(object_, std::align_val_t(own_alignment_));
}

LaunchCommand::LaunchCommand(const hal_host_launch& launch, void* room) noexcept
    : extent_{launch.extent[0], launch.extent[1], launch.extent[2]},
      grain_(launch.grain),
      run_(launch.run),
      payload_(launch.body, room),
      site_(launch.site) {}

hal_status LaunchCommand::run(HostStream& stream, hal_failure& failure) {
  HostExecutor& loops = stream.device().loops();
  const std::size_t rows = saturating_product(extent_[0], extent_[1]);
  const std::size_t items = saturating_product(rows, extent_[2]);
  const int threads = loops.concurrency();
  if (items <= grain_) {
    constexpr std::size_t begin[3] = {0, 0, 0};
    return run_(payload_.object(), begin, extent_, &failure);
  }
  SharedLaunch launch{payload_.object(), run_, extent_, 1, extent_[2], &failure};
  const std::size_t wanted = static_cast<std::size_t>(threads) * 16;
  if (rows < wanted) {
    const std::size_t pieces = (wanted + rows - 1) / rows;
    launch.piece = std::max({grain_, extent_[2] / pieces, std::size_t{1}});
    if (rows == 1) launch.piece = std::min(launch.piece, std::max<std::size_t>(grain_, 1024));
    launch.piece = std::min(launch.piece, extent_[2]);
    launch.pieces = extent_[2] / launch.piece + (extent_[2] % launch.piece != 0 ? 1 : 0);
  }
  const std::size_t unit_grain = std::max<std::size_t>(1, grain_ / launch.piece);
  loops.parallel_for(saturating_product(rows, launch.pieces), unit_grain,
                     {[](void* context, std::size_t begin, std::size_t end) noexcept {
                        static_cast<SharedLaunch*>(context)->run_units(begin, end);
                      },
                      &launch});
  return launch.status.load();
}

hal_span LaunchCommand::describe() const noexcept { return span(HAL_SPAN_LAUNCH, 0, site_); }

FunctionCommand::FunctionCommand(const hal_host_function& function, void* room) noexcept
    : run_(function.run), payload_(function.body, room), site_(function.site) {}

hal_status FunctionCommand::run(HostStream&, hal_failure& failure) {
  return run_(payload_.object(), &failure);
}

hal_span FunctionCommand::describe() const noexcept {
  return span(HAL_SPAN_HOST_FUNCTION, 0, site_);
}

hal_status CopyCommand::run(HostStream& stream, hal_failure&) {
  copy_box(stream.device().loops(), copy_);
  return HAL_STATUS_OK;
}

hal_span CopyCommand::describe() const noexcept {
  return span(HAL_SPAN_COPY, copy_.width * copy_.height * copy_.depth, copy_.site);
}

hal_status FillCommand::run(HostStream& stream, hal_failure&) {
  fill_box(stream.device().loops(), fill_);
  return HAL_STATUS_OK;
}

hal_span FillCommand::describe() const noexcept {
  return span(HAL_SPAN_FILL, fill_.width * fill_.height * fill_.depth, fill_.site);
}

hal_status RecordCommand::run(HostStream& stream, hal_failure&) {
  signal_->complete(nullptr, stream.drained_by_worker());
  return HAL_STATUS_OK;
}

void RecordCommand::skip(HostStream& stream) noexcept {
  signal_->complete(stream.failure(), stream.drained_by_worker());
}

hal_span RecordCommand::describe() const noexcept { return span(HAL_SPAN_RECORD, 0, site_); }

hal_status WaitCommand::run(HostStream& stream, hal_failure&) {
  if (signal_->park(*this, stream)) return blocked;
  if (signal_->failure() != nullptr) stream.adopt_failure(signal_->failure());
  return HAL_STATUS_OK;
}

hal_span WaitCommand::describe() const noexcept { return span(HAL_SPAN_WAIT, 0, site_); }

}  // namespace hal::host
