// SPDX-License-Identifier: Apache-2.0
#include "spi/lifetime.hpp"
#include "registry.hpp"
#include "spi/stream_state.hpp"
#include "spi/trace.hpp"

#include <hal/device.hpp>
#include <hal/error.hpp>

#include <pthread.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

namespace hal::spi {

constinit std::atomic<Phase> internal::phase{Phase::usable};

namespace {

std::atomic<bool> started{false};

/// Leaves `usable` for another phase, from which there is no way back. False when it was left
/// before.
bool leave_for(Phase next) noexcept {
  Phase expected = Phase::usable;
  return internal::phase.compare_exchange_strong(expected, next);
}

void quiesce_backends() {
  for (const auto& backend : core::Registry::instance().backends()) {
    const auto quiesce = backend->table().functions.quiesce;
    if (quiesce != nullptr && !backend->opened().empty()) quiesce();
  }
}

void at_exit() {
  if (!leave_for(Phase::exiting)) return;
  quiesce_backends();
  finish_configured_trace();
}

void in_forked_child() { (void)leave_for(Phase::forked_child); }

const char* why_unusable() noexcept {
  switch (internal::phase.load()) {
    case Phase::forked_child:
      return "this process was forked after HAL had started a device in its parent; start HAL in "
             "the child before the parent uses it, or use posix_spawn or exec";
    case Phase::shut_down:
      return "hal::shutdown() has ended HAL in this process; call it after the last use";
    case Phase::exiting:
    case Phase::usable:
      break;
  }
  return "the process is ending; use HAL before exit() is called or main returns";
}

}  // namespace

void internal::throw_unusable(std::string_view operation) {
  throw Error(Errc::invalid_state, std::string(operation), why_unusable());
}

void note_started() {
  static std::once_flag once;
  std::call_once(once, [] {
    started = true;
    ::pthread_atfork(nullptr, nullptr, in_forked_child);
    std::atexit(at_exit);
  });
}

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace hal::spi

namespace hal {
namespace {

using Devices = std::vector<std::shared_ptr<detail::DeviceState>>;

Devices opened_devices() {
  Devices devices;
  for (const auto& backend : core::Registry::instance().backends()) {
    for (auto& device : backend->opened())
      devices.push_back(std::move(device));
  }
  return devices;
}

/// Waits for every stream, whatever becomes of the others; the first failure.
std::optional<Error> wait_for_all(const Devices& devices) {
  std::optional<Error> first;
  for (const auto& device : devices) {
    std::optional<Error> failure = device->wait_for_all("hal::shutdown");
    if (!first) first = std::move(failure);
  }
  return first;
}

}  // namespace

void shutdown() {
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  if (!spi::usable()) return;
  std::optional<Error> failure;
  if (spi::started) {
    const Devices devices = opened_devices();
    failure = wait_for_all(devices);
    for (const auto& device : devices)
      device->allocator().trim();
    if (!spi::leave_for(spi::Phase::shut_down)) return;
    spi::quiesce_backends();
    for (const auto& device : devices)
      device->close();
    spi::finish_configured_trace();
  } else {
    (void)spi::leave_for(spi::Phase::shut_down);
  }
  if (failure) throw *failure;
}

}  // namespace hal
