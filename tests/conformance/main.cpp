// SPDX-License-Identifier: Apache-2.0
#include "conformance/support.hpp"
#include "support/catch_runner.hpp"

#include <hal/hal.hpp>

#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int exit_usage = 2;

constexpr const char* usage =
    "Checks that a device behaves as every HAL device must.\n"
    "\n"
    "  hal-conformance [--device ID] [Catch2 options and test names]\n"
    "  hal-conformance --list            the devices there are\n"
    "\n"
    "Without --device the default device is checked. Exit status: 0 when every check holds, 2 "
    "when\n"
    "there is no such device. Options of the test framework follow.\n"
    "\n";

struct Arguments {
  std::optional<std::string> device;
  bool list = false;
  bool help = false;
  std::vector<const char*> rest;  ///< for the test framework
};

/// Throws `std::invalid_argument` with a sentence.
Arguments parse(int argc, char** argv) {
  constexpr std::string_view prefix = "--device=";
  Arguments arguments;
  arguments.rest.push_back(argv[0]);
  for (int index = 1; index < argc; ++index) {
    const std::string_view argument = argv[index];
    if (argument == "--device") {
      if (++index == argc) throw std::invalid_argument("--device needs an id, such as host:0");
      arguments.device = argv[index];
    } else if (argument.starts_with(prefix)) {
      arguments.device = argument.substr(prefix.size());
    } else if (argument == "--list") {
      arguments.list = true;
    } else {
      arguments.help = arguments.help || argument == "--help" || argument == "-h";
      arguments.rest.push_back(argv[index]);
    }
  }
  return arguments;
}

int list_devices() {
  for (const hal::Device& device : hal::devices()) {
    std::printf("%s\t%s\n", device.id().c_str(), device.properties().name.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    if (arguments.list) return list_devices();
    if (arguments.help) {
      std::fputs(usage, stdout);
    } else {
      conformance::set_device(arguments.device ? hal::device(*arguments.device)
                                               : hal::default_device());
    }
    const int status =
        hal_test::run_catch(static_cast<int>(arguments.rest.size()), arguments.rest.data());
    conformance::set_device({});
    return status;
  } catch (const hal::Error& error) {
    std::fprintf(stderr, "hal-conformance: %s\n", error.message().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hal-conformance: %s\n", error.what());
  }
  return exit_usage;
}
