// SPDX-License-Identifier: Apache-2.0
#include "command_queue.hpp"

#include <mutex>

namespace hal::host {

ChunkPool::~ChunkPool() {
  while (free_ != nullptr)
    delete std::exchange(free_, free_->next_free);
}

Chunk* ChunkPool::take() noexcept {
  {
    const std::lock_guard guard(lock_);
    if (free_ != nullptr) {
      --kept_;
      return std::exchange(free_, free_->next_free);
    }
  }
  return new (std::nothrow) Chunk;
}

void ChunkPool::give(Chunk* chunk) noexcept {
  {
    const std::lock_guard guard(lock_);
    if (kept_ < most_kept) {
      ++kept_;
      chunk->next_free = std::exchange(free_, chunk);
      return;
    }
  }
  delete chunk;
}

CommandQueue::~CommandQueue() {
  while (front_ != nullptr) {
    front_->dispose();
    pop();
  }
  if (filling_ != nullptr) pool_.give(filling_);
}

void* CommandQueue::reserve(std::size_t bytes, std::size_t alignment) noexcept {
  std::size_t start = (filled_ + alignment - 1) & ~(alignment - 1);
  if (filling_ == nullptr || start + bytes > sizeof(Chunk::data)) {
    Chunk* fresh = pool_.take();
    if (fresh == nullptr) return nullptr;
    // A full chunk still holds commands; the drainer gives it back when it leaves it. An empty one
    // cannot be full, since `largest` fits.
    filling_ = fresh;
    start = 0;
  }
  filled_ = start;
  return filling_->data + start;
}

void CommandQueue::append(Command* command, std::size_t bytes) noexcept {
  command->chunk = filling_;
  filled_ += bytes;
  if (back_ == nullptr) {
    front_ = command;
  } else {
    back_->next.store(command, std::memory_order_release);
  }
  back_ = command;
}

void CommandQueue::advance(Command* next) noexcept {
  Chunk* left = front_->chunk;
  front_ = next;
  if (left != next->chunk) pool_.give(left);
}

bool CommandQueue::pop_if_followed() noexcept {
  Command* next = front_->next.load(std::memory_order_acquire);
  if (next == nullptr) return false;
  advance(next);
  return true;
}

void CommandQueue::pop() noexcept {
  if (pop_if_followed()) return;
  // Nothing is left in the chunk being filled: start it again while it is warm in the cache.
  if (front_->chunk != filling_) pool_.give(front_->chunk);
  front_ = back_ = nullptr;
  filled_ = 0;
}

}  // namespace hal::host
