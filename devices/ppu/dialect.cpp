// SPDX-License-Identifier: Apache-2.0
#include "ppu/dialect.hpp"

#include "cuda/symbols.hpp"
#include "vendor/backend.hpp"
#include "vendor/probe.hpp"

namespace hal::ppu {
namespace {

constexpr const char* library_names[] = {"libhggc.so"};

constexpr vendor::SearchFolder folders[] = {
    {"PPU_SDK", "/targets/x86_64-linux/lib"},
    {"PPU_SDK", "/lib"},
    {"PPU_HOME", "/targets/x86_64-linux/lib"},
    {"PPU_HOME", "/lib"},
    {nullptr, "/usr/local/PPU_SDK/targets/x86_64-linux/lib"},
    {nullptr, "/usr/local/PPU_SDK/lib"},
};

// The names without _v2 that also exist (hgMemAlloc, hgMemFree) have 32-bit pointers: never those.
constexpr const char* required_symbols[] = {
    "hgInit",
    "hgDriverGetVersion",
    "hgDeviceGet",
    "hgDeviceGetCount",
    "hgDeviceGetName",
    "hgDeviceGetAttribute",
    "hgDeviceTotalMem",
    "hgDeviceCanAccessPeer",
    "hgDevicePrimaryCtxRetain",
    "hgDevicePrimaryCtxRelease_v2",
    "hgCtxSetCurrent",
    "hgCtxSynchronize",
    "hgMemAlloc_v2",
    "hgMemFree_v2",
    "hgMemGetInfo_v2",
    "hgMemHostAlloc",
    "hgMemFreeHost",
    "hgMemcpyHtoDAsync_v2",
    "hgMemcpyDtoHAsync_v2",
    "hgMemcpyDtoDAsync_v2",
    "hgMemcpyPeerAsync",
    "hgMemsetD8Async",
    "hgModuleLoadData",
    "hgModuleUnload",
    "hgModuleGetFunction",
    "hgLaunchKernel",
    "hgStreamCreate",
    "hgStreamDestroy_v2",
    "hgStreamSynchronize",
    "hgStreamWaitEvent",
    "hgEventCreate",
    "hgEventRecord",
    "hgEventQuery",
    "hgEventSynchronize",
    "hgEventElapsedTime",
    "hgEventDestroy_v2",
    "hgGetErrorName",
    "hgGetErrorString",
};

// The SDK's CUDA wrapper: the same driver under CUDA's names. By its full path only, for on the
// loader's path its name is NVIDIA's.
constexpr const char* wrapper_names[] = {"libcuda.so.1"};
constexpr vendor::SearchFolder wrapper_folders[] = {
    {"PPU_SDK", "/CUDA_SDK/lib64"},
    {"PPU_HOME", "/CUDA_SDK/lib64"},
    {nullptr, "/usr/local/PPU_SDK/CUDA_SDK/lib64"},
};

constexpr vendor::Profile profiles[] = {
    {.library_names = library_names,
     .in_loader_path = true,
     .folders = folders,
     .required_symbols = required_symbols,
     .version_symbol = "hgDriverGetVersion"},
    {.library_names = wrapper_names,
     .in_loader_path = false,
     .folders = wrapper_folders,
     .required_symbols = cuda::required_symbols,
     .version_symbol = "cuDriverGetVersion"},
};

constexpr const char* device_nodes[] = {"/dev/alixpu_ctl", "/dev/alixpu_ppu[0-9]*"};
constexpr vendor::VisibilityVariable visibility_variables[] = {{"HGGC_VISIBLE_DEVICES", true}};

}  // namespace

constexpr vendor::Dialect dialect{
    .name = "ppu",
    .description = "T-Head PPUs (HGGC driver)",
    .device_noun = "T-Head PPU",
    .override_variable = "HAL_PPU_DRIVER",
    .profiles = profiles,
    .device_nodes = device_nodes,
    .node_groups = nullptr,
    .pci_vendor = "0x1ded",
    .visibility_variables = visibility_variables,
    .minimum_version = 0,
    .open_only_with_device = false,
};

const hal_backend* backend_entry(const hal_backend_request* request, hal_failure* failure) {
  return vendor::backend_entry<dialect>(request, failure);
}

}  // namespace hal::ppu
