// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace picture {

/// A colour picture: `height` rows of `width` pixels of red, green and blue, 8 bits each.
struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> rgb;
};

/// Reads a PNG or JPEG of any bit depth and colour type; what it is, its content says and not its
/// name. Transparent parts become white. Throws `std::runtime_error` with a sentence for a person.
[[nodiscard]] Picture read_picture(const std::string& path);

/// Throws what `write_grey_png` would throw for a path that cannot be written to.
void check_output(const std::string& path);

/// Writes an 8-bit grey PNG. A file that was there before is replaced only by a complete one.
void write_grey_png(const std::string& path, std::size_t width, std::size_t height,
                    std::span<const std::uint8_t> pixels);

}  // namespace picture
