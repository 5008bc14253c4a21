// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>

#include <span>

namespace hal::spi {

/// The entry function of each backend compiled in, in the order devices are preferred. Defined in
/// devices/builtin.cpp: one explicit list, since static linking drops what registers itself.
[[nodiscard]] std::span<const hal_backend_entry_function> builtin_backends() noexcept;

/// What the core offers backends.
[[nodiscard]] const hal_services& services() noexcept;

}  // namespace hal::spi
