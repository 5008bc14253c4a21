// SPDX-License-Identifier: Apache-2.0
#include "pending_file.hpp"

#include <hal/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace hal::spi {
namespace {

constexpr std::size_t flush_size = std::size_t{1} << 16;

/// A name no other file of this process has.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}-{}.tmp", path, ::getpid(), ++count);
}

/// Renaming onto a device or a pipe would replace it.
bool is_something_else(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

PendingFile::PendingFile(std::string path, std::string operation)
    : path_(std::move(path)), operation_(std::move(operation)), owner_(::getpid()) {
  if (path_.empty() || is_something_else(path_)) {
    throw Error(Errc::io, operation_,
                fmt::format("'{}' is not a regular file; name one, or one to be created", path_));
  }
  buffer_.reserve(2 * flush_size);
  do {
    // A process of the same number may have left a file behind when it crashed.
    temporary_ = temporary_name(path_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) {
    throw Error(Errc::io, operation_,
                fmt::format("'{}' cannot be created ({}); name a file in a folder you may write to",
                            path_, std::generic_category().message(errno)));
  }
}

PendingFile::~PendingFile() { discard(); }

bool PendingFile::in_forked_child() const noexcept { return ::getpid() != owner_; }

void PendingFile::append(std::string_view text) {
  buffer_.append(text);
  if (buffer_.size() >= flush_size) flush();
}

void PendingFile::flush() noexcept {
  std::string_view rest = buffer_;
  while (!rest.empty() && failure_ == 0 && !in_forked_child()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      failure_ = errno;
    }
  }
  buffer_.clear();
}

void PendingFile::commit() {
  if (in_forked_child()) return;
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0 && failure_ == 0) failure_ = errno;
  if (failure_ == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) failure_ = errno;
  if (failure_ == 0) {
    temporary_.clear();
    return;
  }
  discard();
  throw Error(Errc::io, operation_,
              fmt::format("'{}' could not be written ({}); free some space or name another file",
                          path_, std::generic_category().message(failure_)));
}

void PendingFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty() && !in_forked_child()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

}  // namespace hal::spi
