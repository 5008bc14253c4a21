/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HAL_BACKEND_H
#define HAL_BACKEND_H

/**
 * @file
 * The boundary between HAL's core and a backend: a C table of functions that a backend fills in.
 * In-tree backends are compiled in; others are shared objects named in `HAL_PLUGINS` that export
 * `hal_backend_entry`. docs/backend-authors.md walks through devices/null, the skeleton to copy.
 *
 * Rules of this ABI
 * - Every struct begins with `struct_size`, set by whoever fills it. A reader never touches a field
 *   beyond the writer's size, so old and new binaries work together. Fields are only ever appended;
 *   anything else is another major number, which the core refuses.
 * - A NULL entry (or one beyond `struct_size`) takes that capability away from all of the backend's
 *   devices: the core answers `unsupported`, naming it. Entries marked REQUIRED may not be NULL.
 * - Every function may be called from any thread at any time. None may throw across the boundary.
 * - A function that fails returns the status and fills `*failure` (never NULL where declared).
 * - The core has checked arguments: handles are live, sizes do not overflow, ranges lie inside
 * their allocation where the core knows it. A backend need not check them again.
 * - Functions that enqueue return before the work is done, or after: both are right. Everything
 * else about order is as `hal/stream.hpp` says.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Refused by the core when it differs from its own. */
#define HAL_BACKEND_ABI_MAJOR 1u
/** Grows when entries are appended. */
#define HAL_BACKEND_ABI_MINOR 0u

/** 0 for success, 1 for "not yet" from queries, else a code of `hal::Errc` + 100. */
typedef int32_t hal_status;
enum {
  HAL_STATUS_OK = 0,
  HAL_STATUS_NOT_READY = 1,
  HAL_STATUS_INVALID_ARGUMENT = 101,
  HAL_STATUS_INVALID_STATE = 102,
  HAL_STATUS_OUT_OF_MEMORY = 103,
  HAL_STATUS_UNSUPPORTED = 104,
  HAL_STATUS_NOT_FOUND = 105,
  HAL_STATUS_DEVICE_LOST = 106,
  HAL_STATUS_TIMEOUT = 107,
  HAL_STATUS_LAUNCH_FAILED = 108,
  HAL_STATUS_COMPILE_FAILED = 109,
  HAL_STATUS_IO = 110,
  HAL_STATUS_INTERNAL = 111
};

/** Waits without end. */
#define HAL_TIMEOUT_INFINITE INT64_C(-1)

typedef struct hal_device_object* hal_device_handle;
typedef struct hal_stream_object* hal_stream_handle;
typedef struct hal_event_object* hal_event_handle;

/** Where a failure came from and what it says. Texts are UTF-8, cut to fit, always terminated. */
typedef struct hal_failure {
  size_t struct_size;
  int32_t has_vendor_code;
  int32_t has_origin; /**< the origin_* fields are filled: the failure is asynchronous */
  int64_t vendor_code;
  uint64_t origin_stream; /**< the core's stream id, as given to stream_create */
  uint64_t origin_sequence;
  char vendor_name[64];
  char message[512];
  char origin_operation[128];
  char origin_location[128];
  char origin_device[32];
} hal_failure;

/** Where in a program a piece of work was enqueued. Texts live as long as the program. */
typedef struct hal_site {
  const char* file; /**< may be NULL */
  const char* name; /**< name of the kernel or host function; may be NULL */
  uint32_t line;
} hal_site;

/* ---- what a backend tells ------------------------------------------------------------------ */

/** The state of a backend, found without creating a context on any device. */
typedef struct hal_probe {
  size_t struct_size;
  int32_t reason; /**< a value of `hal::Reason`; 0: available */
  int32_t has_vendor_code;
  int64_t vendor_code;
  char library[512]; /**< the library in use, or the one that was tried */
  char version[64];  /**< of the driver or runtime; empty: unknown */
  char detail[512];  /**< one sentence for a person */
} hal_probe;

