// SPDX-License-Identifier: Apache-2.0
#include "devices/host/command_queue.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <deque>
#include <new>
#include <vector>

using hal::host::Chunk;
using hal::host::ChunkPool;
using hal::host::Command;
using hal::host::CommandQueue;
using hal::host::HostStream;

namespace {

/// Notes its number when it is disposed of.
class Numbered final : public Command {
 public:
  Numbered(int number, std::vector<int>& disposed) : number_(number), disposed_(disposed) {}
  hal_status run(HostStream&, hal_failure&) override { return HAL_STATUS_OK; }
  void dispose() noexcept override { disposed_.push_back(number_); }
  [[nodiscard]] hal_span describe() const noexcept override { return {}; }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
  std::vector<int>& disposed_;
};

void append(CommandQueue& queue, int number, std::vector<int>& disposed,
            std::size_t bytes = sizeof(Numbered), std::size_t alignment = alignof(Numbered)) {
  void* room = queue.reserve(bytes, alignment);
  REQUIRE(room != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(room) % alignment == 0);
  queue.append(new (room) Numbered(number, disposed), bytes);
}

int front(const CommandQueue& queue) { return static_cast<Numbered&>(*queue.front()).number(); }

}  // namespace

TEST_CASE("commands come out in the order they went in, across many chunks") {
  ChunkPool pool;
  std::vector<int> disposed;
  CommandQueue queue(pool);
  std::deque<int> expected;
  int next = 0;
  // Rises and falls, so that the queue is emptied, refilled, and long in between.
  for (int round = 1; round <= 40; ++round) {
    for (int i = 0; i < round * 37; ++i) {
      append(queue, next, disposed, sizeof(Numbered) + static_cast<std::size_t>(next % 9) * 24);
      expected.push_back(next++);
    }
    const std::size_t taken = round % 4 == 0 ? expected.size() : expected.size() / 2;
    for (std::size_t i = 0; i < taken; ++i) {
      REQUIRE(front(queue) == expected.front());
      expected.pop_front();
      if (!queue.pop_if_followed()) queue.pop();
    }
    REQUIRE(queue.empty() == expected.empty());
  }
}

TEST_CASE("a command is laid out as aligned and as large as it asks") {
  ChunkPool pool;
  std::vector<int> disposed;
  CommandQueue queue(pool);
  for (int i = 0; i < 200; ++i) {
    append(queue, i, disposed, i % 3 == 0 ? CommandQueue::largest : sizeof(Numbered), 64);
    append(queue, i, disposed, sizeof(Numbered) + 8, 8);
  }
}

TEST_CASE("a queue that ends disposes of what is left, in order") {
  ChunkPool pool;
  std::vector<int> disposed;
  {
    CommandQueue queue(pool);
    for (int i = 0; i < 2000; ++i)
      append(queue, i, disposed);
    CHECK(disposed.empty());
  }
  REQUIRE(disposed.size() == 2000);
  CHECK(disposed.front() == 0);
  CHECK(disposed.back() == 1999);
}

TEST_CASE("popping without the lock leaves the last command to the lock") {
  ChunkPool pool;
  std::vector<int> disposed;
  CommandQueue queue(pool);
  append(queue, 1, disposed);
  CHECK_FALSE(queue.pop_if_followed());
  append(queue, 2, disposed);
  CHECK(queue.pop_if_followed());
  CHECK(front(queue) == 2);
  CHECK_FALSE(queue.pop_if_followed());
  queue.pop();
  CHECK(queue.empty());
}

TEST_CASE("a steady flow of commands takes no new chunk") {
  ChunkPool pool;
  std::vector<int> disposed;
  CommandQueue queue(pool);
  append(queue, 0, disposed);
  const Chunk* const first = queue.front()->chunk;
  for (int i = 1; i < 10000; ++i) {
    queue.pop();
    append(queue, i, disposed);
    REQUIRE(queue.front()->chunk == first);
  }
}
