// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "spin_lock.hpp"

#include <cstddef>
#include <new>
#include <utility>

namespace hal::host {

/// A piece of memory that commands are laid into one after the other.
struct alignas(64) Chunk {
  static constexpr std::size_t size = std::size_t{64} * 1024;

  Chunk* next_free = nullptr;
  alignas(64) std::byte data[size - 64];
};
static_assert(sizeof(Chunk) == Chunk::size);

/// Chunks kept for reuse by all streams of a device, so that a steady flow of work takes no memory
/// from the system.
class ChunkPool {
 public:
  ChunkPool() = default;
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  /// Null when there is no memory.
  [[nodiscard]] Chunk* take() noexcept;
  void give(Chunk* chunk) noexcept;

 private:
  static constexpr int most_kept = 64;
  SpinLock lock_;
  Chunk* free_ = nullptr;
  int kept_ = 0;
};

/// The commands of one stream, first in, first out. The stream's lock guards everything but the
/// links between commands, which the thread that drains the stream follows without it.
class CommandQueue {
 public:
  explicit CommandQueue(ChunkPool& pool) noexcept : pool_(pool) {}
  ~CommandQueue();
  CommandQueue(const CommandQueue&) = delete;
  CommandQueue& operator=(const CommandQueue&) = delete;

  /// Room for a command, valid until the next call; null when there is no memory. `bytes` and
  /// `alignment` are at most `largest` and 64.
  static constexpr std::size_t largest = 8192;
  [[nodiscard]] void* reserve(std::size_t bytes, std::size_t alignment) noexcept;
  /// Appends the command made in the room reserved last.
  void append(Command* command, std::size_t bytes) noexcept;

  [[nodiscard]] Command* front() const noexcept { return front_; }
  [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }

  /// Removes the front without the lock if another command follows it; then true.
  bool pop_if_followed() noexcept;
  /// Removes the front, whether or not another follows. Needs the lock.
  void pop() noexcept;

 private:
  void advance(Command* next) noexcept;

  ChunkPool& pool_;
  Command* front_ = nullptr;  // the drainer's
  Command* back_ = nullptr;   // the enqueuers'
  Chunk* filling_ = nullptr;
  std::size_t filled_ = 0;
};

}  // namespace hal::host
