// SPDX-License-Identifier: Apache-2.0
#include "exit_guard.hpp"

#include "executor.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace hal::host {

namespace {

bool exits_inside_onetbb = false;
int exit_status = 0;

void note_exit(int status, void*) {
  exits_inside_onetbb = Arena::entered();
  exit_status = status;
}

/// Runs after the exit handlers, and before the destructors of the libraries this one needs.
__attribute__((destructor)) void leave_before_onetbb() {
  if (!exits_inside_onetbb) return;
  std::fflush(nullptr);
  _exit(exit_status);
}

}  // namespace

void guard_exit() {
  static std::once_flag once;
  std::call_once(once, [] { on_exit(note_exit, nullptr); });
}

}  // namespace hal::host
