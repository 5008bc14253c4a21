// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hal/error.hpp>

#include <string>
#include <variant>
#include <vector>

namespace hal::vendor {

/// A shared library in this process. It is never closed: vendors' drivers start threads and
/// register exit handlers that live in their code.
class Library {
 public:
  /// Takes a handle from `dlopen`.
  explicit Library(void* handle);

  /// The file it came from, as the loader knows it.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Null when the library does not export it.
  [[nodiscard]] void* symbol(const char* name) const noexcept;

 private:
  void* handle_;
  std::string path_;
};

/// Why a library could not be opened.
struct LibraryFailure {
  Reason reason = Reason::library_absent;
  std::string library;  ///< the file or name that failed
  std::string detail;   ///< one sentence without a full stop
};

using LibraryResult = std::variant<Library, LibraryFailure>;

/// Where to look for a library.
struct LibrarySearch {
  std::vector<std::string> names;    ///< in order of preference
  bool in_loader_path = true;        ///< as any library is looked for, first
  std::vector<std::string> folders;  ///< then here
};

/// The first that is in this process already, else the first that opens. When none does, the
/// failure of the first that exists; `library_absent` only when none exists.
[[nodiscard]] LibraryResult find_library(const LibrarySearch& search);

/// This file, or, when the name has no '/', whatever the loader finds under it.
[[nodiscard]] LibraryResult open_library(const std::string& file);

}  // namespace hal::vendor
