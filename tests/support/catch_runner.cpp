// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "support/catch_runner.hpp"

#include "support/catch.hpp"

namespace hal_test {

int run_catch(int argc, const char* const* argv) { return Catch::Session().run(argc, argv); }

}  // namespace hal_test
