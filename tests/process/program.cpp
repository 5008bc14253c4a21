// SPDX-License-Identifier: Apache-2.0
#include "process/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace process {
namespace {

using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::chrono::seconds patience(120);
#else
constexpr std::chrono::seconds patience(30);
#endif

class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  void reset() noexcept { *this = Descriptor(); }

 private:
  int number_;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The texts of a null-terminated `argv` or `environ`.
class TextArray {
 public:
  explicit TextArray(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_)
      pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char** data() noexcept { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_with(const Environment& additions) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("HAL_")) all.emplace_back(*entry);
  }
  for (const auto& [name, value] : additions)
    all.push_back(name + '=' + value);
  return all;
}

pid_t start(std::string_view scenario, const Environment& environment, const Pipe& out,
            const Pipe& err) {
  TextArray arguments({HAL_TEST_SCENARIOS, std::string(scenario)});
  TextArray variables(environment_with(environment));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), STDERR_FILENO);
  pid_t child = -1;
  const int problem = ::posix_spawn(&child, HAL_TEST_SCENARIOS, &actions, nullptr, arguments.data(),
                                    variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw std::system_error(problem, std::generic_category(), HAL_TEST_SCENARIOS);
  return child;
}

/// Appends what is there to read; false at the end.
bool drain(int descriptor, std::string& text) {
  std::array<char, 4096> chunk{};
  const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
  if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
  return count > 0;
}

/// Reads both texts until the program and whoever inherited its output are gone; false when that
/// takes too long.
bool collect(Pipe& out, Pipe& err, Result& result) {
  const auto deadline = Clock::now() + patience;
  while (out.read_end.get() >= 0 || err.read_end.get() >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> waiting{
        {{out.read_end.get(), POLLIN, 0}, {err.read_end.get(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) <= 0) continue;
    if (waiting[0].revents != 0 && !drain(out.read_end.get(), result.out)) out.read_end.reset();
    if (waiting[1].revents != 0 && !drain(err.read_end.get(), result.err)) err.read_end.reset();
  }
  return true;
}

}  // namespace

Result run(std::string_view scenario, const Environment& environment) {
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  const pid_t child = start(scenario, environment, out, err);
  out.write_end.reset();
  err.write_end.reset();

  Result result;
  result.hung = !collect(out, err, result);
  if (result.hung) ::kill(child, SIGKILL);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) {
    throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

std::string describe(const Result& result) {
  std::string text = result.hung          ? "killed, since it hung"
                     : result.signal != 0 ? "ended by signal " + std::to_string(result.signal)
                                          : "exit status " + std::to_string(result.status);
  return text + "\nstandard output: " + result.out + "\nstandard error: " + result.err;
}

}  // namespace process
