// SPDX-License-Identifier: Apache-2.0
#include "cuda/dialect.hpp"
#include "hip/dialect.hpp"
#include "host/backend.hpp"
#include "ppu/dialect.hpp"

#include "spi/registry.hpp"

#include <array>

namespace hal::spi {

std::span<const hal_backend_entry_function> builtin_backends() noexcept {
  // PPU before CUDA: its compatibility wrapper answers to CUDA's names too.
  static constexpr std::array<hal_backend_entry_function, 4> entries = {
      ppu::backend_entry, cuda::backend_entry, hip::backend_entry, host::backend_entry};
  return entries;
}

}  // namespace hal::spi
