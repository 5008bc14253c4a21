// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include "commands.hpp"
#include "device.hpp"
#include "futex.hpp"
#include "scheduler.hpp"

#include <hal/detail/clock.hpp>
#include <hal/detail/closure.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace hal::host {

namespace {

/// The streams whose commands this thread is running, innermost first: a host function may wait for
/// another stream and run that stream's work inside.
struct RunningHere {
  const HostStream* stream;
  const RunningHere* outer;
};
thread_local const RunningHere* running_here = nullptr;

constexpr std::uint64_t quantum_ns = 1'000'000;  // a stream's turn while others wait for a worker
constexpr std::uint64_t spin_ns = 30'000;        // before a waiting thread sleeps
constexpr std::uint64_t busy_spin_ns = 3'000;    // the same while a loop has use for the core

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// What a failure becomes when there is no memory to note it. Needs none itself.
const Failure without_memory = [] {
  Failure failure;
  failure.status = HAL_STATUS_OUT_OF_MEMORY;
  detail::clear(failure.text);
  detail::copy_text(failure.text.message,
                    "work failed, and there is no memory left to say why: free some and try again");
  return failure;
}();

}  // namespace

HostStream::HostStream(HostDevice& device, std::uint64_t id) noexcept
    : device_(device), id_(id), queue_(device.chunks()) {
  device_.add(*this);
}

HostStream::~HostStream() { device_.remove(*this); }

std::uint64_t HostStream::enqueued() noexcept {
  const std::lock_guard guard(lock_);
  return enqueued_;
}

