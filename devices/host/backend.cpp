// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include "commands.hpp"
#include "device.hpp"
#include "device_set.hpp"
#include "exit_guard.hpp"
#include "memory.hpp"
#include "numa.hpp"
#include "signal.hpp"
#include "stream.hpp"
#include "topology.hpp"

#include <hal/config.hpp>
#include <hal/detail/closure.hpp>

#include <tbb/version.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace hal::host {

namespace {

const hal_services* services = nullptr;

HostDevice& device_of(hal_device_handle handle) noexcept {
  return *reinterpret_cast<HostDevice*>(handle);
}
HostStream& stream_of(hal_stream_handle handle) noexcept {
  return *reinterpret_cast<HostStream*>(handle);
}
HostEvent& event_of(hal_event_handle handle) noexcept {
  return *reinterpret_cast<HostEvent*>(handle);
}

hal_status out_of_queue_memory(hal_failure* failure) noexcept {
  detail::copy_text(failure->message,
                    "there is no memory left to queue more work: wait for the stream now and then");
  return HAL_STATUS_OUT_OF_MEMORY;
}

/// Every device there has been, for `quiesce`.
struct OpenDevices {
  std::mutex mutex;
  std::vector<HostDevice*> devices;
};
OpenDevices& open_devices() {
  static auto* const instance = new OpenDevices;
  return *instance;
}

// ---- what there is -------------------------------------------------------------------------

void probe(hal_probe* out) {
  out->reason = 0;
  detail::copy_text(out->version, "oneTBB " + std::string(TBB_VERSION_STRING));
  detail::copy_text(out->detail, host_topology().cpu_model);
}

std::vector<DeviceShare> shares_or_none() noexcept {
  try {
    return device_shares();
  } catch (...) {
    // `device_open` says what is wrong; here there is nobody to tell.
    return {};
  }
}

int32_t device_count() { return static_cast<int32_t>(shares_or_none().size()); }

hal_status device_describe(int32_t index, hal_device_description* out, hal_failure* failure) {
  return detail::guarded(failure, [&] {
    const HostTopology& topology = host_topology();
    const DeviceShare share = device_shares().at(static_cast<std::size_t>(index));
    detail::copy_text(out->name, topology.cpu_model.empty() ? "CPU" : topology.cpu_model);
    detail::copy_text(out->architecture, topology.architecture);
    detail::copy_text(out->driver_version, "oneTBB " + std::string(TBB_VERSION_STRING));
    if (share.node) {
      out->numa_node = static_cast<std::uint64_t>(share.node->id);
    } else if (topology.nodes.size() == 1) {
      out->numa_node = static_cast<std::uint64_t>(topology.nodes.front().id);
    }
    out->memory_total_bytes = share.node && share.node->memory_bytes > 0
                                  ? share.node->memory_bytes
                                  : host_memory().total_bytes;
    out->memory_free_bytes = host_memory().available_bytes;
    out->compute_units = static_cast<std::uint64_t>(share.cores);
    if (topology.max_khz) out->clock_max_khz = *topology.max_khz;
    if (topology.cache_bytes) out->cache_bytes = *topology.cache_bytes;
    out->subgroup_width = 1;
    out->memory_alignment_bytes = 64;
    out->features = HAL_FEATURE_HOST_CODE | HAL_FEATURE_HOST_MEMORY | HAL_FEATURE_HOST_FUNCTION |
                    HAL_FEATURE_TIMING | HAL_FEATURE_PINNED | HAL_FEATURE_MANAGED |
                    HAL_FEATURE_PEER | HAL_FEATURE_HUGE_PAGES;
    out->types = topology.types;
  });
}

hal_status device_open(int32_t index, hal_device_handle* out, hal_failure* failure) {
  return detail::guarded(failure, [&] {
    const DeviceShare share = device_shares().at(static_cast<std::size_t>(index));
    auto device = std::make_unique<HostDevice>(index, share, config::boolean("HAL_HOST_HUGE_PAGES"),
                                               take_installed_executor(), *services);
    guard_exit();
    OpenDevices& open = open_devices();
    const std::lock_guard guard(open.mutex);
    open.devices.push_back(device.get());
    *out = reinterpret_cast<hal_device_handle>(device.release());
  });
}

void device_close(hal_device_handle) {
  // Kept, idle and quiesced: a thread that did not know of the end may still be inside a call.
}

hal_status memory_info(hal_device_handle, size_t* free_bytes, size_t* total_bytes, hal_failure*) {
  const MemoryAmounts amounts = host_memory();
  *free_bytes = amounts.available_bytes;
  *total_bytes = amounts.total_bytes;
  return HAL_STATUS_OK;
}

// ---- memory --------------------------------------------------------------------------------

hal_status memory_allocate(hal_device_handle device, const hal_allocation* request, void** out,
                           hal_failure* failure) {
  *out = allocate(*request, device_of(device).memory());
  if (*out != nullptr) return HAL_STATUS_OK;
  detail::copy_text(failure->message, "the system has no memory of that size");
  return HAL_STATUS_OUT_OF_MEMORY;
}

void memory_free(hal_device_handle device, const hal_allocation* request, void* address) {
  release(*request, device_of(device).memory(), address);
}

// ---- streams -------------------------------------------------------------------------------

hal_status stream_create(hal_device_handle device, uint64_t id, int32_t, hal_stream_handle* out,
                         hal_failure* failure) {
  return detail::guarded(failure, [&] {
    *out = reinterpret_cast<hal_stream_handle>(new HostStream(device_of(device), id));
  });
}

void stream_destroy(hal_stream_handle stream) { stream_of(stream).drop_ref(); }

hal_status stream_query(hal_stream_handle handle, hal_failure* failure) {
  HostStream& stream = stream_of(handle);
  if (const FailureRef cause = stream.failure()) return report(cause, failure);
  return stream.completed(stream.enqueued()) ? HAL_STATUS_OK : HAL_STATUS_NOT_READY;
}

hal_status own_stream(hal_failure* failure) noexcept {
  detail::copy_text(failure->message,
                    "a host function waits for the stream that runs it, which can never be: wait "
                    "outside of it, or for an event of another stream");
  return HAL_STATUS_INVALID_STATE;
}

hal_status status_of(Waited waited, hal_failure* failure) noexcept {
  if (waited == Waited::completed) return HAL_STATUS_OK;
  if (waited == Waited::timed_out) return HAL_STATUS_TIMEOUT;
  detail::copy_text(failure->message,
                    "HAL has ended in this process, so the work waited for will never run: end it "
                    "after the last wait");
  return HAL_STATUS_INVALID_STATE;
}

hal_status stream_synchronize(hal_stream_handle handle, int64_t timeout_ns, hal_failure* failure) {
  HostStream& stream = stream_of(handle);
  if (stream.runs_on_this_thread()) return own_stream(failure);
  const hal_status waited = status_of(stream.wait(stream.enqueued(), timeout_ns), failure);
  if (waited != HAL_STATUS_OK) return waited;
  return report(stream.failure(), failure);
}

hal_status stream_reset_error(hal_stream_handle handle, hal_failure* failure) {
  HostStream& stream = stream_of(handle);
  if (stream.runs_on_this_thread()) return own_stream(failure);
  const hal_status waited =
      status_of(stream.wait(stream.enqueued(), HAL_TIMEOUT_INFINITE), failure);
  if (waited != HAL_STATUS_OK) return waited;
  stream.forget_failure();
  return HAL_STATUS_OK;
}

template <typename C, typename Request>
hal_status enqueue(hal_stream_handle stream, const Request& request, hal_failure* failure) {
  const bool enqueued = stream_of(stream).enqueue(
      sizeof(C), alignof(C), [&](void* room) { return new (room) C(request); });
  return enqueued ? HAL_STATUS_OK : out_of_queue_memory(failure);
}

/// A command that carries a closure: behind it in the queue when that is small enough.
template <typename C, typename Request>
hal_status enqueue_with_payload(hal_stream_handle stream, const Request& request,
                                hal_failure* failure) {
  const hal_closure& body = request.body;
  const bool inlined = body.size <= Payload::largest_inline;
  const std::size_t alignment =
      inlined && body.alignment > alignof(C) ? body.alignment : alignof(C);
  const std::size_t offset =
      inlined ? (sizeof(C) + body.alignment - 1) / body.alignment * body.alignment : 0;
  const std::size_t bytes = inlined ? offset + body.size : sizeof(C);
  const bool enqueued = stream_of(stream).enqueue(bytes, alignment, [&](void* room) -> Command* {
    void* payload_room = inlined ? static_cast<std::byte*>(room) + offset : nullptr;
    auto* command = new (room) C(request, payload_room);
    return command->bad() ? nullptr : command;
  });
  return enqueued ? HAL_STATUS_OK : out_of_queue_memory(failure);
}

hal_status stream_copy(hal_stream_handle stream, const hal_copy* copy, hal_failure* failure) {
  return enqueue<CopyCommand>(stream, *copy, failure);
}

hal_status stream_fill(hal_stream_handle stream, const hal_fill* fill, hal_failure* failure) {
  return enqueue<FillCommand>(stream, *fill, failure);
}

hal_status stream_launch_host(hal_stream_handle stream, const hal_host_launch* launch,
                              hal_failure* failure) {
  return enqueue_with_payload<LaunchCommand>(stream, *launch, failure);
}

hal_status stream_host_function(hal_stream_handle stream, const hal_host_function* function,
                                hal_failure* failure) {
  return enqueue_with_payload<FunctionCommand>(stream, *function, failure);
}

// ---- events --------------------------------------------------------------------------------

hal_status event_create(hal_device_handle device, uint32_t flags, hal_event_handle* out,
                        hal_failure* failure) {
  return detail::guarded(failure, [&] {
    *out = reinterpret_cast<hal_event_handle>(
        new HostEvent(device_of(device), (flags & HAL_EVENT_TIMING) != 0));
  });
}

void event_destroy(hal_event_handle event) { delete &event_of(event); }

hal_status stream_record(hal_stream_handle stream, hal_event_handle handle, hal_failure* failure) {
  HostEvent& event = event_of(handle);
  auto* const made = new (std::nothrow) Signal(stream_of(stream), event.timing());
  if (made == nullptr) return out_of_queue_memory(failure);
  const Ref<Signal> signal = Ref<Signal>::adopt(made);
  if (!stream_of(stream).record(signal, hal_site{})) return out_of_queue_memory(failure);
  event.move_to(signal);
  return HAL_STATUS_OK;
}

hal_status stream_wait(hal_stream_handle stream, hal_event_handle event, hal_failure* failure) {
  const Ref<Signal> signal = event_of(event).latest();
  if (!signal) return HAL_STATUS_OK;
  return stream_of(stream).wait_for(signal, hal_site{}) ? HAL_STATUS_OK
                                                        : out_of_queue_memory(failure);
}

hal_status event_query(hal_event_handle event, hal_failure* failure) {
  const Ref<Signal> signal = event_of(event).latest();
  if (!signal) return HAL_STATUS_OK;
  return signal->done() ? report(signal->failure(), failure) : HAL_STATUS_NOT_READY;
}

hal_status event_synchronize(hal_event_handle event, int64_t timeout_ns, hal_failure* failure) {
  const Ref<Signal> signal = event_of(event).latest();
  if (!signal) return HAL_STATUS_OK;
  HostStream& stream = signal->stream();
  if (!signal->done()) {
    if (stream.runs_on_this_thread()) return own_stream(failure);
    const hal_status waited = status_of(stream.wait(signal->sequence(), timeout_ns), failure);
    if (waited != HAL_STATUS_OK) return waited;
  }
  return report(signal->failure(), failure);
}

hal_status event_elapsed(hal_event_handle begin, hal_event_handle end, double* milliseconds,
                         hal_failure*) {
  const Ref<Signal> from = event_of(begin).latest();
  const Ref<Signal> to = event_of(end).latest();
  const auto nanoseconds = static_cast<std::int64_t>(to->time_ns() - from->time_ns());
  *milliseconds = static_cast<double>(nanoseconds) / 1e6;
  return HAL_STATUS_OK;
}

// ---- several devices, and the end ----------------------------------------------------------

int32_t peer_accessible(hal_device_handle, hal_device_handle) { return 1; }

hal_status peer_enable(hal_device_handle, hal_device_handle, hal_failure*) { return HAL_STATUS_OK; }

void quiesce() {
  std::vector<HostDevice*> devices;
  {
    OpenDevices& open = open_devices();
    const std::lock_guard guard(open.mutex);
    devices = open.devices;
  }
  for (HostDevice* device : devices)
    device->quiesce();
}

constexpr hal_backend table = {
    .struct_size = sizeof(hal_backend),
    .abi_major = HAL_BACKEND_ABI_MAJOR,
    .abi_minor = HAL_BACKEND_ABI_MINOR,
    .name = "host",
    .description = "Host CPU (oneTBB)",
    .probe = probe,
    .device_count = device_count,
    .device_describe = device_describe,
    .device_open = device_open,
    .device_close = device_close,
    .memory_info = memory_info,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_query,
    .stream_synchronize = stream_synchronize,
    .stream_reset_error = stream_reset_error,
    .stream_copy = stream_copy,
    .stream_fill = stream_fill,
    .stream_launch_host = stream_launch_host,
    .stream_host_function = stream_host_function,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .stream_record = stream_record,
    .stream_wait = stream_wait,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_elapsed = event_elapsed,
    .peer_accessible = peer_accessible,
    .peer_enable = peer_enable,
    .quiesce = quiesce,
};

}  // namespace

const hal_backend* backend_entry(const hal_backend_request* request, hal_failure*) {
  services = request->services;
  return &table;
}

}  // namespace hal::host
