// SPDX-License-Identifier: Apache-2.0
#include <hal/error.hpp>
#include <hal/version.hpp>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "commands.hpp"
#include "output.hpp"

namespace halinfo {
namespace {

constexpr int usage_error = 2;

constexpr const char* help =
    R"(Shows the devices HAL can use on this machine, and why others cannot be used.

  halinfo [list] [--json] [--device ID]...   every backend and device
  halinfo doctor [--json] [--device ID]...   is this machine set up as it should be
  halinfo --config [--json]                  every HAL_* variable, its value and what it does
  halinfo --version
  halinfo --help

  --json        one JSON document instead of text
  --device ID   only this device, such as host:0; can be repeated

Exit status: 0 all is well; 1 something asked for is not, or a finding of the doctor is critical;
2 wrong usage, or the doctor could not assess something. docs/halinfo.md has the details.
)";

int run(int argc, char** argv) {
  CLI::App app;
  std::string command = "list";
  Options options;
  bool config = false;
  app.add_flag("--json", options.json);
  CLI::Option* command_option =
      app.add_option("command", command)->check(CLI::IsMember({"list", "doctor"}));
  CLI::Option* device_option =
      app.add_option("--device", options.devices)->type_name("ID")->allow_extra_args(false);
  app.add_flag("--config", config)->excludes(command_option)->excludes(device_option);
  app.set_version_flag("--version", "halinfo " + std::string(hal::version()));

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    emit(help);
    return 0;
  } catch (const CLI::CallForVersion& version) {
    emit(std::string(version.what()) + '\n');
    return 0;
  } catch (const CLI::ParseError& error) {
    complain(std::string(error.what()) + "; see halinfo --help");
    return usage_error;
  }
  if (config) return run_config(options);
  return command == "doctor" ? run_doctor(options) : run_list(options);
}

}  // namespace
}  // namespace halinfo

int main(int argc, char** argv) {
  try {
    halinfo::reserve_standard_descriptors();
    return halinfo::run(argc, argv);
  } catch (const hal::Error& error) {
    halinfo::complain(error.message());
  } catch (const std::exception& error) {
    halinfo::complain(error.what());
  }
  return 1;
}
