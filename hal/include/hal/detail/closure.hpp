// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>
#include <hal/export.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

/// How C++ callables cross the C boundary of hal/backend.h. For HAL's own headers.
namespace hal::detail {

/// Copies a text into a fixed field, cut to fit between two characters of UTF-8, always terminated.
template <std::size_t Size>
void copy_text(char (&field)[Size], std::string_view text) noexcept {
  std::size_t length = std::min(text.size(), Size - 1);
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  if (length < text.size()) {
    while (length > 0 && continues(length))
      --length;
  }
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

/// An empty failure whose texts are terminated; the rest of them is left as it is, for speed.
inline void clear(hal_failure& failure) noexcept {
  failure.struct_size = sizeof(hal_failure);
  failure.has_vendor_code = 0;
  failure.has_origin = 0;
  failure.vendor_name[0] = '\0';
  failure.message[0] = '\0';
  failure.origin_operation[0] = '\0';
  failure.origin_location[0] = '\0';
  failure.origin_device[0] = '\0';
}

/// Fills `failure` from the exception being handled and returns its status.
HAL_API hal_status describe_current_exception(hal_failure* failure) noexcept;

/// Runs user code; an exception becomes the failure of the work.
template <typename F>
hal_status guarded(hal_failure* failure, F&& f) noexcept {
  try {
    f();
    return HAL_STATUS_OK;
  } catch (...) {
    return describe_current_exception(failure);
  }
}

/// Leaves the source moved from, for its owner to destroy.
template <typename T>
void relocate(void* to, void* from) {
  ::new (to) T(std::move(*static_cast<T*>(from)));
}

template <typename T>
void destroy(void* object) {
  static_cast<T*>(object)->~T();
}

/// An object on its way through the C boundary, where moving may not throw: what could throw when
/// moved travels by address.
template <typename T>
class Carried {
 public:
  static constexpr bool direct = std::is_nothrow_move_constructible_v<T> && alignof(T) <= 64;

  explicit Carried(T&& object) : held_(hold(std::move(object))) {}
  [[nodiscard]] T& get() noexcept {
    if constexpr (direct) {
      return held_;
    } else {
      return *held_;
    }
  }

 private:
  using Held = std::conditional_t<direct, T, std::unique_ptr<T>>;
  static Held hold(T&& object) {
    if constexpr (direct) {
      return std::move(object);
    } else {
      return std::make_unique<T>(std::move(object));
    }
  }
  Held held_;
};

/// A closure over `object`, which the caller must keep until the backend has moved it.
template <typename T>
hal_closure closure_of(Carried<T>& object) noexcept {
  using C = Carried<T>;
  return {&object, sizeof(C), alignof(C), std::is_trivially_copyable_v<C> ? nullptr : &relocate<C>,
          std::is_trivially_destructible_v<C> ? nullptr : &destroy<C>};
}

inline hal_site site_of(const std::source_location& where, const char* name) noexcept {
  return {where.file_name(), name, where.line()};
}

}  // namespace hal::detail
