// SPDX-License-Identifier: Apache-2.0
#include <hal/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace hal {
namespace {

std::string_view ordinal_suffix(std::uint64_t number) noexcept {
  if (number / 10 % 10 == 1) return "th";  // 11th, 112th
  switch (number % 10) {
    case 1:
      return "st";
    case 2:
      return "nd";
    case 3:
      return "rd";
    default:
      return "th";
  }
}

void append_vendor(std::string& text, const ErrorDetails& details) {
  if (details.vendor_name.empty() && !details.vendor_code) return;
  text += " [driver: ";
  text += details.vendor_name.empty() ? std::to_string(*details.vendor_code) : details.vendor_name;
  if (!details.vendor_name.empty() && details.vendor_code) {
    fmt::format_to(std::back_inserter(text), " ({})", *details.vendor_code);
  }
  text += ']';
}

void append_origin(std::string& text, const Origin& origin) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, " ({}", origin.operation.empty() ? "work" : origin.operation);
  if (!origin.location.empty()) fmt::format_to(out, " enqueued at {}", origin.location);
  fmt::format_to(out, ", the {}{} piece of work on stream {}", origin.sequence,
                 ordinal_suffix(origin.sequence), origin.stream);
  if (!origin.device.empty()) fmt::format_to(out, " of {}", origin.device);
  text += ')';
}

std::string one_line(const ErrorDetails& details) {
  std::string text = details.operation;
  if (!details.device.empty()) text += (text.empty() ? "on " : " on ") + details.device;
  if (!text.empty()) text += ": ";
  fmt::format_to(std::back_inserter(text), "{}: {}", name(details.code), details.message);
  append_vendor(text, details);
  if (details.origin) append_origin(text, *details.origin);
  return text;
}

struct Advice {
  Reason reason;
  std::string_view text;
};

constexpr Advice advices[] = {
    {Reason::none, "nothing to do: it can be used"},
    {Reason::library_absent,
     "install the vendor's driver, or name its library in the backend's HAL_*_DRIVER variable"},
    {Reason::dependency_missing,
     "install the library named in the detail, which the driver's own library needs"},
    {Reason::library_stub,
     "take the folder of link-time stubs out of LD_LIBRARY_PATH and install the real driver"},
    {Reason::abi_mismatch, "rebuild the plug-in against this version of HAL, or update HAL"},
    {Reason::symbol_missing, "update the driver: its library lacks a function that HAL needs"},
    {Reason::no_device, "check that the device is fitted and powered, with lspci for instance"},
    {Reason::no_device_node,
     "load the driver's kernel module; in a container, pass the device's files in /dev to it"},
    {Reason::permission,
     "add your user to the group that owns the device's files in /dev, then log in again"},
    {Reason::driver_too_old, "update the driver to the version named in the detail, or later"},
    {Reason::user_kernel_mismatch,
     "restart the machine: the driver's library and its kernel module are of different versions"},
    {Reason::arch_unsupported, "use another device: this HAL or its driver does not know this one"},
    {Reason::filtered_by_env,
     "change or unset the environment variable named in the detail, which hides the devices"},
    {Reason::device_lost, "restart the program; if that does not help, reset the device"},
    {Reason::init_failed,
     "look up the driver's code and text in its documentation and in the kernel log (dmesg)"},
    {Reason::crashed, "remove the plug-in from HAL_PLUGINS and report the crash to its author"},
    {Reason::not_a_plugin,
     "remove the file from HAL_PLUGINS, or name a shared object that exports hal_backend_entry"},
    {Reason::not_driven, "use another device, or a later version of HAL that drives this one"},
};

}  // namespace

std::string_view advice(Reason reason) noexcept {
  for (const Advice& entry : advices) {
    if (entry.reason == reason) return entry.text;
  }
  return "update HAL: its backend gave a reason that this version does not know";
}

struct Error::Shared {
  ErrorDetails details;
  std::string what;
};

Error::Error(ErrorDetails details) {
  std::string what = one_line(details);
  shared_ = std::make_shared<const Shared>(Shared{std::move(details), std::move(what)});
}

Error::Error(Errc code, std::string operation, std::string message, std::string device)
    : Error(ErrorDetails{.code = code,
                         .operation = std::move(operation),
                         .device = std::move(device),
                         .message = std::move(message),
                         .vendor_code = {},
                         .vendor_name = {},
                         .origin = {}}) {}

Errc Error::code() const noexcept { return details().code; }
const std::string& Error::operation() const noexcept { return details().operation; }
const std::string& Error::device() const noexcept { return details().device; }
const std::string& Error::message() const noexcept { return details().message; }
std::optional<std::int64_t> Error::vendor_code() const noexcept { return details().vendor_code; }
const std::string& Error::vendor_name() const noexcept { return details().vendor_name; }
const std::optional<Origin>& Error::origin() const noexcept { return details().origin; }
const ErrorDetails& Error::details() const noexcept { return shared_->details; }
const char* Error::what() const noexcept { return shared_->what.c_str(); }

}  // namespace hal
