// SPDX-License-Identifier: Apache-2.0
#include "vendor/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

/// The ELF header of the module this code is in; the linker defines it.
extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace hal::vendor {
namespace {

/// The loader's messages in English while one of these lives: they are looked into.
class UntranslatedMessages {
 public:
  UntranslatedMessages()
      : plain_(::newlocale(LC_MESSAGES_MASK, "C", nullptr)), before_(::uselocale(plain_)) {}
  ~UntranslatedMessages() {
    ::uselocale(before_);
    if (plain_ != nullptr) ::freelocale(plain_);
  }
  UntranslatedMessages(const UntranslatedMessages&) = delete;
  UntranslatedMessages& operator=(const UntranslatedMessages&) = delete;

 private:
  locale_t plain_;
  locale_t before_;
};

struct MachineName {
  unsigned machine;
  const char* name;
};
constexpr MachineName machine_names[] = {
    {EM_386, "32-bit x86"}, {EM_X86_64, "x86-64"}, {EM_ARM, "32-bit Arm"}, {EM_AARCH64, "Arm64"},
    {EM_PPC64, "POWER"},    {EM_S390, "IBM Z"},    {EM_RISCV, "RISC-V"},   {EM_MIPS, "MIPS"},
};

std::string machine_name(unsigned machine) {
  for (const MachineName& known : machine_names) {
    if (known.machine == machine) return known.name;
  }
  return fmt::format("machine {}", machine);
}

std::string kind_of_content(std::string_view start) {
  if (start.empty()) return "an empty file";
  const bool text = std::all_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isprint(byte) != 0 || std::isspace(byte) != 0;
  });
  return text ? "a text file" : "some other file";
}

/// Why a file cannot be a library of this process, found without the loader, which for another
/// machine's library says that there is no file.
std::optional<LibraryFailure> unfit_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      return LibraryFailure{Reason::library_absent, path, fmt::format("{} does not exist", path)};
    }
    const Reason reason = error == EACCES ? Reason::permission : Reason::init_failed;
    return LibraryFailure{reason, path,
                          fmt::format("{} cannot be read: {}", path, std::strerror(error))};
  }
  ElfW(Ehdr) header{};
  const ssize_t count = ::read(file, &header, sizeof header);
  const int error = errno;
  ::close(file);
  const auto unfit = [&](const std::string& what) {
    return LibraryFailure{Reason::abi_mismatch, path, fmt::format("{} is {}", path, what)};
  };
  if (count < 0) return unfit(fmt::format("not a file that can be read: {}", std::strerror(error)));
  const std::string_view start(reinterpret_cast<const char*>(&header),
                               static_cast<std::size_t>(count));
  if (!start.starts_with(ELFMAG)) return unfit("not a library but " + kind_of_content(start));
  if (start.size() < sizeof header) return unfit("a library cut short");
  if (header.e_machine != __ehdr_start.e_machine ||
      header.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS]) {
    return unfit(fmt::format("a library for {}, and this process is {}",
                             machine_name(header.e_machine), machine_name(__ehdr_start.e_machine)));
  }
  return std::nullopt;
}

/// What the loader's message means. `name` is what it was asked for.
LibraryFailure explain(const std::string& name, const std::string& message) {
  constexpr std::string_view cannot_open = ": cannot open shared object file";
  constexpr std::string_view undefined = "undefined symbol: ";
  if (const auto at = message.find(cannot_open); at != std::string::npos) {
    const std::string missing = message.substr(0, at);
    if (missing != name) {
      return {Reason::dependency_missing, name,
              fmt::format("{} needs {}, which was not found", name, missing)};
    }
    const bool denied = message.find("Permission denied", at) != std::string::npos;
    return {denied ? Reason::permission : Reason::library_absent, name,
            fmt::format("{} {}", name, denied ? "may not be read" : "was not found")};
  }
  if (const auto at = message.find(undefined); at != std::string::npos) {
    std::string symbol = message.substr(at + undefined.size());
    symbol = symbol.substr(0, symbol.find_first_of(" ,\t("));
    return {Reason::symbol_missing, name,
            fmt::format("{} needs the symbol {}, which no library offers", name, symbol)};
  }
  const bool version = message.find("version `") != std::string::npos;
  return {version ? Reason::dependency_missing : Reason::init_failed, name,
          fmt::format("{} cannot be loaded: {}", name, message)};
}

std::string joined_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string places(const LibrarySearch& search) {
  std::vector<std::string> all;
  if (search.in_loader_path) all.emplace_back("the loader's path");
  all.insert(all.end(), search.folders.begin(), search.folders.end());
  return all.empty() ? "any place" : joined_names(all);
}

}  // namespace

Library::Library(void* handle) : handle_(handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) path_ = map->l_name;
}

void* Library::symbol(const char* name) const noexcept { return ::dlsym(handle_, name); }

LibraryResult open_library(const std::string& file) {
  const UntranslatedMessages untranslated;
  if (file.find('/') != std::string::npos) {
    if (auto unfit = unfit_file(file)) return *std::move(unfit);
  }
  if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return Library(handle);
  const char* message = ::dlerror();
  return explain(file, message != nullptr ? message : "no reason given");
}

LibraryResult find_library(const LibrarySearch& search) {
  if (search.in_loader_path) {
    for (const std::string& name : search.names) {
      void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
      if (handle != nullptr) return Library(handle);
    }
  }
  std::vector<std::string> candidates;
  if (search.in_loader_path) candidates = search.names;
  for (const std::string& folder : search.folders) {
    for (const std::string& name : search.names)
      candidates.push_back(folder + "/" + name);
  }
  std::optional<LibraryFailure> telling;
  for (const std::string& candidate : candidates) {
    LibraryResult result = open_library(candidate);
    auto* failure = std::get_if<LibraryFailure>(&result);
    if (failure == nullptr) return result;
    if (!telling && failure->reason != Reason::library_absent) telling = std::move(*failure);
  }
  if (telling) return *std::move(telling);
  return LibraryFailure{
      Reason::library_absent, search.names.front(),
      fmt::format("{} was not found in {}", joined_names(search.names), places(search))};
}

}  // namespace hal::vendor
