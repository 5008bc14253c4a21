// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/detail/clock.hpp>
#include <hal/trace.hpp>

#include <atomic>
#include <cstdint>

namespace hal::spi {

namespace internal {
extern std::atomic<int> trace_subscribers;
}

/// Whether anybody wants spans; only then build them.
[[nodiscard]] inline bool tracing() noexcept {
  return internal::trace_subscribers.load(std::memory_order_relaxed) != 0;
}

/// Hands a span to every subscriber. Never throws: a callback that does is logged.
void emit(const trace::Span& span) noexcept;

/// Starts `HAL_TRACE`'s writer if that is set and not started yet; called when the first device is
/// opened. Throws `io` when the file cannot be created.
void start_configured_trace();
/// Completes `HAL_TRACE`'s file; called at shutdown and exit. Never throws.
void finish_configured_trace() noexcept;

/// A span on the calling thread, from construction to destruction, if somebody traces.
class ScopedSpan {
 public:
  ScopedSpan(trace::Kind kind, std::string_view device, std::uint64_t stream,
             std::uint64_t bytes = 0) noexcept {
    if (!tracing()) return;
    span_.kind = kind;
    span_.device = device;
    span_.stream = stream;
    span_.bytes = bytes;
    span_.begin_ns = detail::now_ns();
  }
  ~ScopedSpan() {
    if (span_.begin_ns == 0) return;
    span_.end_ns = detail::now_ns();
    emit(span_);
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

 private:
  trace::Span span_;
};

}  // namespace hal::spi
