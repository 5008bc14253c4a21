// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/outcome.hpp"

#include <hal/hal.hpp>

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Programs in miniature, each run in a process of its own. What one prints is what its test looks
/// at.
namespace process {

struct Scenario {
  std::string_view name;
  int (*run)();  ///< returns the exit status
};

[[nodiscard]] std::span<const Scenario> fork_scenarios();
[[nodiscard]] std::span<const Scenario> shutdown_scenarios();
[[nodiscard]] std::span<const Scenario> exit_scenarios();
[[nodiscard]] std::span<const Scenario> settings_scenarios();
[[nodiscard]] std::span<const Scenario> cores_scenarios();

/// What a scenario answers when this machine does not let it be tried.
inline constexpr int cannot_be_tried = 77;

/// Writes a line at once, past all buffers, from any thread and at any stage of the process's end.
void say(std::string_view line);

using hal_test::outcome;

/// A started device with one of everything on it.
struct Everything {
  hal::Device device = hal::device("host:0");
  hal::Stream stream = device.create_stream();
  hal::Event event = device.create_event();
  hal::TypedBuffer<int> buffer = device.allocate<int>(1000, stream);
};

/// Uses all of it: fills, records, waits and reads. Says whether what comes back is right.
[[nodiscard]] bool works(const Everything& all, int value);

/// Says what each call that may use a device answers, one line a call.
void say_what_calls_answer(const Everything& all);

/// Holds a stream up until it is opened. Keeps nothing of the process alive.
class Gate {
 public:
  explicit Gate(const hal::Stream& stream);
  void open() noexcept;
  void wait_until_reached() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace process