/** Bits of `hal_device_description::features`; hal::Feature has the same order. */
enum {
  HAL_FEATURE_HOST_CODE = 1u << 0,   /**< runs C++ callables of the process (stream_launch_host) */
  HAL_FEATURE_HOST_MEMORY = 1u << 1, /**< the process may read and write device memory */
  HAL_FEATURE_HOST_FUNCTION = 1u << 2,
  HAL_FEATURE_TIMING = 1u << 3, /**< events carry time */
  HAL_FEATURE_PRIORITIES = 1u << 4,
  HAL_FEATURE_PINNED = 1u << 5,
  HAL_FEATURE_MANAGED = 1u << 6,
  HAL_FEATURE_PEER = 1u << 7,
  HAL_FEATURE_HUGE_PAGES = 1u << 8
};

/** Bits of `hal_device_description::types`; hal::NumericType has the same order. */
enum {
  HAL_TYPE_F64 = 1u << 0,
  HAL_TYPE_F32 = 1u << 1,
  HAL_TYPE_F16 = 1u << 2,
  HAL_TYPE_BF16 = 1u << 3,
  HAL_TYPE_FP8 = 1u << 4,
  HAL_TYPE_I8 = 1u << 5,
  HAL_TYPE_I16 = 1u << 6,
  HAL_TYPE_I32 = 1u << 7,
  HAL_TYPE_I64 = 1u << 8,
  HAL_TYPE_BF16_MATRIX = 1u << 9,
  HAL_TYPE_I8_MATRIX = 1u << 10,
  HAL_TYPE_F16_MATRIX = 1u << 11
};

/** A number no driver told: never made up. */
#define HAL_UNKNOWN UINT64_MAX

/** What a device is. Numbers start as HAL_UNKNOWN and texts as "" (unknown): fill what you know. */
typedef struct hal_device_description {
  size_t struct_size;
  char name[128];
  char architecture[64];
  char pci_address[32];
  char driver_version[64];
  uint64_t numa_node;
  uint64_t memory_total_bytes;
  uint64_t compute_units;
  uint64_t clock_max_khz;
  uint64_t subgroup_width;
  uint64_t max_threads_per_block;
  uint64_t max_block_x, max_block_y, max_block_z;
  uint64_t max_grid_x, max_grid_y, max_grid_z;
  uint64_t shared_memory_per_block_bytes;
  uint64_t registers_per_block;
  uint64_t cache_bytes; /**< last-level cache */
  uint64_t memory_alignment_bytes;
  uint32_t features;
  uint32_t types;
  uint64_t memory_free_bytes; /**< now, if it can be told without opening the device */
} hal_device_description;

/* ---- what a backend is asked to do --------------------------------------------------------- */

enum {
  HAL_MEMORY_DEVICE = 0,
  HAL_MEMORY_PINNED = 1, /**< host memory the device can reach; copies from it are asynchronous */
  HAL_MEMORY_MANAGED = 2
};

typedef struct hal_allocation {
  size_t struct_size;
  size_t bytes;       /**< > 0 */
  size_t alignment;   /**< power of two */
  int32_t kind;       /**< HAL_MEMORY_* */
  int32_t huge_pages; /**< a wish, not a duty */
} hal_allocation;

/** Where the two ends of a copy live. */
enum { HAL_PLACE_HOST = 0, HAL_PLACE_DEVICE = 1, HAL_PLACE_PEER = 2 };

/** A box of bytes. 1-D: height = depth = 1. A row is `width` bytes; rows lie `pitch` bytes apart,
 *  planes `slice` bytes. No element of source and destination overlaps. width*height*depth > 0. */
typedef struct hal_copy {
  size_t struct_size;
  void* destination;
  const void* source;
  size_t width, height, depth;
  size_t destination_pitch, destination_slice;
  size_t source_pitch, source_slice;
  int32_t destination_place, source_place; /**< HAL_PLACE_* */
  hal_device_handle peer; /**< the other device of this backend when an end is HAL_PLACE_PEER */
  hal_site site;
} hal_copy;

/** Repeats `pattern` (of pattern_bytes: 1, 2, 4, 8 or 16) over a box; width is a multiple of it. */
typedef struct hal_fill {
  size_t struct_size;
  void* destination;
  size_t width, height, depth;
  size_t pitch, slice;
  unsigned char pattern[16];
  size_t pattern_bytes;
  hal_site site;
} hal_fill;

