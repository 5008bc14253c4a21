// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/error.hpp>

#include <exception>
#include <stdexcept>
#include <string>

namespace hal_test {

/// What became of `f()`: "ok", the name of the error's code, or "std::exception: ...".
template <typename F>
[[nodiscard]] std::string outcome(F&& f) {
  try {
    f();
    return "ok";
  } catch (const hal::Error& error) {
    return std::string(hal::name(error.code()));
  } catch (const std::exception& error) {
    return std::string("std::exception: ") + error.what();
  }
}

/// The error that `f()` throws.
template <typename F>
[[nodiscard]] hal::Error error_of(F&& f) {
  try {
    f();
  } catch (const hal::Error& error) {
    return error;
  }
  throw std::logic_error("no error was thrown where one had to be");
}

}  // namespace hal_test
