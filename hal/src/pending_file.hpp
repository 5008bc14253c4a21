// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace hal::spi {

/// A file that appears under its name whole or not at all: written beside it under another name,
/// renamed by `commit`, removed without it. Belongs to the process that made it; in a forked child
/// every call does nothing. For one thread at a time.
class PendingFile {
 public:
  /// Throws `io`, blaming `operation`, if the file cannot be created or `path` names something that
  /// is there and not a regular file.
  PendingFile(std::string path, std::string operation);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Adds to the end. Buffered; a failure is kept for `commit`.
  void append(std::string_view text);
  /// Throws `io` if not everything could be written; nothing is left then.
  void commit();

  [[nodiscard]] bool in_forked_child() const noexcept;

 private:
  void flush() noexcept;
  void discard() noexcept;

  std::string path_;
  std::string operation_;
  std::string temporary_;
  std::string buffer_;
  pid_t owner_;
  int descriptor_ = -1;
  int failure_ = 0;  ///< errno of the first write that failed
};

}  // namespace hal::spi