/** An object of the caller that a piece of work carries. The backend moves it into its own storage
 *  with `relocate` (NULL: the bytes may be copied) before the enqueueing call returns, and calls
 *  `destroy` (NULL: nothing to do) on the moved one exactly once, whether the work ran, failed or
 * was dropped. The caller destroys its own, moved from or not. If the enqueueing call fails,
 * nothing was moved. */
typedef struct hal_closure {
  void* object;
  size_t size, alignment; /**< alignment <= 64 */
  void (*relocate)(void* to, void* from);
  void (*destroy)(void* object);
} hal_closure;

/** C++ code of the process over an index space. `run` is called for disjoint boxes [begin, end)
 * that cover [0, extent) in any order and on any threads; it returns a status and fills `failure`.
 */
typedef struct hal_host_launch {
  size_t struct_size;
  size_t extent[3]; /**< slowest first; unused dimensions are 1, none is 0 */
  size_t grain;     /**< fewest items worth a task of their own, >= 1 */
  hal_closure body;
  hal_status (*run)(void* object, const size_t begin[3], const size_t end[3], hal_failure* failure);
  hal_site site;
} hal_host_launch;

/** A function the stream calls once in its order. */
typedef struct hal_host_function {
  size_t struct_size;
  hal_closure body;
  hal_status (*run)(void* object, hal_failure* failure);
  hal_site site;
} hal_host_function;

enum { HAL_EVENT_TIMING = 1u };

/* ---- what the core offers a backend -------------------------------------------------------- */

enum { HAL_LOG_ERROR = 0, HAL_LOG_WARNING = 1, HAL_LOG_INFO = 2, HAL_LOG_DEBUG = 3 };

/** What `hal_span::kind` says; hal::trace::Kind has the same values. */
enum {
  HAL_SPAN_LAUNCH = 0,
  HAL_SPAN_COPY = 1,
  HAL_SPAN_FILL = 2,
  HAL_SPAN_HOST_FUNCTION = 3,
  HAL_SPAN_RECORD = 4,
  HAL_SPAN_WAIT = 5
};

/** A piece of work that ran on a device, for tracing. Times are CLOCK_MONOTONIC nanoseconds. */
typedef struct hal_span {
  size_t struct_size;
  int32_t kind;
  int32_t device_index;
  uint64_t stream;
  uint64_t sequence;
  uint64_t begin_ns, end_ns;
  uint64_t bytes; /**< of copies and fills */
  hal_site site;
} hal_span;

/** Services of the core; valid for the life of the process. */
typedef struct hal_services {
  size_t struct_size;
  void (*log)(int32_t level, const char* message);
  /** The value of a `HAL_*` variable as text, or NULL if the core knows no such variable. */
  const char* (*config)(const char* name);
  /** Not 0 while somebody traces: only then build spans. */
  int32_t (*tracing)(void);
  void (*trace)(const char* backend, const hal_span* span);
} hal_services;

/* ---- the table ----------------------------------------------------------------------------- */