FailureRef HostStream::failure() noexcept {
  if (!failed_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard guard(lock_);
  return failure_;
}

void HostStream::forget_failure() noexcept {
  FailureRef forgotten;
  const std::lock_guard guard(lock_);
  forgotten = std::exchange(failure_, nullptr);
  failed_.store(false, std::memory_order_release);
}

bool HostStream::make_ready_if_idle() noexcept {
  if (state_.load(std::memory_order_relaxed) != State::idle) return false;
  state_.store(State::ready, std::memory_order_release);
  return true;
}

void HostStream::announce() noexcept { device_.scheduler().make_ready(*this); }

void HostStream::set_parked() noexcept { state_.store(State::parked, std::memory_order_release); }

void HostStream::resume(bool by_worker) noexcept {
  bool sleepers = false;
  {
    const std::lock_guard guard(lock_);
    state_.store(State::ready, std::memory_order_release);
    sleepers = wake_at_.load(std::memory_order_relaxed) != nobody;
  }
  device_.scheduler().make_ready(*this, by_worker);
  // All workers may be inside host functions that wait for this very stream: those who sleep can
  // run it.
  if (sleepers) wake_waiters();
}

bool HostStream::record(const Ref<Signal>& signal, const hal_site& site) noexcept {
  FailureRef failure;
  std::uint64_t sequence = 0;
  {
    const std::lock_guard guard(lock_);
    if (state_.load(std::memory_order_relaxed) != State::idle) {
      void* room = queue_.reserve(sizeof(RecordCommand), alignof(RecordCommand));
      if (room == nullptr) return false;
      auto* command = new (room) RecordCommand(signal, site);
      command->sequence = ++enqueued_;
      signal->set_sequence(enqueued_);
      queue_.append(command, sizeof(RecordCommand));
      return true;
    }
    sequence = ++enqueued_;
    signal->set_sequence(sequence);
    completed_.store(sequence, std::memory_order_release);
    failure = failure_;
  }
  if (failure == nullptr) trace_instant(HAL_SPAN_RECORD, sequence, site);
  signal->complete(std::move(failure), false);
  return true;
}

bool HostStream::wait_for(const Ref<Signal>& signal, const hal_site& site) noexcept {
  const bool harmless = signal->done() && signal->failure() == nullptr;
  bool begin = false;
  std::uint64_t passed = 0;
  {
    const std::lock_guard guard(lock_);
    const bool idle = state_.load(std::memory_order_relaxed) == State::idle;
    if (idle && (harmless || failure_ != nullptr)) {
      passed = ++enqueued_;
      completed_.store(passed, std::memory_order_release);
    } else {
      void* room = queue_.reserve(sizeof(WaitCommand), alignof(WaitCommand));
      if (room == nullptr) return false;
      auto* command = new (room) WaitCommand(signal, site);
      command->sequence = ++enqueued_;
      queue_.append(command, sizeof(WaitCommand));
      if (idle) {
        // Claimed like a drainer's, so that the signal may be locked without this stream's lock.
        state_.store(State::running, std::memory_order_release);
        begin = true;
      }
    }
  }
  if (passed != 0) trace_instant(HAL_SPAN_WAIT, passed, site);
  if (begin) {
    auto& command = static_cast<WaitCommand&>(*queue_.front());
    if (!signal->park(command, *this)) resume(false);
  }
  return true;
}

void HostStream::trace_instant(std::int32_t kind, std::uint64_t sequence,
                               const hal_site& site) const noexcept {
  if (!device_.tracing()) return;
  hal_span span{};
  span.struct_size = sizeof(span);
  span.kind = kind;
  span.site = site;
  const std::uint64_t now = detail::now_ns();
  device_.trace(span, *this, sequence, now, now);
}

bool HostStream::take() noexcept {
  const std::lock_guard guard(lock_);
  if (state_.load(std::memory_order_relaxed) != State::ready) return false;
  state_.store(State::running, std::memory_order_relaxed);
  return true;
}

void HostStream::work() noexcept {
  if (take()) drain(nobody, true);
}

bool HostStream::runs_on_this_thread() const noexcept {
  for (const RunningHere* frame = running_here; frame != nullptr; frame = frame->outer) {
    if (frame->stream == this) return true;
  }
  return false;
}

void HostStream::drain(std::uint64_t until, bool by_worker) noexcept {
  Scheduler& scheduler = device_.scheduler();
  const RunningHere here{this, running_here};
  running_here = &here;
  drained_by_worker_ = by_worker;
  scheduler.enter();
  std::uint64_t turn_ends = 0;
  bool hand_on = false;
  while (!scheduler.dropping()) {
    Command& command = *queue_.front();
    if (!execute(command)) break;
    const std::uint64_t done = command.sequence;
    completed_.store(done, std::memory_order_seq_cst);
    if (done >= wake_at_.load(std::memory_order_seq_cst)) wake_waiters();

    const bool stop = done >= until || (by_worker && turn_is_over(turn_ends));
    if (!stop && queue_.pop_if_followed()) {
      if (by_worker) scheduler.start_deferred();
      continue;
    }
    const std::lock_guard guard(lock_);
    queue_.pop();
    if (queue_.empty()) {
      state_.store(State::idle, std::memory_order_release);
      break;
    }
    if (stop) {
      state_.store(State::ready, std::memory_order_release);
      hand_on = true;
      break;
    }
  }
  scheduler.leave();
  running_here = here.outer;
  if (hand_on) hand_over();
}

bool HostStream::turn_is_over(std::uint64_t& turn_ends) const noexcept {
  if (!device_.scheduler().crowded()) return false;
  const std::uint64_t now = detail::now_ns();
  if (turn_ends == 0) turn_ends = now + quantum_ns;
  return now >= turn_ends;
}

void HostStream::hand_over() noexcept {
  announce();
  if (wake_at_.load(std::memory_order_seq_cst) != nobody) wake_waiters();
}

bool HostStream::execute(Command& command) noexcept {
  if (failed_.load(std::memory_order_relaxed)) {
    command.skip(*this);
    command.dispose();
    return true;
  }
  const bool traced = device_.tracing();
  const std::uint64_t begin = traced ? detail::now_ns() : 0;
  hal_failure text;
  detail::clear(text);
  const hal_status status = command.run(*this, text);
  if (status == blocked) return false;
  if (traced) device_.trace(command.describe(), *this, command.sequence, begin, detail::now_ns());
  if (status != HAL_STATUS_OK) fail(command, status, text);
  command.dispose();
  return true;
}

void HostStream::fail(const Command& command, hal_status status, const hal_failure& text) noexcept {
  FailureRef noted;
  try {
    const auto failure = std::make_shared<Failure>(Failure{status, text});
    // What a host function met elsewhere, or another stream's failure, names its own origin.
    if (text.has_origin == 0) {
      device_.note_origin(failure->text, command.describe(), *this, command.sequence);
    }
    noted = failure;
  } catch (const std::bad_alloc&) {
    noted = FailureRef(FailureRef(), &without_memory);
  }
  adopt_failure(noted);
}

void HostStream::adopt_failure(const FailureRef& failure) noexcept {
  const std::lock_guard guard(lock_);
  failure_ = failure;
  failed_.store(true, std::memory_order_release);
}

Waited HostStream::wait(std::uint64_t sequence, std::int64_t timeout_ns) noexcept {
  const bool may_help = timeout_ns < 0;
  const std::uint64_t deadline =
      may_help ? nobody : saturating_add(detail::now_ns(), static_cast<std::uint64_t>(timeout_ns));
  while (!completed(sequence)) {
    if (device_.scheduler().dropping()) return Waited::dropped;
    if (may_help && take()) {
      drain(sequence, false);
      continue;
    }
    if (spin(sequence, deadline, may_help)) continue;
    if (detail::now_ns() >= deadline) {
      return completed(sequence) ? Waited::completed : Waited::timed_out;
    }
    sleep(sequence, deadline, may_help);
  }
  return Waited::completed;
}

bool HostStream::spin(std::uint64_t sequence, std::uint64_t deadline,
                      bool may_help) const noexcept {
  const std::uint64_t begin = detail::now_ns();
  for (;;) {
    for (int pauses = 0; pauses < 16; ++pauses) {
      if (completed(sequence)) return true;
      if (may_help && state_.load(std::memory_order_relaxed) == State::ready) return true;
      cpu_pause();
    }
    const std::uint64_t now = detail::now_ns();
    if (now >= deadline ||
        now - begin >= (device_.arena().wants_workers() ? busy_spin_ns : spin_ns)) {
      return false;
    }
  }
}

void HostStream::sleep(std::uint64_t sequence, std::uint64_t deadline, bool may_help) noexcept {
  std::uint32_t epoch = 0;
  {
    const std::lock_guard guard(lock_);
    epoch = epoch_.load(std::memory_order_relaxed);
    wake_at_.store(std::min(wake_at_.load(std::memory_order_relaxed), sequence),
                   std::memory_order_seq_cst);
  }
  if (completed_.load(std::memory_order_seq_cst) >= sequence) return;
  if (device_.scheduler().dropping()) return;
  if (may_help && state_.load(std::memory_order_seq_cst) == State::ready) return;
  std::int64_t left = -1;
  if (deadline != nobody) {
    const std::uint64_t now = detail::now_ns();
    left = now >= deadline ? 0 : static_cast<std::int64_t>(deadline - now);
  }
  futex_wait(epoch_, epoch, left);
}

void HostStream::wake_waiters() noexcept {
  {
    const std::lock_guard guard(lock_);
    wake_at_.store(nobody, std::memory_order_seq_cst);
    epoch_.fetch_add(1, std::memory_order_relaxed);
  }
  futex_wake_all(epoch_);
}

int HostStream::depth_on_this_thread(const HostDevice& device) noexcept {
  int depth = 0;
  for (const RunningHere* frame = running_here; frame != nullptr; frame = frame->outer) {
    if (&frame->stream->device() == &device) ++depth;
  }
  return depth;
}

}  // namespace hal::host
