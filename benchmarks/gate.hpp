// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

namespace bench {

/// Holds a queue: the work behind a `pass()` waits until the gate is opened. The holder sleeps, so
/// that it takes no core from the thread that is measured.
class Gate {
 public:
  /// The piece of work to put into the queue.
  [[nodiscard]] auto pass() const {
    return [state = state_] {
      state->reached = true;
      state->reached.notify_all();
      state->open.wait(false);
    };
  }
  void await_holder() const { state_->reached.wait(false); }
  void open() const {
    state_->open = true;
    state_->open.notify_all();
  }

 private:
  struct State {
    std::atomic<bool> reached = false;
    std::atomic<bool> open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace bench
