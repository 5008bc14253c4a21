// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace hal_test {

struct Finished {
  int exit_status = -1;  ///< -1: ended by a signal
  std::string output;    ///< standard output and standard error
};

/// Runs the test case named or tagged `test` of this program in a process of its own, with
/// `environment` ("NAME=value", without single quotes) added: for what a process does only once.
inline Finished run_self(const std::string& test, const std::vector<std::string>& environment) {
  std::string command = "env";
  for (const std::string& entry : environment)
    command += " '" + entry + "'";
  command +=
      " '" + std::filesystem::read_symlink("/proc/self/exe").string() + "' '" + test + "' 2>&1";

  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  Finished finished;
  char piece[4096];
  for (std::size_t size = 0; (size = std::fread(piece, 1, sizeof piece, pipe)) > 0;) {
    finished.output.append(piece, size);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) finished.exit_status = WEXITSTATUS(status);
  return finished;
}

}  // namespace hal_test
