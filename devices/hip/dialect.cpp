// SPDX-License-Identifier: Apache-2.0
#include "hip/dialect.hpp"

#include "vendor/backend.hpp"
#include "vendor/probe.hpp"

namespace hal::hip {
namespace {

constexpr const char* library_names[] = {"libamdhip64.so.8", "libamdhip64.so.7", "libamdhip64.so.6",
                                         "libamdhip64.so.5", "libamdhip64.so"};

constexpr vendor::SearchFolder folders[] = {
    {"ROCM_PATH", "/lib"},
    {nullptr, "/opt/rocm/lib"},
    {nullptr, "/opt/rocm/core-*/lib"},
    // Python packages of ROCm, in the virtual environment that is active.
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/_rocm_sdk_core/lib"},
};

constexpr const char* required_symbols[] = {
    "hipInit",
    "hipGetDeviceCount",
    "hipSetDevice",
    "hipDeviceGetName",
    "hipDeviceGetAttribute",
    "hipDeviceTotalMem",
    "hipDeviceCanAccessPeer",
    "hipDeviceEnablePeerAccess",
    "hipDeviceSynchronize",
    "hipMalloc",
    "hipFree",
    "hipMemGetInfo",
    "hipHostMalloc",
    "hipHostFree",
    "hipMemcpyHtoDAsync",
    "hipMemcpyDtoHAsync",
    "hipMemcpyDtoDAsync",
    "hipMemcpyPeerAsync",
    "hipMemsetD8Async",
    "hipModuleLoadData",
    "hipModuleUnload",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipStreamCreateWithFlags",
    "hipStreamDestroy",
    "hipStreamQuery",
    "hipStreamSynchronize",
    "hipStreamWaitEvent",
    "hipEventCreateWithFlags",
    "hipEventRecord",
    "hipEventQuery",
    "hipEventSynchronize",
    "hipEventElapsedTime",
    "hipEventDestroy",
    "hipGetErrorName",
    "hipGetErrorString",
};

constexpr vendor::Profile profiles[] = {
    {.library_names = library_names,
     .in_loader_path = true,
     .folders = folders,
     .required_symbols = required_symbols,
     // hipDriverGetVersion would initialise the runtime.
     .version_symbol = nullptr},
};

constexpr const char* device_nodes[] = {"/dev/kfd", "/dev/dri/renderD*"};
// The runtime takes an empty HIP_VISIBLE_DEVICES as unset; the layer below takes its own as "none".
constexpr vendor::VisibilityVariable visibility_variables[] = {{"HIP_VISIBLE_DEVICES", false},
                                                               {"ROCR_VISIBLE_DEVICES", true}};

}  // namespace

constexpr vendor::Dialect dialect{
    .name = "hip",
    .description = "AMD GPUs (HIP runtime)",
    .device_noun = "AMD GPU",
    .override_variable = "HAL_HIP_DRIVER",
    .profiles = profiles,
    .device_nodes = device_nodes,
    .node_groups = "render and video",
    .pci_vendor = "0x1002",
    .visibility_variables = visibility_variables,
    .minimum_version = 5020,
    // About 20 ms.
    .open_only_with_device = true,
};

const hal_backend* backend_entry(const hal_backend_request* request, hal_failure* failure) {
  return vendor::backend_entry<dialect>(request, failure);
}

}  // namespace hal::hip
