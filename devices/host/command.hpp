// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/backend.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hal::host {

class HostStream;
struct Chunk;

/// What `Command::run` returns beside a status: the stream is parked; run again when it is resumed.
inline constexpr hal_status blocked = -1;

/// One piece of work in a stream's queue. Lives in a chunk of the queue, never on its own: what it
/// owns is destroyed by `dispose`, its header goes with the chunk.
class Command {
 public:
  /// Runs on whatever thread drains the stream. A status other than OK is the stream's failure.
  virtual hal_status run(HostStream& stream, hal_failure& failure) = 0;
  /// Instead of `run` when the stream has failed before.
  virtual void skip(HostStream&) noexcept {}
  virtual void dispose() noexcept = 0;
  /// Kind, bytes and site.
  [[nodiscard]] virtual hal_span describe() const noexcept = 0;

  std::atomic<Command*> next{nullptr};
  Chunk* chunk = nullptr;
  std::uint64_t sequence = 0;

 protected:
  Command() = default;
  ~Command() = default;
};

}  // namespace hal::host
