// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/allocator.hpp>
#include <hal/backend_list.hpp>
#include <hal/buffer.hpp>
#include <hal/config.hpp>
#include <hal/device.hpp>
#include <hal/doctor.hpp>
#include <hal/error.hpp>
#include <hal/event.hpp>
#include <hal/host_executor.hpp>
#include <hal/launch.hpp>
#include <hal/log.hpp>
#include <hal/stream.hpp>
#include <hal/trace.hpp>
#include <hal/version.hpp>
