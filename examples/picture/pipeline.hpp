// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "image_io.hpp"

#include <hal/hal.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace picture {

struct PipelineOptions {
  std::size_t streams = 2;     ///< >= 1
  std::size_t tile_rows = 64;  ///< rows a piece of work covers, >= 1
  /// Called with how much is done of how much, on the device's threads, several at once.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

struct Edges {
  std::vector<std::uint8_t> pixels;  ///< grey, one byte each
  double milliseconds = 0;           ///< from the first copy to the device to the last one back
  double bytes_moved = 0;            ///< what the copies and kernels read and wrote
};

/// The edges of a picture: grey, Gaussian blur, Sobel magnitude, histogram equalised. Rows are
/// worked on in tiles spread over the streams; events order what one tile needs of its neighbours.
[[nodiscard]] Edges find_edges(const hal::Device& device, std::shared_ptr<const Picture> picture,
                               const PipelineOptions& options);

}  // namespace picture