typedef struct hal_backend {
  size_t struct_size;
  uint32_t abi_major, abi_minor;
  const char* name;        /**< REQUIRED. The part of a device id before ':', [a-z][a-z0-9_]* */
  const char* description; /**< REQUIRED. "Host CPU (oneTBB)" */

  /** REQUIRED. Fills *probe. Creates no context and starts no driver: the process may fork after.
   */
  void (*probe)(hal_probe* probe);
  /** REQUIRED. Number of devices, found as `probe` does; only called when available. */
  int32_t (*device_count)(void);
  /** REQUIRED. Describes a device without creating a context on it. */
  hal_status (*device_describe)(int32_t index, hal_device_description* out, hal_failure* failure);

  /** REQUIRED. Called once a device, before any of the following. */
  hal_status (*device_open)(int32_t index, hal_device_handle* out, hal_failure* failure);
  /** REQUIRED. All work is done. Objects of the device that are left (a program may still hold some
   *  when it calls hal::shutdown) are not used again: they go with the device. */
  void (*device_close)(hal_device_handle device);
  hal_status (*memory_info)(hal_device_handle device, size_t* free_bytes, size_t* total_bytes,
                            hal_failure* failure);

  /** REQUIRED. Kinds whose feature bit is not set are never asked for. */
  hal_status (*memory_allocate)(hal_device_handle device, const hal_allocation* request, void** out,
                                hal_failure* failure);
  /** REQUIRED. `request` is the one it was allocated with. No enqueued work uses the memory. */
  void (*memory_free)(hal_device_handle device, const hal_allocation* request, void* address);

  /** REQUIRED. `id` names the stream in spans and failures. Priority: 0 normal, < 0 more urgent. */
  hal_status (*stream_create)(hal_device_handle device, uint64_t id, int32_t priority,
                              hal_stream_handle* out, hal_failure* failure);
  /** REQUIRED. Does not wait; work already enqueued still runs. */
  void (*stream_destroy)(hal_stream_handle stream);
  /** REQUIRED. OK: all done. NOT_READY: not yet. Else the stream's first failure. Never waits. */
  hal_status (*stream_query)(hal_stream_handle stream, hal_failure* failure);
  /** REQUIRED. Waits for what is enqueued at the call. OK, TIMEOUT, or the stream's first failure.
   */
  hal_status (*stream_synchronize)(hal_stream_handle stream, int64_t timeout_ns,
                                   hal_failure* failure);
  /** Waits for the stream, then forgets its failure. NULL: failures of this backend are final. */
  hal_status (*stream_reset_error)(hal_stream_handle stream, hal_failure* failure);

  /** REQUIRED. */
  hal_status (*stream_copy)(hal_stream_handle stream, const hal_copy* copy, hal_failure* failure);
  /** REQUIRED. */
  hal_status (*stream_fill)(hal_stream_handle stream, const hal_fill* fill, hal_failure* failure);
  hal_status (*stream_launch_host)(hal_stream_handle stream, const hal_host_launch* launch,
                                   hal_failure* failure);
  hal_status (*stream_host_function)(hal_stream_handle stream, const hal_host_function* function,
                                     hal_failure* failure);

  /** REQUIRED. `flags`: HAL_EVENT_*. A new event counts as never recorded; the core tracks that. */
  hal_status (*event_create)(hal_device_handle device, uint32_t flags, hal_event_handle* out,
                             hal_failure* failure);
  /** REQUIRED. Does not wait; waits enqueued for it stay valid. */
  void (*event_destroy)(hal_event_handle event);
  /** REQUIRED. Moves the event to this point of the stream. */
  hal_status (*stream_record)(hal_stream_handle stream, hal_event_handle event,
                              hal_failure* failure);
  /** REQUIRED. Later work of the stream waits for the event's latest record at the time of the
   * call, and fails with its cause if that failed. Both belong to this backend. */
  hal_status (*stream_wait)(hal_stream_handle stream, hal_event_handle event, hal_failure* failure);
  /** REQUIRED. As stream_query, for the latest record. */
  hal_status (*event_query)(hal_event_handle event, hal_failure* failure);
  /** REQUIRED. As stream_synchronize, for the latest record. */
  hal_status (*event_synchronize)(hal_event_handle event, int64_t timeout_ns, hal_failure* failure);
  /** Milliseconds from `begin` to `end`, both recorded, complete and with timing. */
  hal_status (*event_elapsed)(hal_event_handle begin, hal_event_handle end, double* milliseconds,
                              hal_failure* failure);

  /** Whether `device` can reach memory of `peer`, both of this backend. */
  int32_t (*peer_accessible)(hal_device_handle device, hal_device_handle peer);
  hal_status (*peer_enable)(hal_device_handle device, hal_device_handle peer, hal_failure* failure);

  /** The process ends: finish or await what runs, drop what is queued, start nothing, never block
   *  for long. Called at most once, before any device_close, and not followed by one at exit. */
  void (*quiesce)(void);
} hal_backend;

/** What the core tells a plug-in when it asks for its table. */
typedef struct hal_backend_request {
  size_t struct_size;
  uint32_t abi_major, abi_minor;
  const hal_services* services;
} hal_backend_request;

/** The one function a plug-in exports. Returns a table that lives as long as the process, or NULL
 *  with `failure->message` saying why. */
typedef const hal_backend* (*hal_backend_entry_function)(const hal_backend_request* request,
                                                         hal_failure* failure);
#define HAL_BACKEND_ENTRY_NAME "hal_backend_entry"

#ifdef __cplusplus
}
#endif

#endif /* HAL_BACKEND_H */
