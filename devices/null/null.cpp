// SPDX-License-Identifier: Apache-2.0
//
// The skeleton of a backend: a device that does nothing by itself. Its memory is host memory, and
// every piece of work is performed on the thread that enqueues it. Copy this file to begin a
// backend of your own; docs/backend-authors.md walks through it in the same order.
#include <hal/backend.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

// ---- 1. Texts and failures ----------------------------------------------------------------------

constexpr const char* device_id = "null:0";
constexpr std::size_t alignment = 64;

// What the core offers; there from the entry function on.
const hal_services* services = nullptr;

template <std::size_t Size>
void copy_text(char (&field)[Size], std::string_view text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

hal_status fail(hal_failure* failure, hal_status status, std::string_view message) {
  copy_text(failure->message, message);
  return status;
}

// No exception may cross the boundary: the only ones here are those of a full memory.
template <typename Function>
hal_status guarded(hal_failure* failure, Function&& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return fail(failure, HAL_STATUS_OUT_OF_MEMORY, "the host has no memory left: free some of it");
  }
}

// ---- 2. What is there ---------------------------------------------------------------------------

// A backend that needs a library looks for it here, without starting it, and says why it cannot be
// used. The probe arrives zeroed: available, nothing to tell.
void probe(hal_probe* probe) { copy_text(probe->detail, "performs work on the calling thread"); }

int32_t device_count() { return 1; }

// Only what is known. Numbers start as HAL_UNKNOWN.
hal_status device_describe(int32_t, hal_device_description* out, hal_failure*) {
  copy_text(out->name, "Null device");
  out->memory_alignment_bytes = alignment;
  out->features = HAL_FEATURE_HOST_MEMORY | HAL_FEATURE_HOST_FUNCTION;
  return HAL_STATUS_OK;
}

// ---- 3. The objects -----------------------------------------------------------------------------

using Lock = std::unique_lock<std::mutex>;

// How a piece of work ended; `text` is filled when it failed.
struct Outcome {
  hal_status status = HAL_STATUS_OK;
  hal_failure text{};
};

struct Stream;

// One record of an event. The event points to its latest; waits keep the one they were enqueued
// for.
struct Record {
  Stream* stream;  // which is there at least until this is done
  bool done = false;
  Outcome outcome;
  std::vector<std::shared_ptr<Stream>> waiting;  // they cannot go on before this is done
};

// A piece of work is one of three things. `span` says for tracing which: its kind, bytes and site.
struct Work {
  std::function<Outcome()> perform;
  std::shared_ptr<Record> signal;
  std::shared_ptr<Record> await;
  hal_span span{};
};

// Owns everything made on it, so that what is left when it is closed goes with it. Its lock guards
// all of its streams and events; it is never held while work is performed.
struct Device {
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<void*, std::shared_ptr<void>> objects;
};

struct Stream : std::enable_shared_from_this<Stream> {
  Stream(Device& owner, uint64_t core_id) : device(owner), id(core_id) {}

  Device& device;
  const uint64_t id;  // of the core: names the stream in failures
  std::deque<Work> queue;
  uint64_t enqueued = 0;
  uint64_t finished = 0;
  bool busy = false;       // a thread performs its work
  std::thread::id worker;  // that thread, while busy
  Outcome outcome;         // the first failure, which stays
};

struct Event {
  explicit Event(Device& owner) : device(owner) {}

  Device& device;
  std::shared_ptr<Record> latest;
};

// The handles of the ABI are addresses of these objects.
Device* object(hal_device_handle handle) { return reinterpret_cast<Device*>(handle); }
Stream* object(hal_stream_handle handle) { return reinterpret_cast<Stream*>(handle); }
Event* object(hal_event_handle handle) { return reinterpret_cast<Event*>(handle); }

// Keeps `made` with the device and hands its address out.
void* hand_out(Device& device, std::shared_ptr<void> made) {
  const std::lock_guard lock(device.mutex);
  void* const address = made.get();
  device.objects.emplace(address, std::move(made));
  return address;
}

