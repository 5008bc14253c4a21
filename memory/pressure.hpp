// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/allocator.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace hal::detail {

/// One callback, and the threads that are in it.
class PressureListener {
 public:
  explicit PressureListener(PressureCallback callback) noexcept;

  /// Calls it and logs what it throws. False if it has ended.
  bool call(std::size_t bytes);
  /// Returns when no other thread is in the callback; none will be any more.
  void end() noexcept;

 private:
  class Inside;

  std::mutex mutex_;
  std::condition_variable left_;
  PressureCallback callback_;
  int running_ = 0;
  bool ended_ = false;
};

/// Whom a pool asks for memory. Callbacks run without any lock.
class PressureListeners {
 public:
  [[nodiscard]] PressureSubscription add(PressureCallback callback);
  /// Calls them in the order in which they were added; none on a thread that is in one already, of
  /// any pool. Returns whether one was called.
  bool call(std::size_t bytes);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<PressureListener>> listeners_;
};

}  // namespace hal::detail
