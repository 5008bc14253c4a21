// SPDX-License-Identifier: Apache-2.0
#include "image_io.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

// libjpeg's headers use the names of <cstdio>.
#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

namespace picture {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

File open_input(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    const int code = errno;
    const std::string why = std::generic_category().message(code);
    refuse(path, code == ENOENT ? "there is no such file; check the path"
                                : "cannot be opened (" + why + "); check its permissions");
  }
  struct stat status {};
  if (::fstat(::fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode)) {
    refuse(path, "is a folder; give one picture inside it");
  }
  return file;
}

struct Magic {
  std::string_view start;
  const char* what;
};

/// Formats people take for ones this program can read.
constexpr Magic other_formats[] = {
    {"GIF8", "a GIF picture"},
    {"BM", "a BMP picture"},
    {"RIFF", "a WebP or RIFF file"},
    {"II*", "a TIFF picture"},
    {"MM\0*", "a TIFF picture"},
    {"%PDF", "a PDF document"},
    {"<svg", "an SVG drawing"},
    {"<?xml", "an XML or SVG file"},
    {"PK\3\4", "a ZIP archive"},
    {"\x7f"
     "ELF",
     "a program"},
    {"P6", "a PPM picture"},
    {"P5", "a PGM picture"},
};

const char* describe(std::string_view start) {
  if (start.empty()) return "empty";
  for (const Magic& format : other_formats) {
    if (start.starts_with(format.start)) return format.what;
  }
  const bool text = std::ranges::all_of(start, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t';
  });
  return text ? "a text" : "data of an unknown kind";
}

/// Larger ones would take tens of gigabytes on the way, and a header can claim any size.
constexpr std::size_t most_pixels = std::size_t{1} << 28;

Picture make_picture(const std::string& path, std::size_t width, std::size_t height) {
  if (width == 0 || height > most_pixels / width) {
    refuse(path, "is said to be " + std::to_string(width) + " x " + std::to_string(height) +
                     " pixels; this program takes up to " + std::to_string(most_pixels) +
                     ", so make it smaller first");
  }
  return {width, height, std::vector<std::uint8_t>(width * height * 3)};
}

// ---- PNG ------------------------------------------------------------------------------------

Picture read_png(const std::string& path, std::FILE* file) {
  struct Image : png_image {
    Image() : png_image{} { version = PNG_IMAGE_VERSION; }
    ~Image() { png_image_free(this); }
  } image;
  const auto check = [&](int done) {
    if (done == 0)
      refuse(path, std::string("is a damaged or truncated PNG (") + image.message + ")");
  };
  check(png_image_begin_read_from_stdio(&image, file));
  image.format = PNG_FORMAT_RGB;
  Picture picture = make_picture(path, image.width, image.height);
  const png_color white{255, 255, 255};
  check(png_image_finish_read(&image, &white, picture.rgb.data(), 0, nullptr));
  return picture;
}

// ---- JPEG -----------------------------------------------------------------------------------

/// libjpeg reports by a jump out of its C code, over frames of ours that own nothing.
struct JpegReader : jpeg_decompress_struct {
  struct Errors : jpeg_error_mgr {
    std::jmp_buf escape;
    char text[JMSG_LENGTH_MAX] = "";
  } errors;

  JpegReader() : jpeg_decompress_struct{} {
    err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr reader) {
      auto& own = static_cast<Errors&>(*reader->err);
      own.format_message(reader, own.text);
      std::longjmp(own.escape, 1);
    };
    // Most warnings are harmless; a picture that ends too early is none.
    errors.emit_message = [](j_common_ptr reader, int level) {
      const int code = reader->err->msg_code;
      if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) {
        reader->err->error_exit(reader);
      }
    };
  }
  ~JpegReader() { jpeg_destroy_decompress(this); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
};

/// Runs a step that holds nothing but plain values; false when libjpeg gave up.
template <typename Step>
bool attempt(JpegReader& reader, const Step& step) {
  if (setjmp(reader.errors.escape) != 0) return false;
  step();
  return true;
}

/// Four inks, inverted as Adobe writes them, to three colours.
void inks_to_rgb(const std::uint8_t* inks, std::uint8_t* rgb, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * i + c] = static_cast<std::uint8_t>(inks[4 * i + c] * inks[4 * i + 3] / 255);
    }
  }
}

Picture read_jpeg(const std::string& path, std::FILE* file) {
  JpegReader reader;
  const auto check = [&](bool done) {
    if (!done) {
      refuse(path, std::string("is a damaged or truncated JPEG (") + reader.errors.text + ")");
    }
  };
  check(attempt(reader, [&] {
    jpeg_create_decompress(&reader);
    jpeg_stdio_src(&reader, file);
    jpeg_read_header(&reader, TRUE);
    const bool inks = reader.jpeg_color_space == JCS_CMYK || reader.jpeg_color_space == JCS_YCCK;
    reader.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&reader);
  }));
  Picture picture = make_picture(path, reader.output_width, reader.output_height);
  std::vector<std::uint8_t> inks(reader.out_color_space == JCS_CMYK ? picture.width * 4 : 0);
  check(attempt(reader, [&] {
    while (reader.output_scanline < reader.output_height) {
      std::uint8_t* rgb = &picture.rgb[reader.output_scanline * picture.width * 3];
      JSAMPROW row = inks.empty() ? rgb : inks.data();
      jpeg_read_scanlines(&reader, &row, 1);
      if (!inks.empty()) inks_to_rgb(inks.data(), rgb, picture.width);
    }
    jpeg_finish_decompress(&reader);
  }));
  return picture;
}

}  // namespace

Picture read_picture(const std::string& path) {
  const File file = open_input(path);
  std::array<char, 8> bytes{};
  const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file.get());
  if (std::ferror(file.get()) != 0) refuse(path, "cannot be read; check the disk it is on");
  std::rewind(file.get());
  const std::string_view start(bytes.data(), count);
  if (start == "\x89PNG\r\n\x1a\n") return read_png(path, file.get());
  if (start.starts_with("\xff\xd8\xff")) return read_jpeg(path, file.get());
  const std::string what = describe(start);
  refuse(path, "is " + what + ", not a picture this program reads; give a PNG or JPEG file");
}

}  // namespace picture