void take_back(Device& device, void* address) {
  std::shared_ptr<void> last;  // destroyed after the lock is given back
  const std::lock_guard lock(device.mutex);
  const auto found = device.objects.find(address);
  last = std::move(found->second);
  device.objects.erase(found);
}

// ---- 4. Devices and memory ----------------------------------------------------------------------

hal_status device_open(int32_t, hal_device_handle* out, hal_failure* failure) {
  return guarded(failure, [&] {
    *out = reinterpret_cast<hal_device_handle>(new Device);
    return HAL_STATUS_OK;
  });
}

void device_close(hal_device_handle device) { delete object(device); }

hal_status memory_allocate(hal_device_handle device, const hal_allocation* request, void** out,
                           hal_failure* failure) {
  return guarded(failure, [&] {
    const std::align_val_t aligned{std::max(request->alignment, alignment)};
    void* address = nullptr;
    if (request->bytes <= PTRDIFF_MAX) {
      address = ::operator new(request->bytes, aligned, std::nothrow);
    }
    if (address == nullptr) throw std::bad_alloc();
    const auto give_back = [aligned](void* memory) { ::operator delete(memory, aligned); };
    *out = hand_out(*object(device), std::shared_ptr<void>(address, give_back));
    return HAL_STATUS_OK;
  });
}

void memory_free(hal_device_handle device, const hal_allocation*, void* address) {
  take_back(*object(device), address);
}

// ---- 5. Streams ---------------------------------------------------------------------------------

// The first failure stays, and everything after it is dropped. What a piece of work carries may use
// HAL when it is destroyed, so that too happens without the lock.
void perform(Stream& stream, Work work, Lock& lock) {
  const bool dropped = stream.outcome.status != HAL_STATUS_OK;
  lock.unlock();
  const Outcome outcome = dropped ? Outcome{} : work.perform();
  work = {};
  lock.lock();
  if (outcome.status != HAL_STATUS_OK) stream.outcome = outcome;
}

// An event carries the failure of its stream to whoever waits for it.
void signal(const Stream& stream, Record& record) {
  record.outcome = stream.outcome;
  record.done = true;
  stream.device.changed.notify_all();
}

// False: the stream cannot go on; whoever signals the record will advance it.
bool await(Stream& stream, Record& record) {
  if (!record.done) {
    record.waiting.push_back(stream.shared_from_this());
    return false;
  }
  if (stream.outcome.status == HAL_STATUS_OK) stream.outcome = record.outcome;
  return true;
}

uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Tells whoever traces of a piece of work that is done. Without the lock: that is somebody's code.
void trace(const Stream& stream, hal_span span, uint64_t begin_ns, Lock& lock) {
  span.struct_size = sizeof(hal_span);
  span.stream = stream.id;
  span.sequence = stream.finished;
  span.begin_ns = begin_ns;
  span.end_ns = now_ns();
  lock.unlock();
  services->trace("null", &span);
  lock.lock();
}

hal_span span_of(int32_t kind, uint64_t bytes, const hal_site& site) {
  hal_span span{};
  span.kind = kind;
  span.bytes = bytes;
  span.site = site;
  return span;
}

// Performs what is queued. If another thread, or a host function further out on this one, is busy
// with the stream, that one will come to what was added.
void advance(Stream& stream, Lock& lock) {
  if (stream.busy) return;
  const auto alive = stream.shared_from_this();
  std::vector<std::shared_ptr<Stream>> resumed;
  stream.busy = true;
  stream.worker = std::this_thread::get_id();
  while (!stream.queue.empty()) {
    if (const auto& record = stream.queue.front().await; record && !await(stream, *record)) break;
    Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    const hal_span span = work.span;
    const bool traced = services->tracing() != 0 && stream.outcome.status == HAL_STATUS_OK;
    const uint64_t begin_ns = traced ? now_ns() : 0;
    if (work.signal) {
      signal(stream, *work.signal);
      std::move(work.signal->waiting.begin(), work.signal->waiting.end(),
                std::back_inserter(resumed));
    } else if (work.perform) {
      perform(stream, std::move(work), lock);
    }
    ++stream.finished;
    if (traced) trace(stream, span, begin_ns, lock);
  }
  stream.busy = false;
  stream.device.changed.notify_all();
  for (const auto& other : resumed)
    advance(*other, lock);
}

