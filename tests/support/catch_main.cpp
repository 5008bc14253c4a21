// SPDX-License-Identifier: Apache-2.0
#include "support/catch_runner.hpp"

int main(int argc, char** argv) { return hal_test::run_catch(argc, argv); }
