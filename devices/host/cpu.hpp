// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hal::host {

/// What the CPU offers and the operating system lets programs use. All false where the architecture
/// is not x86-64.
struct CpuFeatures {
  bool avx = false;
  bool avx2 = false;  ///< with fused multiply-add
  bool avx512 =
      false;  ///< foundation, byte and word, doubleword and quadword, conflict, vector lengths
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
  bool amx_fp16 = false;
};

[[nodiscard]] CpuFeatures detect_cpu_features() noexcept;

/// "Intel(R) Xeon(R) Platinum 8480+"; empty where the CPU does not say.
[[nodiscard]] std::string detect_cpu_model();

/// "x86_64 avx512+amx"; the machine's name alone where there are no features to tell.
[[nodiscard]] std::string architecture_name(const std::string& machine,
                                            const CpuFeatures& features);

/// HAL_TYPE_* bits: what compiled C++ computes in, and what the CPU has instructions of its own
/// for.
[[nodiscard]] std::uint32_t numeric_types(const CpuFeatures& features) noexcept;

}  // namespace hal::host