hal_status enqueue(Stream& stream, Work work, Lock& lock) {
  stream.queue.push_back(std::move(work));
  ++stream.enqueued;
  advance(stream, lock);
  return HAL_STATUS_OK;
}

// The core may be older or newer than this file: only what both know of a struct is copied.
hal_status tell(const Outcome& outcome, hal_failure* failure) {
  if (outcome.status != HAL_STATUS_OK) {
    const std::size_t size = failure->struct_size;
    std::memcpy(failure, &outcome.text, std::min(size, sizeof(hal_failure)));
    failure->struct_size = size;
  }
  return outcome.status;
}

// Waits until `done` holds; false when the time is over. Without a limit, performs what nobody has
// begun.
template <typename Condition>
bool wait_until(Stream& stream, Lock& lock, int64_t timeout_ns, Condition&& done) {
  if (timeout_ns == HAL_TIMEOUT_INFINITE) {
    advance(stream, lock);
    stream.device.changed.wait(lock, done);
    return true;
  }
  // The clock's own end lies not far beyond 2^60 ns.
  const std::chrono::nanoseconds limit(std::min(timeout_ns, int64_t{1} << 60));
  return stream.device.changed.wait_for(lock, limit, done);
}

// A host function that waits for what comes after it would never return.
bool waits_for_itself(const Stream& stream) {
  return stream.busy && stream.worker == std::this_thread::get_id();
}

constexpr const char* own_wait =
    "a host function waits for its own stream: wait for it outside of the function";
constexpr const char* too_late = "the work was not done in the time given: wait longer";

hal_status stream_create(hal_device_handle device, uint64_t id, int32_t, hal_stream_handle* out,
                         hal_failure* failure) {
  return guarded(failure, [&] {
    void* const address = hand_out(*object(device), std::make_shared<Stream>(*object(device), id));
    *out = static_cast<hal_stream_handle>(address);
    return HAL_STATUS_OK;
  });
}

void stream_destroy(hal_stream_handle stream) { take_back(object(stream)->device, stream); }

hal_status stream_query(hal_stream_handle handle, hal_failure* failure) {
  const Stream& stream = *object(handle);
  const Lock lock(stream.device.mutex);
  if (stream.outcome.status != HAL_STATUS_OK) return tell(stream.outcome, failure);
  return stream.finished == stream.enqueued ? HAL_STATUS_OK : HAL_STATUS_NOT_READY;
}

hal_status stream_synchronize(hal_stream_handle handle, int64_t timeout_ns, hal_failure* failure) {
  Stream& stream = *object(handle);
  Lock lock(stream.device.mutex);
  if (waits_for_itself(stream)) return fail(failure, HAL_STATUS_INVALID_STATE, own_wait);
  const uint64_t target = stream.enqueued;
  const bool in_time =
      wait_until(stream, lock, timeout_ns, [&] { return stream.finished >= target; });
  return in_time ? tell(stream.outcome, failure) : fail(failure, HAL_STATUS_TIMEOUT, too_late);
}

hal_status stream_reset_error(hal_stream_handle handle, hal_failure* failure) {
  Stream& stream = *object(handle);
  Lock lock(stream.device.mutex);
  if (waits_for_itself(stream)) return fail(failure, HAL_STATUS_INVALID_STATE, own_wait);
  wait_until(stream, lock, HAL_TIMEOUT_INFINITE,
             [&] { return stream.finished == stream.enqueued; });
  stream.outcome = {};
  return HAL_STATUS_OK;
}

// ---- 6. Work ------------------------------------------------------------------------------------

// Calls row(z, y) for every row of a box.
template <typename Row>
void for_each_row(std::size_t depth, std::size_t height, Row&& row) {
  for (std::size_t z = 0; z < depth; ++z) {
    for (std::size_t y = 0; y < height; ++y)
      row(z, y);
  }
}

