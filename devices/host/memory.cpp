// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "numa.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace hal::host {

namespace {

constexpr std::size_t huge_page = std::size_t{2} * 1024 * 1024;
constexpr std::size_t least_alignment = 64;

bool in_huge_pages(const hal_allocation& request, const MemoryPolicy& policy) noexcept {
  return (request.huge_pages != 0 || policy.huge_pages) && request.bytes >= huge_page &&
         request.alignment <= huge_page;
}

std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// A mapping that starts at a huge page: one page more is mapped and the ends are cut off.
void* map_huge(std::size_t bytes) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * huge_page) return nullptr;
  const std::size_t wanted = round_up(bytes, huge_page);
  const std::size_t mapped = wanted + huge_page;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(base);
  auto* const start =
      reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(base), huge_page));
  const auto before = static_cast<std::size_t>(start - first);
  if (before > 0) munmap(first, before);
  const std::size_t after = mapped - before - wanted;
  if (after > 0) munmap(start + wanted, after);
  madvise(start, wanted, MADV_HUGEPAGE);
  return start;
}

}  // namespace

void* allocate(const hal_allocation& request, const MemoryPolicy& policy) noexcept {
  void* address = nullptr;
  if (in_huge_pages(request, policy)) {
    address = map_huge(request.bytes);
  } else {
    address = ::operator new(request.bytes,
                             std::align_val_t(std::max(request.alignment, least_alignment)),
                             std::nothrow);
  }
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (address != nullptr && policy.binding != nullptr && request.bytes >= 2 * page) {
    // Whole pages inside only: the pages at the ends may hold others' data.
    auto* const start =
        reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(address), page));
    const auto skipped = static_cast<std::size_t>(start - static_cast<std::byte*>(address));
    policy.binding->bind_memory(start, (request.bytes - skipped) / page * page);
  }
  return address;
}

void release(const hal_allocation& request, const MemoryPolicy& policy, void* address) noexcept {
  if (in_huge_pages(request, policy)) {
    munmap(address, round_up(request.bytes, huge_page));
  } else {
    ::operator delete(address, std::align_val_t(std::max(request.alignment, least_alignment)));
  }
}

}  // namespace hal::host
