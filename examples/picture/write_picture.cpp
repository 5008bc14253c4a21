// SPDX-License-Identifier: Apache-2.0
#include "image_io.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <png.h>

namespace picture {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

[[noreturn]] void refuse_errno(const std::string& path, int code) {
  const std::string why = std::generic_category().message(code);
  refuse(path, "cannot be written (" + why + "); " +
                   (code == ENOSPC ? "make room or choose another place with -o"
                                   : "choose another place with -o"));
}

/// Devices and pipes are written to as they are: nothing may take their place.
bool is_special(const fs::path& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

/// A file that takes its final name in `commit` only, and is gone if it never comes to that.
class Output {
 public:
  explicit Output(const std::string& name) : name_(name), target_(fs::weakly_canonical(name)) {
    if (is_special(target_)) {
      file_ = std::fopen(target_.c_str(), "wb");
    } else {
      temporary_ = target_.string() + ".XXXXXX";
      const int descriptor = ::mkstemp(temporary_.data());
      if (descriptor < 0) {
        temporary_.clear();
      } else {
        file_ = ::fdopen(descriptor, "wb");
      }
    }
    if (file_ == nullptr) {
      const int code = errno;
      discard();
      refuse_errno(name_, code);
    }
  }
  ~Output() {
    if (file_ != nullptr) std::fclose(file_);
    discard();
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  [[nodiscard]] std::FILE* file() const noexcept { return file_; }

  void commit() {
    if (std::fflush(file_) != 0) refuse_errno(name_, errno);
    if (temporary_.empty()) return;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(::fileno(file_), 0666 & ~mask) != 0 || ::fsync(::fileno(file_)) != 0 ||
        std::rename(temporary_.c_str(), target_.c_str()) != 0) {
      refuse_errno(name_, errno);
    }
    temporary_.clear();
  }

 private:
  void discard() noexcept {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  std::string name_;
  fs::path target_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
};

}  // namespace

void check_output(const std::string& path) {
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    refuse(path, "there is no folder " + folder.string() + "; make it or choose another with -o");
  }
  if (fs::is_directory(path, ignored)) {
    refuse(path, "is a folder; give -o a file name inside it");
  }
}

void write_grey_png(const std::string& path, std::size_t width, std::size_t height,
                    std::span<const std::uint8_t> pixels) {
  check_output(path);
  Output output(path);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_GRAY;
  errno = 0;
  if (png_image_write_to_stdio(&image, output.file(), 0, pixels.data(), 0, nullptr) == 0) {
    if (errno != 0) refuse_errno(path, errno);
    refuse(path, std::string("cannot be written (") + image.message + ")");
  }
  output.commit();
}

}  // namespace picture
