// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hal {

/// What kind of failure an `Error` is. Small and closed, so that a caller can switch over it; what
/// the vendor said stands in `Error::vendor_code()`.
enum class Errc : std::int32_t {
  invalid_argument = 1,  ///< The call can never succeed as written.
  invalid_state = 2,     ///< The call is right, but not now: after a fork, a shutdown, a failure.
  out_of_memory = 3,     ///< The device or the host has not enough memory, or a limit was reached.
  unsupported = 4,       ///< This device or backend does not offer the operation.
  not_found = 5,         ///< A device, file or symbol with that name does not exist.
  device_lost = 6,       ///< The device's context is gone; only a new process can use it again.
  timeout = 7,           ///< The time given to a wait was over before the work was done.
  launch_failed = 8,     ///< A kernel or host function failed while it ran.
  compile_failed = 9,    ///< Source text could not be compiled.
  io = 10,               ///< A file could not be read or written.
  internal = 11,         ///< A defect in HAL or a backend; please report it.
};

/// The enumerator's own name, "invalid_argument".
[[nodiscard]] HAL_API std::string_view name(Errc code) noexcept;

/// Why a backend or one of its devices cannot be used.
enum class Reason : std::int32_t {
  none = 0,
  library_absent = 1,
  dependency_missing = 2,
  library_stub = 3,
  abi_mismatch = 4,
  symbol_missing = 5,
  no_device = 6,
  no_device_node = 7,
  permission = 8,
  driver_too_old = 9,
  user_kernel_mismatch = 10,
  arch_unsupported = 11,
  filtered_by_env = 12,
  device_lost = 13,
  init_failed = 14,
  crashed = 15,       ///< A plug-in ended the process that probed it.
  not_a_plugin = 16,  ///< The file named is not a HAL plug-in.
  not_driven = 17,    ///< The driver is there, but this version of HAL cannot drive it yet.
};

/// The enumerator's own name, "library_absent".
[[nodiscard]] HAL_API std::string_view name(Reason reason) noexcept;

/// What a person can do about it, one sentence without its full stop.
[[nodiscard]] HAL_API std::string_view advice(Reason reason) noexcept;

/// The piece of enqueued work that failed, where a failure is found later than it happened.
struct Origin {
  std::string operation;     ///< "launch", "copy", "host function", ... with its name if it has one
  std::string location;      ///< "saxpy.cpp:31" of the call that enqueued it, or empty
  std::string device;        ///< "host:0"
  std::uint64_t stream = 0;  ///< id of the stream it ran on
  std::uint64_t sequence = 0;  ///< its position on that stream, counted from 1
};

/// Everything known about a failure. `message` is one sentence that says what to do.
struct ErrorDetails {
  Errc code = Errc::internal;
  std::string operation;  ///< the HAL operation, "Stream::copy"
  std::string device;     ///< "host:0", or empty
  std::string message;
  std::optional<std::int64_t> vendor_code;  ///< the driver's own code
  std::string vendor_name;                  ///< the driver's own name for it
  std::optional<Origin> origin;             ///< set when the failure is asynchronous
};

/// The one exception type HAL throws. Cheap to copy; copies share their details.
class HAL_API Error : public std::exception {
 public:
  explicit Error(ErrorDetails details);
  Error(Errc code, std::string operation, std::string message, std::string device = {});
  // Declared so that there is no moving: an error that was moved from would have no text.
  Error(const Error&) noexcept = default;
  Error& operator=(const Error&) noexcept = default;
  ~Error() override = default;

  [[nodiscard]] Errc code() const noexcept;
  [[nodiscard]] const std::string& operation() const noexcept;
  [[nodiscard]] const std::string& device() const noexcept;
  [[nodiscard]] const std::string& message() const noexcept;
  [[nodiscard]] std::optional<std::int64_t> vendor_code() const noexcept;
  [[nodiscard]] const std::string& vendor_name() const noexcept;
  [[nodiscard]] const std::optional<Origin>& origin() const noexcept;
  [[nodiscard]] const ErrorDetails& details() const noexcept;

  /// All of it in one line: "Stream::synchronize on host:0: launch_failed: ...".
  [[nodiscard]] const char* what() const noexcept override;

 private:
  struct Shared;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace hal
