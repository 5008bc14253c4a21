// SPDX-License-Identifier: Apache-2.0
#include "nontemporal.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

using CopyLines = void (*)(std::byte* to, const std::byte* from, std::size_t lines);
constexpr std::size_t line_bytes = 64;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void copy_lines_avx512(std::byte* to, const std::byte* from,
                                                          std::size_t lines) {
  for (std::size_t line = 0; line < lines; ++line, to += line_bytes, from += line_bytes) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
  _mm_sfence();
}

__attribute__((target("avx2"))) void copy_lines_avx2(std::byte* to, const std::byte* from,
                                                     std::size_t lines) {
  for (std::size_t line = 0; line < lines; ++line, to += line_bytes, from += line_bytes) {
    const auto* source = reinterpret_cast<const __m256i*>(from);
    const __m256i low = _mm256_loadu_si256(source);
    const __m256i high = _mm256_loadu_si256(source + 1);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  }
  _mm_sfence();
}
#endif

void copy_lines_memcpy(std::byte* to, const std::byte* from, std::size_t lines) {
  std::memcpy(to, from, lines * line_bytes);
}

struct Way {
  const char* name;
  CopyLines copy;
};

const Way& way() {
  static const Way chosen = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return Way{"AVX-512", &copy_lines_avx512};
    if (__builtin_cpu_supports("avx2")) return Way{"AVX2", &copy_lines_avx2};
#endif
    return Way{"memcpy", &copy_lines_memcpy};
  }();
  return chosen;
}

}  // namespace

void nontemporal_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  std::size_t head = (line_bytes - address % line_bytes) % line_bytes;
  if (head > bytes) head = bytes;
  std::memcpy(to, from, head);
  const std::size_t lines = (bytes - head) / line_bytes;
  way().copy(to + head, from + head, lines);
  const std::size_t done = head + lines * line_bytes;
  std::memcpy(to + done, from + done, bytes - done);
}

const char* nontemporal_kind() { return way().name; }

}  // namespace bench
