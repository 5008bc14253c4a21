// SPDX-License-Identifier: Apache-2.0
// How long `halinfo list` takes from start to end, beside a program that does nothing.

#include "pairs.hpp"
#include "program.hpp"
#include "results.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <vector>

namespace bench {
namespace {

/// Runs a program with nowhere to write and throws unless it succeeds.
void run_program_once(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), argv[0]);

  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, arguments[0] + " failed");
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("Wall time of `halinfo list`");
  std::string halinfo;
  int rounds = 40;
  std::string output;
  app.add_option("--halinfo", halinfo, "The program")->required()->check(CLI::ExistingFile);
  app.add_option("--rounds", rounds, "How often to run it")->check(CLI::PositiveNumber);
  app.add_option("--json", output, "Write the figures to this file");
  return bench::run_program(app, argc, argv, [&] {
    bench::Results results(output);
    const std::vector<bench::Contestant> contestants{
        {"halinfo list",
         [&] {
           bench::run_program_once({halinfo, "list"});
         }},
        {"/bin/true", [] { bench::run_program_once({"/bin/true"}); }}};
    results.add("start", bench::compare(bench::take_rounds(contestants, rounds), 0, 1));
    results.write();
  });
}
