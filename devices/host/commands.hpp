// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "ref.hpp"
#include "signal.hpp"

#include <hal/backend.h>

#include <cstddef>

namespace hal::host {

class HostStream;

/// The caller's object that a command carries: beside the command in the queue, or, when it is
/// large, in memory of its own.
class Payload {
 public:
  static constexpr std::size_t largest_inline = 4096;

  /// Moves the closure's object to `room` (null: to memory of its own). Throws nothing; `bad` says
  /// that there was no memory.
  Payload(const hal_closure& closure, void* room) noexcept;

  [[nodiscard]] bool bad() const noexcept { return object_ == nullptr; }
  [[nodiscard]] void* object() const noexcept { return object_; }
  void destroy() noexcept;

 private:
  void* object_;
  void (*destroy_)(void*);
  std::size_t own_alignment_ = 0;  // 0: inline
};

class LaunchCommand final : public Command {
 public:
  LaunchCommand(const hal_host_launch& launch, void* room) noexcept;
  [[nodiscard]] bool bad() const noexcept { return payload_.bad(); }

  hal_status run(HostStream& stream, hal_failure& failure) override;
  void dispose() noexcept override { payload_.destroy(); }
  [[nodiscard]] hal_span describe() const noexcept override;

 private:
  std::size_t extent_[3];
  std::size_t grain_;
  hal_status (*run_)(void*, const std::size_t[3], const std::size_t[3], hal_failure*);
  Payload payload_;
  hal_site site_;
};

class FunctionCommand final : public Command {
 public:
  FunctionCommand(const hal_host_function& function, void* room) noexcept;
  [[nodiscard]] bool bad() const noexcept { return payload_.bad(); }

  hal_status run(HostStream& stream, hal_failure& failure) override;
  void dispose() noexcept override { payload_.destroy(); }
  [[nodiscard]] hal_span describe() const noexcept override;

 private:
  hal_status (*run_)(void*, hal_failure*);
  Payload payload_;
  hal_site site_;
};

class CopyCommand final : public Command {
 public:
  explicit CopyCommand(const hal_copy& copy) noexcept : copy_(copy) {}
  hal_status run(HostStream& stream, hal_failure& failure) override;
  void dispose() noexcept override {}
  [[nodiscard]] hal_span describe() const noexcept override;

 private:
  hal_copy copy_;
};

class FillCommand final : public Command {
 public:
  explicit FillCommand(const hal_fill& fill) noexcept : fill_(fill) {}
  hal_status run(HostStream& stream, hal_failure& failure) override;
  void dispose() noexcept override {}
  [[nodiscard]] hal_span describe() const noexcept override;

 private:
  hal_fill fill_;
};

class RecordCommand final : public Command {
 public:
  RecordCommand(Ref<Signal> signal, const hal_site& site) noexcept
      : signal_(std::move(signal)), site_(site) {}
  hal_status run(HostStream& stream, hal_failure& failure) override;
  void skip(HostStream& stream) noexcept override;
  void dispose() noexcept override { signal_ = {}; }
  [[nodiscard]] hal_span describe() const noexcept override;

 private:
  Ref<Signal> signal_;
  hal_site site_;
};

class WaitCommand final : public Command {
 public:
  WaitCommand(Ref<Signal> signal, const hal_site& site) noexcept
      : signal_(std::move(signal)), site_(site) {}
  hal_status run(HostStream& stream, hal_failure& failure) override;
  void dispose() noexcept override { signal_ = {}; }
  [[nodiscard]] hal_span describe() const noexcept override;

  HostStream* parked_stream = nullptr;  // the signal's, with a reference
  WaitCommand* next_waiter = nullptr;   // the signal's

 private:
  Ref<Signal> signal_;
  hal_site site_;
};

}  // namespace hal::host
