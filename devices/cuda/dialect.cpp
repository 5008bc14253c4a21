// SPDX-License-Identifier: Apache-2.0
#include "cuda/dialect.hpp"

#include "cuda/symbols.hpp"
#include "vendor/backend.hpp"
#include "vendor/probe.hpp"

namespace hal::cuda {
namespace {

constexpr const char* library_names[] = {"libcuda.so.1"};

constexpr vendor::Profile profiles[] = {
    {.library_names = library_names,
     .in_loader_path = true,
     .folders = {},
     .required_symbols = required_symbols,
     .version_symbol = "cuDriverGetVersion"},
};

constexpr const char* device_nodes[] = {"/dev/nvidiactl", "/dev/nvidia[0-9]*"};
constexpr vendor::VisibilityVariable visibility_variables[] = {{"CUDA_VISIBLE_DEVICES", true}};

}  // namespace

constexpr vendor::Dialect dialect{
    .name = "cuda",
    .description = "NVIDIA GPUs (CUDA driver)",
    .device_noun = "NVIDIA GPU",
    .override_variable = "HAL_CUDA_DRIVER",
    .profiles = profiles,
    .device_nodes = device_nodes,
    .node_groups = nullptr,
    .pci_vendor = "0x10de",
    .visibility_variables = visibility_variables,
    // CUDA 11.0, driver 450: the first with cuDevicePrimaryCtxRelease_v2.
    .minimum_version = 11000,
    .open_only_with_device = false,
};

const hal_backend* backend_entry(const hal_backend_request* request, hal_failure* failure) {
  return vendor::backend_entry<dialect>(request, failure);
}

}  // namespace hal::cuda
