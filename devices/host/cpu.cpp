// SPDX-License-Identifier: Apache-2.0
#include "host/cpu.hpp"

#include "host/small_file.hpp"

#include <hal/backend.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <cstring>

namespace hal::host {

// cpuid and not /proc/cpuinfo: kernels before 5.17 stop every core for 10 ms to fill that file.
#if defined(__x86_64__)
namespace {

struct Registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) noexcept {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

bool bit(std::uint32_t word, unsigned index) noexcept { return (word >> index & 1U) != 0; }

bool all(std::uint64_t word, std::uint64_t bits) noexcept { return (word & bits) == bits; }

/// Which register states the operating system saves (XCR0).
std::uint64_t saved_states() noexcept {
  if (!bit(cpuid(1).ecx, 27)) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32U | low;
}

constexpr std::uint64_t states_avx = 0x6;
constexpr std::uint64_t states_avx512 = 0xe6;
constexpr std::uint64_t states_amx = 0x60000;
// Leaf 7, EBX: foundation (16), DQ (17), CD (28), BW (30), VL (31).
constexpr std::uint64_t avx512_bits = 1U << 16U | 1U << 17U | 1U << 28U | 1U << 30U | 1U << 31U;

}  // namespace

// Bit numbers: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID.
CpuFeatures detect_cpu_features() noexcept {
  const std::uint64_t states = saved_states();
  const Registers base = cpuid(1);
  const Registers extended = cpuid(7);
  const Registers extended_1 = extended.eax >= 1 ? cpuid(7, 1) : Registers{};
  CpuFeatures features;
  features.avx = all(states, states_avx) && bit(base.ecx, 28);
  features.avx2 = features.avx && bit(extended.ebx, 5) && bit(base.ecx, 12);
  features.avx512 = features.avx2 && all(states, states_avx512) && all(extended.ebx, avx512_bits);
  features.avx512_bf16 = features.avx512 && bit(extended_1.eax, 5);
  features.avx512_fp16 = features.avx512 && bit(extended.edx, 23);
  const bool amx = all(states, states_amx) && bit(extended.edx, 24);
  features.amx_bf16 = amx && bit(extended.edx, 22);
  features.amx_int8 = amx && bit(extended.edx, 25);
  features.amx_fp16 = amx && bit(extended_1.eax, 21);
  return features;
}

std::string detect_cpu_model() {
  constexpr std::uint32_t first = 0x80000002;
  std::array<char, 3 * sizeof(Registers)> text{};
  for (std::uint32_t part = 0; part < 3; ++part) {
    const Registers r = cpuid(first + part);
    std::memcpy(text.data() + part * sizeof r, &r, sizeof r);
  }
  const std::string_view model(text.data(), text.size());
  return std::string(trimmed(model.substr(0, model.find('\0'))));
}
#else
CpuFeatures detect_cpu_features() noexcept { return {}; }

std::string detect_cpu_model() { return {}; }
#endif

std::string architecture_name(const std::string& machine, const CpuFeatures& features) {
  std::string level;
  if (features.avx512) {
    level = "avx512";
  } else if (features.avx2) {
    level = "avx2";
  } else if (features.avx) {
    level = "avx";
  }
  if (features.amx_bf16 || features.amx_int8 || features.amx_fp16) {
    level += level.empty() ? "amx" : "+amx";
  }
  return level.empty() ? machine : machine + " " + level;
}

std::uint32_t numeric_types(const CpuFeatures& features) noexcept {
  std::uint32_t types =
      HAL_TYPE_F64 | HAL_TYPE_F32 | HAL_TYPE_I8 | HAL_TYPE_I16 | HAL_TYPE_I32 | HAL_TYPE_I64;
  if (features.avx512_fp16) types |= HAL_TYPE_F16;
  if (features.avx512_bf16) types |= HAL_TYPE_BF16;
  if (features.amx_bf16) types |= HAL_TYPE_BF16_MATRIX;
  if (features.amx_int8) types |= HAL_TYPE_I8_MATRIX;
  if (features.amx_fp16) types |= HAL_TYPE_F16_MATRIX;
  return types;
}

}  // namespace hal::host
