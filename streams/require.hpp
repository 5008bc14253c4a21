// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spi/stream_state.hpp"

#include <hal/stream.hpp>

namespace hal::detail {

/// The stream's state; throws `invalid_state` for one made by default.
[[nodiscard]] StreamState& require(const Stream& stream, const char* operation);

/// To be called after each piece of work was given to the backend: counts it, and waits for it with
/// `HAL_SYNC`.
void note_enqueued(StreamState& stream, const char* operation);

}  // namespace hal::detail