hal_status stream_copy(hal_stream_handle handle, const hal_copy* copy, hal_failure* failure) {
  // All memory is host memory here: where the ends live makes no difference. What the pointer of a
  // request points to is the caller's again when this returns, so the work takes a copy of it.
  const auto work = [copy = *copy] {
    for_each_row(copy.depth, copy.height, [&](std::size_t z, std::size_t y) {
      std::memcpy(static_cast<std::byte*>(copy.destination) + z * copy.destination_slice +
                      y * copy.destination_pitch,
                  static_cast<const std::byte*>(copy.source) + z * copy.source_slice +
                      y * copy.source_pitch,
                  copy.width);
    });
    return Outcome{};
  };
  const hal_span span =
      span_of(HAL_SPAN_COPY, copy->width * copy->height * copy->depth, copy->site);
  return guarded(failure, [&] {
    Lock lock(object(handle)->device.mutex);
    return enqueue(*object(handle), {.perform = work, .signal = {}, .await = {}, .span = span},
                   lock);
  });
}

hal_status stream_fill(hal_stream_handle handle, const hal_fill* fill, hal_failure* failure) {
  const auto work = [fill = *fill] {
    for_each_row(fill.depth, fill.height, [&](std::size_t z, std::size_t y) {
      auto* row = static_cast<std::byte*>(fill.destination) + z * fill.slice + y * fill.pitch;
      for (std::size_t x = 0; x < fill.width; x += fill.pattern_bytes) {
        std::memcpy(row + x, fill.pattern, fill.pattern_bytes);
      }
    });
    return Outcome{};
  };
  const hal_span span =
      span_of(HAL_SPAN_FILL, fill->width * fill->height * fill->depth, fill->site);
  return guarded(failure, [&] {
    Lock lock(object(handle)->device.mutex);
    return enqueue(*object(handle), {.perform = work, .signal = {}, .await = {}, .span = span},
                   lock);
  });
}

// A caller's object, moved into storage of our own and destroyed exactly once.
class Closure {
 public:
  explicit Closure(const hal_closure& given)
      : storage_(::operator new(std::max<std::size_t>(given.size, 1), aligned)),
        destroy_(given.destroy) {
    if (given.relocate != nullptr) {
      given.relocate(storage_, given.object);
    } else {
      std::memcpy(storage_, given.object, given.size);
    }
  }
  ~Closure() {
    if (destroy_ != nullptr) destroy_(storage_);
    ::operator delete(storage_, aligned);
  }
  Closure(const Closure&) = delete;
  Closure& operator=(const Closure&) = delete;

  void* object() const { return storage_; }

 private:
  static constexpr std::align_val_t aligned{alignment};
  void* storage_;
  void (*destroy_)(void*);
};

// Says which piece of work failed, unless the failure tells of an earlier one.
void add_origin(hal_failure& failure, const Stream& stream, uint64_t sequence,
                const hal_site& site) {
  if (failure.has_origin != 0) return;
  failure.has_origin = 1;
  failure.origin_stream = stream.id;
  failure.origin_sequence = sequence;
  const std::string name = site.name != nullptr ? std::string(" '") + site.name + "'" : "";
  copy_text(failure.origin_operation, "host function" + name);
  const std::string place =
      site.file != nullptr ? std::string(site.file) + ':' + std::to_string(site.line) : "";
  copy_text(failure.origin_location, place);
  copy_text(failure.origin_device, device_id);
}

hal_status stream_host_function(hal_stream_handle handle, const hal_host_function* function,
                                hal_failure* failure) {
  return guarded(failure, [&] {
    Stream& stream = *object(handle);
    auto body = std::make_shared<Closure>(function->body);
    Lock lock(stream.device.mutex);
    auto work = [&stream, body = std::move(body), sequence = stream.enqueued + 1,
                 run = function->run, site = function->site] {
      Outcome outcome;
      outcome.text.struct_size = sizeof(hal_failure);
      outcome.status = run(body->object(), &outcome.text);
      if (outcome.status != HAL_STATUS_OK) add_origin(outcome.text, stream, sequence, site);
      return outcome;
    };
    const hal_span span = span_of(HAL_SPAN_HOST_FUNCTION, 0, function->site);
    return enqueue(stream, {.perform = std::move(work), .signal = {}, .await = {}, .span = span},
                   lock);
  });
}

