// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hal::host {

/// Sees to it that a host function or kernel may call `exit`. oneTBB crashes when its own end runs
/// on one of its workers, so there the process leaves just before it: after every exit handler and
/// static destructor of the program, with its status. Called when a device is opened.
void guard_exit();

}  // namespace hal::host
