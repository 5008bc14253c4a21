// SPDX-License-Identifier: Apache-2.0
#include "pipeline.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

namespace picture {

namespace {

// ---- kernels --------------------------------------------------------------------------------

struct Size {
  std::size_t width;
  std::size_t height;
};

/// Binomial weights, close to a Gaussian of sigma 1.2.
constexpr std::size_t radius = 3;
constexpr std::array<float, 2 * radius + 1> weights{1 / 64.0F,  6 / 64.0F, 15 / 64.0F, 20 / 64.0F,
                                                    15 / 64.0F, 6 / 64.0F, 1 / 64.0F};

/// `position` + `offset` - `back`, held inside [0, count).
constexpr std::size_t clamped(std::size_t position, std::size_t offset, std::size_t back,
                              std::size_t count) {
  const std::size_t moved = position + offset;
  return moved < back ? 0 : std::min(moved - back, count - 1);
}

/// Luminance as ITU-R BT.709 weighs it.
constexpr auto to_grey = [](std::size_t pixel, std::size_t first, const std::uint8_t* rgb,
                            float* grey) {
  const std::size_t i = first + pixel;
  grey[i] = 0.2126F * rgb[3 * i] + 0.7152F * rgb[3 * i + 1] + 0.0722F * rgb[3 * i + 2];
};

constexpr auto blur_rows = [](std::size_t row, std::size_t x, std::size_t first, Size size,
                              const float* in, float* out) {
  const std::size_t y = first + row;
  const float* line = in + y * size.width;
  float sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    sum += weights[k] * line[clamped(x, k, radius, size.width)];
  }
  out[y * size.width + x] = sum;
};

constexpr auto blur_columns = [](std::size_t row, std::size_t x, std::size_t first, Size size,
                                 const float* in, float* out) {
  const std::size_t y = first + row;
  float sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    sum += weights[k] * in[clamped(y, k, radius, size.height) * size.width + x];
  }
  out[y * size.width + x] = sum;
};

constexpr auto sobel = [](std::size_t row, std::size_t x, std::size_t first, Size size,
                          const float* in, std::uint8_t* out) {
  const std::size_t y = first + row;
  const float* above = in + clamped(y, 0, 1, size.height) * size.width;
  const float* here = in + y * size.width;
  const float* below = in + clamped(y, 2, 1, size.height) * size.width;
  const std::size_t left = clamped(x, 0, 1, size.width);
  const std::size_t right = clamped(x, 2, 1, size.width);
  const float across =
      above[right] - above[left] + 2 * (here[right] - here[left]) + below[right] - below[left];
  const float down =
      below[left] - above[left] + 2 * (below[x] - above[x]) + below[right] - above[right];
  const float magnitude = std::sqrt(across * across + down * down);
  out[y * size.width + x] = static_cast<std::uint8_t>(std::min(magnitude, 255.0F));
};

constexpr std::size_t levels = 256;

/// Each block counts its share of a tile apart, so that no two write to one counter.
constexpr auto count_levels = [](hal::Block block, std::size_t first, std::size_t pixels,
                                 std::size_t first_histogram, const std::uint8_t* in,
                                 std::uint32_t* counts) {
  std::array<std::uint32_t, levels> local{};
  const std::size_t blocks = block.grid().volume();
  const std::size_t begin = first + pixels * block.linear_index() / blocks;
  const std::size_t end = first + pixels * (block.linear_index() + 1) / blocks;
  for (std::size_t i = begin; i < end; ++i)
    ++local[in[i]];
  std::ranges::copy(local, counts + (first_histogram + block.linear_index()) * levels);
};

/// From all counts, the new level of each: levels spread so that each range holds as many pixels.
constexpr auto make_table = [](std::size_t, std::size_t histograms, const std::uint32_t* counts,
                               std::uint8_t* table) {
  std::array<std::uint64_t, levels> up_to{};
  for (std::size_t h = 0; h < histograms; ++h) {
    for (std::size_t level = 0; level < levels; ++level)
      up_to[level] += counts[h * levels + level];
  }
  const std::uint64_t lowest = *std::ranges::find_if(up_to, [](auto count) { return count != 0; });
  for (std::size_t level = 1; level < levels; ++level)
    up_to[level] += up_to[level - 1];
  const std::uint64_t rest = up_to.back() - lowest;
  for (std::size_t level = 0; level < levels; ++level) {
    const std::uint64_t above = up_to[level] < lowest ? 0 : up_to[level] - lowest;
    table[level] = static_cast<std::uint8_t>(rest == 0 ? level : (255 * above + rest / 2) / rest);
  }
};

