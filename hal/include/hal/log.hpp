// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/export.hpp>

#include <functional>
#include <string_view>

namespace hal::log {

enum class Level { error = 0, warning = 1, info = 2, debug = 3, off = -1 };

[[nodiscard]] HAL_API std::string_view name(Level level) noexcept;

/// Receives each message, without a line end. May be called from any thread, never from two at
/// once.
using Sink = std::function<void(Level level, std::string_view message)>;

/// Replaces where messages go (standard error at first); an empty sink restores that. A sink that
/// throws loses the message.
HAL_API void set_sink(Sink sink);

/// Messages up to this level are passed on: `HAL_LOG` at first (`warning` when unset).
HAL_API void set_level(Level level) noexcept;
[[nodiscard]] HAL_API Level level() noexcept;

/// Passes a message on if its level is enabled. Never throws.
HAL_API void write(Level level, std::string_view message) noexcept;

}  // namespace hal::log