// ---- 7. Events ----------------------------------------------------------------------------------

hal_status event_create(hal_device_handle device, uint32_t, hal_event_handle* out,
                        hal_failure* failure) {
  return guarded(failure, [&] {
    void* const address = hand_out(*object(device), std::make_shared<Event>(*object(device)));
    *out = static_cast<hal_event_handle>(address);
    return HAL_STATUS_OK;
  });
}

void event_destroy(hal_event_handle event) { take_back(object(event)->device, event); }

hal_status stream_record(hal_stream_handle handle, hal_event_handle event, hal_failure* failure) {
  return guarded(failure, [&] {
    Stream& stream = *object(handle);
    Lock lock(stream.device.mutex);
    const auto record = std::make_shared<Record>();
    record->stream = &stream;
    object(event)->latest = record;
    return enqueue(
        stream,
        {.perform = {}, .signal = record, .await = {}, .span = span_of(HAL_SPAN_RECORD, 0, {})},
        lock);
  });
}

hal_status stream_wait(hal_stream_handle handle, hal_event_handle event, hal_failure* failure) {
  return guarded(failure, [&] {
    Lock lock(object(handle)->device.mutex);
    return enqueue(*object(handle),
                   {.perform = {},
                    .signal = {},
                    .await = object(event)->latest,
                    .span = span_of(HAL_SPAN_WAIT, 0, {})},
                   lock);
  });
}

hal_status event_query(hal_event_handle event, hal_failure* failure) {
  const Lock lock(object(event)->device.mutex);
  const Record& record = *object(event)->latest;
  return record.done ? tell(record.outcome, failure) : HAL_STATUS_NOT_READY;
}

hal_status event_synchronize(hal_event_handle event, int64_t timeout_ns, hal_failure* failure) {
  Lock lock(object(event)->device.mutex);
  const std::shared_ptr<const Record> record = object(event)->latest;
  if (record->done) return tell(record->outcome, failure);
  const auto stream = record->stream->shared_from_this();
  if (waits_for_itself(*stream)) return fail(failure, HAL_STATUS_INVALID_STATE, own_wait);
  const bool in_time = wait_until(*stream, lock, timeout_ns, [&] { return record->done; });
  return in_time ? tell(record->outcome, failure) : fail(failure, HAL_STATUS_TIMEOUT, too_late);
}

// ---- 8. The table -------------------------------------------------------------------------------

// What is not named stays null: no launches, no event times, no peers, no telling how much memory
// there is. The core answers `unsupported` for those.
hal_backend make_table() {
  hal_backend table{};
  table.struct_size = sizeof(hal_backend);
  table.abi_major = HAL_BACKEND_ABI_MAJOR;
  table.abi_minor = HAL_BACKEND_ABI_MINOR;
  table.name = "null";
  table.description = "Null device, the skeleton of a backend";
  table.probe = probe;
  table.device_count = device_count;
  table.device_describe = device_describe;
  table.device_open = device_open;
  table.device_close = device_close;
  table.memory_allocate = memory_allocate;
  table.memory_free = memory_free;
  table.stream_create = stream_create;
  table.stream_destroy = stream_destroy;
  table.stream_query = stream_query;
  table.stream_synchronize = stream_synchronize;
  table.stream_reset_error = stream_reset_error;
  table.stream_copy = stream_copy;
  table.stream_fill = stream_fill;
  table.stream_host_function = stream_host_function;
  table.event_create = event_create;
  table.event_destroy = event_destroy;
  table.stream_record = stream_record;
  table.stream_wait = stream_wait;
  table.event_query = event_query;
  table.event_synchronize = event_synchronize;
  return table;
}

}  // namespace

// The one function a plug-in exports.
extern "C" __attribute__((visibility("default"))) const hal_backend* hal_backend_entry(
    const hal_backend_request* request, hal_failure*) {
  services = request->services;
  static const hal_backend table = make_table();
  return &table;
}