constexpr auto look_up = [](std::size_t pixel, std::size_t first, const std::uint8_t* table,
                            std::uint8_t* pixels) {
  pixels[first + pixel] = table[pixels[first + pixel]];
};

/// Bytes a pixel that copies and kernels read and write: to the device and back, and by each
/// kernel.
constexpr double bytes_a_pixel =
    (3 + 3) + (3 + 4) + (4 + 4) + (4 + 4) + (4 + 1) + 1 + (1 + 1) + (1 + 1);

// ---- the pipeline ---------------------------------------------------------------------------

/// Counts pieces of work that are done, for a person who waits.
class Progress {
 public:
  Progress(std::function<void(std::size_t, std::size_t)> report, std::size_t total)
      : report_(std::move(report)), total_(total) {}
  void step() {
    const std::size_t done = ++done_;
    if (report_) report_(done, total_);
  }

 private:
  std::function<void(std::size_t, std::size_t)> report_;
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
};

struct Tile {
  std::size_t first;  ///< row
  std::size_t rows;
  hal::Stream stream;
  hal::Event blurred_rows;
  hal::Event blurred;
  hal::Event counted;
};

class Pipeline {
 public:
  Pipeline(const hal::Device& device, std::shared_ptr<const Picture> picture,
           const PipelineOptions& options);
  Edges run();

 private:
  static constexpr std::size_t histograms_a_tile = 4;

  void blur_along_rows();
  void blur_along_columns();
  void detect_edges();
  void equalise();
  void wait_for_rows_around(const Tile& tile, std::size_t margin, hal::Event Tile::*event);
  void note_progress(const Tile& tile);

  /// Where the rows of a tile begin and how many pixels they have.
  [[nodiscard]] std::size_t start(const Tile& tile) const { return tile.first * size_.width; }
  [[nodiscard]] std::size_t pixels(const Tile& tile) const { return tile.rows * size_.width; }

  std::shared_ptr<const Picture> picture_;
  Size size_;
  std::size_t tile_rows_;
  std::vector<hal::Stream> streams_;
  std::vector<Tile> tiles_;
  std::shared_ptr<Progress> progress_;
  /// Shared with the copies, which must not outlive it whatever happens here.
  std::shared_ptr<std::vector<std::uint8_t>> result_;
  // Used from every stream.
  hal::TypedBuffer<std::uint8_t> rgb_;
  hal::TypedBuffer<float> grey_;
  hal::TypedBuffer<float> half_blurred_;
  hal::TypedBuffer<std::uint8_t> edges_;
  hal::TypedBuffer<std::uint32_t> counts_;
  hal::TypedBuffer<std::uint8_t> table_;
};

Pipeline::Pipeline(const hal::Device& device, std::shared_ptr<const Picture> picture,
                   const PipelineOptions& options)
    : picture_(std::move(picture)),
      size_{picture_->width, picture_->height},
      tile_rows_(options.tile_rows) {
  for (std::size_t i = 0; i < options.streams; ++i)
    streams_.push_back(device.create_stream());
  for (std::size_t first = 0; first < size_.height; first += tile_rows_) {
    tiles_.push_back({first,
                      std::min(tile_rows_, size_.height - first),
                      streams_[tiles_.size() % streams_.size()],
                      {},
                      {},
                      {}});
  }
  progress_ = std::make_shared<Progress>(options.progress, 2 * tiles_.size());

  const std::size_t count = size_.width * size_.height;
  result_ = std::make_shared<std::vector<std::uint8_t>>(count);
  rgb_ = device.allocate<std::uint8_t>(3 * count, hal::MemoryKind::device);
  grey_ = device.allocate<float>(count, hal::MemoryKind::device);
  half_blurred_ = device.allocate<float>(count, hal::MemoryKind::device);
  edges_ = device.allocate<std::uint8_t>(count, hal::MemoryKind::device);
  counts_ = device.allocate<std::uint32_t>(tiles_.size() * histograms_a_tile * levels,
                                           hal::MemoryKind::device);
  table_ = device.allocate<std::uint8_t>(levels, hal::MemoryKind::device);
}

