// SPDX-License-Identifier: Apache-2.0
// Finds the edges in a picture, in tiles over several streams. See `picture --help`.
#include "image_io.hpp"
#include "pipeline.hpp"

#include <hal/hal.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

constexpr const char* usage =
    "usage: picture INPUT [-o OUTPUT.png] [--device ID] [--streams N] [--tile ROWS]\n"
    "\n"
    "Writes the edges found in a PNG or JPEG as a grey PNG.\n"
    "  -o, --output FILE   where to write it (edges.png)\n"
    "  --device ID         which device to use, as halinfo lists them\n"
    "  --streams N         1 to 64 streams (2)\n"
    "  --tile ROWS         rows a piece of work covers (64)\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::string input;
  std::string output = "edges.png";
  std::optional<std::string> device;
  picture::PipelineOptions pipeline;
  bool help = false;
};

std::size_t parse_count(std::string_view option, std::string_view text, std::size_t most) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 1 || value > most) {
    throw UsageError(std::string(option) + " takes a whole number from 1 to " +
                     std::to_string(most) + ", not '" + std::string(text) + "'");
  }
  return value;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw UsageError(std::string(word) + " needs a value");
      return argv[++i];
    };
    if (word == "-h" || word == "--help") {
      arguments.help = true;
    } else if (word == "-o" || word == "--output") {
      arguments.output = value();
    } else if (word == "--device") {
      arguments.device = value();
    } else if (word == "--streams") {
      arguments.pipeline.streams = parse_count(word, value(), 64);
    } else if (word == "--tile") {
      arguments.pipeline.tile_rows = parse_count(word, value(), 1'000'000);
    } else if (word.starts_with('-') && word.size() > 1) {
      throw UsageError("there is no option " + std::string(word));
    } else if (!arguments.input.empty()) {
      throw UsageError("one picture at a time, but '" + std::string(word) + "' is a second");
    } else {
      arguments.input = word;
    }
  }
  if (arguments.input.empty() && !arguments.help) {
    throw UsageError("no picture was given");
  }
  return arguments;
}

/// One line that grows on a terminal and leaves nothing behind.
class ProgressLine {
 public:
  void show(std::size_t done, std::size_t total) {
    const std::lock_guard lock(mutex_);
    if (done <= shown_) return;
    shown_ = done;
    std::fprintf(stderr, "\r%3zu %%", 100 * done / total);
    if (done == total) std::fputs("\r     \r", stderr);
  }

 private:
  std::mutex mutex_;
  std::size_t shown_ = 0;
};

void run(Arguments arguments) {
  picture::check_output(arguments.output);
  const auto input =
      std::make_shared<const picture::Picture>(picture::read_picture(arguments.input));
  const hal::Device device =
      arguments.device ? hal::device(*arguments.device) : hal::default_device();
  if (::isatty(STDERR_FILENO) != 0) {
    arguments.pipeline.progress = [line = std::make_shared<ProgressLine>()](std::size_t done,
                                                                            std::size_t total) {
      line->show(done, total);
    };
  }
  const picture::Edges edges = picture::find_edges(device, input, arguments.pipeline);
  picture::write_grey_png(arguments.output, input->width, input->height, edges.pixels);
  std::printf("%s: %zu x %zu pixels, %.2f ms on %s (%.1f GB/s), written to %s\n",
              arguments.input.c_str(), input->width, input->height, edges.milliseconds,
              device.id().c_str(), edges.bytes_moved / edges.milliseconds / 1e6,
              arguments.output.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    if (arguments.help) {
      std::fputs(usage, stdout);
    } else {
      run(arguments);
    }
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "picture: %s; see picture --help\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fputs("picture: there is not enough memory for this picture; make it smaller first\n",
               stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "picture: %s\n", error.what());
  }
  return 1;
}
