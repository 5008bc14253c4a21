// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pressure.hpp"
#include "upstream.hpp"

#include <hal/allocator.hpp>
#include <hal/error.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace hal::memory {

/// A stream-ordered pool of whole blocks of one memory kind. A block given back waits on the shelf
/// of its shape (size class, alignment, huge pages) for the next request of that shape: one of the
/// same stream at once, if that was the only one to use it, any other once its uses are reached.
///
/// Streams are told apart by the address of their state. It cannot be another stream's, since a
/// block on a stream's list holds that stream.
class SizeClassPool final : public Allocator {
 public:
  /// `kind` is one of HAL_MEMORY_*; `granule`, a power of two, is the alignment of every block and
  /// what sizes are a multiple of; `limit` as `set_limit`. `upstream` outlives the pool.
  SizeClassPool(Upstream& upstream, std::int32_t kind, std::size_t granule, std::size_t limit);
  /// Gives everything back, also what is still allocated. No work may be using it.
  ~SizeClassPool() override;

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment,
                               const std::shared_ptr<detail::StreamState>& stream) override;
  /// The same memory, in huge pages where the device has them.
  [[nodiscard]] void* allocate_huge(std::size_t bytes, std::size_t alignment,
                                    const std::shared_ptr<detail::StreamState>& stream);
  void release(void* address, std::span<const detail::StreamPoint> uses) override;

  [[nodiscard]] AllocatorStatistics statistics() const override;
  void reset_peaks() override;
  [[nodiscard]] std::vector<MemoryBlock> snapshot() const override;
  [[nodiscard]] std::size_t limit() const override;
  void set_limit(std::size_t bytes) override;
  [[nodiscard]] PressureSubscription on_pressure(PressureCallback callback) override;
  std::size_t trim() override;

 private:
  struct Block;
  using List = std::list<Block*>;
  using Uses = std::vector<detail::StreamPoint>;

  struct Block {
    hal_allocation request{};
    void* address = nullptr;
    bool live = true;
    std::size_t requested = 0;  ///< by the buffer that has it
    std::uint64_t stream = 0;   ///< id of the stream it was last handed out to
    std::uint64_t stamp = 0;    ///< when it was given back; no two are the same
    Uses uses;                  ///< to be reached before any stream may have it
    List* list = nullptr;
    List::iterator position;  ///< its node, which moves between lists with it
  };
  using Blocks = std::unordered_map<void*, Block>;

  struct Shape {
    std::size_t bytes;
    std::size_t alignment;
    bool huge_pages;
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  struct ShapeHash {
    std::size_t operator()(const Shape& shape) const noexcept;
  };
  /// Cached blocks of one shape; lists are in the order of release.
  struct Shelf {
    List ready;                                                    ///< for anybody
    std::unordered_map<const detail::StreamState*, List> waiting;  ///< null: for several streams
  };

  /// A cached block as it was when its uses were copied, to ask about them without the lock.
  struct Snapshot {
    void* address;
    std::uint64_t stamp;
    Uses uses;
  };
  /// What a request is and how far it has come.
  struct Request {
    std::size_t bytes;  ///< as asked for
    hal_allocation upstream;
    const detail::StreamState* stream;
    std::uint64_t stream_id;
  };

  [[nodiscard]] Request make_request(std::size_t bytes, std::size_t alignment, bool huge_pages,
                                     const detail::StreamState* stream) const;
  [[nodiscard]] void* allocate(const Request& request);
  [[nodiscard]] void* reuse(const Request& request);
  [[nodiscard]] void* make_room(const Request& request);
  [[nodiscard]] void* grow(const Request& request, std::optional<Error>& refusal);
  [[nodiscard]] void* reserve(const hal_allocation& request);
  [[nodiscard]] std::size_t give_back_idle();
  [[nodiscard]] bool wait_for_next(std::uint64_t& waited, std::uint64_t newest);
  [[nodiscard]] bool others_made_room(std::int64_t releases_seen);
  [[nodiscard]] bool all_reached(const Uses& uses) noexcept;
  [[nodiscard]] Error full(const Request& request, const Error* refusal) const;

  // All of these need the lock.
  void adopt(const Request& request, void* address);
  [[nodiscard]] Blocks::node_type take_out(Block& block) noexcept;
  [[nodiscard]] void* hand_out(Block& block, const Request& request) noexcept;
  [[nodiscard]] Block* cached_block(const Snapshot& snapshot) noexcept;
  [[nodiscard]] std::vector<Snapshot> oldest_waiting(Shelf& shelf,
                                                     const detail::StreamState* except);
  [[nodiscard]] bool within_limit(std::size_t bytes) const noexcept;
  void move_to(Block& block, List& list) noexcept;

  Upstream& upstream_;
  const std::int32_t kind_;
  const std::size_t granule_;
  detail::PressureListeners listeners_;

  mutable std::mutex mutex_;
  std::condition_variable call_ended_;
  int calls_in_flight_ = 0;    ///< threads that are reserving or releasing upstream
  std::size_t reserving_ = 0;  ///< bytes being asked for, part of the limit
  std::size_t limit_;
  std::uint64_t last_stamp_ = 0;
  AllocatorStatistics statistics_;
  Blocks blocks_;
  List live_;
  std::unordered_map<Shape, Shelf, ShapeHash> shelves_;
};

}  // namespace hal::memory
