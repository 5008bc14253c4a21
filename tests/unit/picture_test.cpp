// SPDX-License-Identifier: Apache-2.0
#include "examples/picture/pipeline.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <random>

namespace {

using Plane = std::vector<float>;

/// The pipeline of the example as plain loops, without tiles, streams or kernels.
class Reference {
 public:
  explicit Reference(const picture::Picture& picture)
      : width_(static_cast<int>(picture.width)), height_(static_cast<int>(picture.height)) {
    Plane grey;
    for (std::size_t i = 0; i < picture.width * picture.height; ++i) {
      grey.push_back(0.2126F * picture.rgb[3 * i] + 0.7152F * picture.rgb[3 * i + 1] +
                     0.0722F * picture.rgb[3 * i + 2]);
    }
    const Plane smooth = blur(blur(grey, 1, 0), 0, 1);
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x)
        levels_.push_back(edge(smooth, x, y));
    }
  }

  /// Before equalisation.
  [[nodiscard]] const std::vector<int>& levels() const { return levels_; }

  /// The usual equalisation of what a histogram counts.
  [[nodiscard]] std::vector<double> equalised() const {
    std::array<double, 256> up_to{};
    for (int level : levels_)
      ++up_to[static_cast<std::size_t>(level)];
    const double lowest = *std::ranges::find_if(up_to, [](double n) { return n > 0; });
    for (std::size_t i = 1; i < 256; ++i)
      up_to[i] += up_to[i - 1];
    const double rest = up_to[255] - lowest;
    std::vector<double> out;
    for (int level : levels_) {
      out.push_back(rest == 0 ? level
                              : 255 * (up_to[static_cast<std::size_t>(level)] - lowest) / rest);
    }
    return out;
  }

 private:
  [[nodiscard]] float at(const Plane& plane, int x, int y) const {
    const int column = std::clamp(x, 0, width_ - 1);
    const int row = std::clamp(y, 0, height_ - 1);
    return plane[static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(column)];
  }
  [[nodiscard]] Plane blur(const Plane& in, int dx, int dy) const {
    constexpr float weights[] = {1, 6, 15, 20, 15, 6, 1};
    Plane out;
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        float sum = 0;
        for (int k = -3; k <= 3; ++k)
          sum += weights[k + 3] / 64 * at(in, x + k * dx, y + k * dy);
        out.push_back(sum);
      }
    }
    return out;
  }
  [[nodiscard]] int edge(const Plane& in, int x, int y) const {
    const auto p = [&](int dx, int dy) { return at(in, x + dx, y + dy); };
    const float gx = p(1, -1) - p(-1, -1) + 2 * (p(1, 0) - p(-1, 0)) + p(1, 1) - p(-1, 1);
    const float gy = p(-1, 1) - p(-1, -1) + 2 * (p(0, 1) - p(0, -1)) + p(1, 1) - p(1, -1);
    return static_cast<int>(std::min(std::sqrt(gx * gx + gy * gy), 255.0F));
  }

  int width_;
  int height_;
  std::vector<int> levels_;
};

/// Discs on a slope with some noise: edges of every direction.
std::shared_ptr<picture::Picture> make_picture(std::size_t width, std::size_t height) {
  auto made = std::make_shared<picture::Picture>();
  made->width = width;
  made->height = height;
  std::minstd_rand random(7);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const bool disc = ((x % 23) - 11) * ((x % 23) - 11) + ((y % 19) - 9) * ((y % 19) - 9) < 60;
      for (std::size_t c = 0; c < 3; ++c) {
        made->rgb.push_back(
            static_cast<std::uint8_t>((disc ? 200 : 30) + (x + c * y + random() % 9) % 56));
      }
    }
  }
  return made;
}

std::vector<std::uint8_t> edges_of(const std::shared_ptr<picture::Picture>& picture,
                                   std::size_t streams, std::size_t tile_rows) {
  picture::PipelineOptions options;
  options.streams = streams;
  options.tile_rows = tile_rows;
  return picture::find_edges(hal::device("host:0"), picture, options).pixels;
}

}  // namespace

TEST_CASE("the picture pipeline computes what plain loops compute") {
  for (auto [width, height] :
       {std::array<std::size_t, 2>{67, 45}, {1, 1}, {1, 40}, {40, 1}, {3, 2}}) {
    CAPTURE(width, height);
    const auto picture = make_picture(width, height);
    const std::vector<double> expected = Reference(*picture).equalised();
    const std::vector<std::uint8_t> pixels = edges_of(picture, 2, 16);
    REQUIRE(pixels.size() == expected.size());
    // Sums in another order round another way; one level apart may be several after equalisation.
    std::size_t apart = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      if (std::abs(pixels[i] - expected[i]) > 1) ++apart;
    }
    CHECK(apart <= pixels.size() / 100);
  }
}

TEST_CASE("the picture pipeline's result does not depend on tiles and streams") {
  const auto picture = make_picture(61, 50);
  const std::vector<std::uint8_t> whole = edges_of(picture, 1, 1000);
  for (std::size_t tile_rows : {1U, 2U, 3U, 7U, 49U, 50U}) {
    for (std::size_t streams : {1U, 2U, 5U}) {
      CAPTURE(tile_rows, streams);
      CHECK(edges_of(picture, streams, tile_rows) == whole);
    }
  }
}

TEST_CASE("a picture without edges stays without edges") {
  auto flat = std::make_shared<picture::Picture>();
  flat->width = 33;
  flat->height = 20;
  flat->rgb.assign(flat->width * flat->height * 3, 77);
  const std::vector<std::uint8_t> pixels = edges_of(flat, 2, 8);
  CHECK(std::ranges::all_of(pixels, [](std::uint8_t pixel) { return pixel == 0; }));
}

TEST_CASE("the picture pipeline reports progress up to its end") {
  const auto picture = make_picture(20, 40);
  std::atomic<std::size_t> calls{0};
  std::atomic<std::size_t> most{0};
  picture::PipelineOptions options;
  options.tile_rows = 10;
  options.progress = [&](std::size_t done, std::size_t total) {
    ++calls;
    if (done == total) most = total;
  };
  (void)picture::find_edges(hal::device("host:0"), picture, options);
  CHECK(calls == 8);
  CHECK(most == 8);
}
