// SPDX-License-Identifier: Apache-2.0
#include "stream_store.hpp"

#include "topology.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hal::host {

#if defined(__x86_64__)

namespace {

__attribute__((target("avx512f"))) void stream_blocks_avx512(std::byte* to, const std::byte* from,
                                                             std::size_t blocks) noexcept {
  for (std::size_t block = 0; block < blocks; ++block, to += 256, from += 256) {
    const __m512i a = _mm512_loadu_si512(from);
    const __m512i b = _mm512_loadu_si512(from + 64);
    const __m512i c = _mm512_loadu_si512(from + 128);
    const __m512i d = _mm512_loadu_si512(from + 192);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), a);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 64), b);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 128), c);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 192), d);
  }
  _mm_sfence();
}

__attribute__((target("avx2"))) void stream_blocks_avx2(std::byte* to, const std::byte* from,
                                                        std::size_t blocks) noexcept {
  for (std::size_t block = 0; block < blocks; ++block, to += 256, from += 256) {
    for (std::size_t at = 0; at < 256; at += 32) {
      const __m256i line = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at), line);
    }
  }
  _mm_sfence();
}

void stream_blocks_sse2(std::byte* to, const std::byte* from, std::size_t blocks) noexcept {
  for (std::size_t block = 0; block < blocks; ++block, to += 256, from += 256) {
    for (std::size_t at = 0; at < 256; at += 16) {
      const __m128i line = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), line);
    }
  }
  _mm_sfence();
}

using StreamBlocks = void (*)(std::byte*, const std::byte*, std::size_t) noexcept;

StreamBlocks choose() noexcept {
  if (__builtin_cpu_supports("avx512f")) return stream_blocks_avx512;
  if (__builtin_cpu_supports("avx2")) return stream_blocks_avx2;
  return stream_blocks_sse2;
}

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  static const StreamBlocks stream_blocks = choose();
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(to) % 64;
  const std::size_t head = std::min(count, misalignment == 0 ? 0 : 64 - misalignment);
  std::memcpy(to, from, head);
  const std::size_t blocks = (count - head) / 256;
  stream_blocks(to + head, from + head, blocks);
  const std::size_t done = head + blocks * 256;
  std::memcpy(to + done, from + done, count - done);
}

#else

void stream_copy(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  std::memcpy(to, from, count);
}

#endif

std::size_t streaming_threshold() noexcept {
  // Source and destination both pass through: half the last level for each.
  static const std::size_t threshold =
      host_topology().cache_bytes.value_or(std::size_t{32} * 1024 * 1024) / 2;
  return threshold;
}

}  // namespace hal::host
