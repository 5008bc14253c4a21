// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hal::trace {

/// What happened. The first six ran on a device; the others happened on the calling thread.
enum class Kind : std::int32_t {
  launch = 0,
  copy = 1,
  fill = 2,
  host_function = 3,
  record = 4,
  wait = 5,         ///< a stream waited for an event
  synchronize = 6,  ///< a thread waited for a stream, an event or a device
  allocate = 7,
  release = 8,
};

[[nodiscard]] HAL_API std::string_view name(Kind kind) noexcept;

/// One finished thing. Views are valid during the callback only.
struct Span {
  Kind kind = Kind::launch;
  std::string_view device;     ///< "host:0"
  std::uint64_t stream = 0;    ///< stream id; 0: none
  std::uint64_t sequence = 0;  ///< position on the stream, from 1; 0: none
  std::uint64_t begin_ns = 0;  ///< std::chrono::steady_clock
  std::uint64_t end_ns = 0;
  std::uint64_t bytes = 0;  ///< of copies, fills and allocations
  std::string_view name;    ///< of the kernel or function; may be empty
  std::string_view file;    ///< of the call that enqueued it; may be empty
  std::uint32_t line = 0;
};

using Callback = std::function<void(const Span&)>;

/// Ends its subscription when destroyed; waits for callbacks that are running on other threads.
class HAL_API Subscription {
 public:
  Subscription() noexcept = default;
  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;
  ~Subscription();

 private:
  friend HAL_API Subscription subscribe(Callback callback);
  explicit Subscription(std::uint64_t id) noexcept : id_(id) {}
  std::uint64_t id_ = 0;
};

/// Calls `callback` for every span from now on, on the thread where it ended, several threads at
/// once. The callback must be quick and may not wait for a device. It is not called for spans that
/// end while it runs, on the thread that runs it; it may end its own subscription, not one whose
/// callback may be ending this one. With no subscriber tracing costs one load and a branch a piece
/// of work.
[[nodiscard]] HAL_API Subscription subscribe(Callback callback);

/// Writes spans to a file that chrome://tracing and https://ui.perfetto.dev open: a process a
/// device, a row a stream. The file is complete once the writer is destroyed. `HAL_TRACE=file.json`
/// does the same for a whole program. Throws `io` when the file cannot be created.
class HAL_API ChromeTraceWriter {
 public:
  explicit ChromeTraceWriter(const std::string& path);
  ~ChromeTraceWriter();
  ChromeTraceWriter(const ChromeTraceWriter&) = delete;
  ChromeTraceWriter& operator=(const ChromeTraceWriter&) = delete;

  /// Completes the file and ends the subscription. Throws `io` if it could not be written whole.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hal::trace