/// Makes a tile's stream wait for the tiles that hold the rows around it.
void Pipeline::wait_for_rows_around(const Tile& tile, std::size_t margin, hal::Event Tile::*event) {
  const std::size_t top = tile.first < margin ? 0 : tile.first - margin;
  const std::size_t bottom = std::min(tile.first + tile.rows - 1 + margin, size_.height - 1);
  for (std::size_t other = top / tile_rows_; other <= bottom / tile_rows_; ++other) {
    if (&tiles_[other] != &tile) tile.stream.wait(tiles_[other].*event);
  }
}

void Pipeline::note_progress(const Tile& tile) {
  tile.stream.call([progress = progress_] { progress->step(); }, "progress");
}

void Pipeline::blur_along_rows() {
  for (Tile& tile : tiles_) {
    tile.stream.copy(rgb_.view(3 * start(tile), 3 * pixels(tile)),
                     std::span(picture_->rgb).subspan(3 * start(tile), 3 * pixels(tile)), picture_);
    tile.stream.launch(to_grey, hal::over(pixels(tile)).named("to_grey"), start(tile), rgb_, grey_);
    tile.stream.launch(blur_rows, hal::over(tile.rows, size_.width).named("blur_rows"), tile.first,
                       size_, grey_, half_blurred_);
    tile.blurred_rows = tile.stream.record();
  }
}

void Pipeline::blur_along_columns() {
  for (Tile& tile : tiles_) {
    wait_for_rows_around(tile, radius, &Tile::blurred_rows);
    tile.stream.launch(blur_columns, hal::over(tile.rows, size_.width).named("blur_columns"),
                       tile.first, size_, half_blurred_, grey_);
    tile.blurred = tile.stream.record();
  }
}

void Pipeline::detect_edges() {
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    Tile& tile = tiles_[i];
    wait_for_rows_around(tile, 1, &Tile::blurred);
    tile.stream.launch(sobel, hal::over(tile.rows, size_.width).named("sobel"), tile.first, size_,
                       grey_, edges_);
    tile.stream.launch(count_levels, hal::blocks({histograms_a_tile}, {}).named("count_levels"),
                       start(tile), pixels(tile), i * histograms_a_tile, edges_, counts_);
    tile.counted = tile.stream.record();
    note_progress(tile);
  }
}

void Pipeline::equalise() {
  const hal::Stream& joining = streams_.front();
  for (const Tile& tile : tiles_)
    joining.wait(tile.counted);
  joining.launch(make_table, hal::over(1).named("make_table"), tiles_.size() * histograms_a_tile,
                 counts_, table_);
  const hal::Event made = joining.record();
  for (const hal::Stream& stream : streams_)
    stream.wait(made);
  for (const Tile& tile : tiles_) {
    tile.stream.launch(look_up, hal::over(pixels(tile)).named("look_up"), start(tile), table_,
                       edges_);
    tile.stream.copy(std::span(*result_).subspan(start(tile), pixels(tile)),
                     edges_.view(start(tile), pixels(tile)), result_);
    edges_.record_use(tile.stream);  // the view the copy was given cannot tell the buffer
    note_progress(tile);
  }
}

Edges Pipeline::run() {
  const auto begin = std::chrono::steady_clock::now();
  blur_along_rows();
  blur_along_columns();
  detect_edges();
  equalise();
  for (const hal::Stream& stream : streams_)
    stream.synchronize();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  const double bytes = bytes_a_pixel * static_cast<double>(result_->size());
  return {std::move(*result_), time.count(), bytes};
}

}  // namespace

Edges find_edges(const hal::Device& device, std::shared_ptr<const Picture> picture,
                 const PipelineOptions& options) {
  return Pipeline(device, std::move(picture), options).run();
}

}  // namespace picture
