// SPDX-License-Identifier: Apache-2.0
#include "other_version.hpp"

#include "version_text.hpp"

#include <hal/export.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <memory>
#include <string_view>
#include <vector>

/// How one libhal recognises another. Read by looking it up, never by naming it: the name alone may
/// be bound to the other library's.
extern "C" HAL_API const char hal_library_version[];
extern "C" const char hal_library_version[] = HAL_VERSION_TEXT;

namespace hal::core {
namespace {

constexpr std::string_view own_version = HAL_VERSION_TEXT;

/// An address inside this library, whatever else is loaded.
const char inside_this_library = 0;

std::string own_path() {
  Dl_info found{};
  const bool known = ::dladdr(&inside_this_library, &found) != 0 && found.dli_fname != nullptr;
  return known ? found.dli_fname : "libhal";
}

bool contains(const dl_phdr_info& object, const void* address) noexcept {
  const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
  for (ElfW(Half) i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const ElfW(Addr) begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && wanted >= begin && wanted - begin < segment.p_memsz)
      return true;
  }
  return false;
}

/// Paths of the loaded objects that are called libhal.so*, this one left out.
std::vector<std::string> other_libraries() {
  std::vector<std::string> paths;
  const auto visit = [](dl_phdr_info* object, std::size_t, void* out) {
    const std::string_view path = object->dlpi_name != nullptr ? object->dlpi_name : "";
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (file.starts_with("libhal.so") && !contains(*object, &inside_this_library)) {
      static_cast<std::vector<std::string>*>(out)->emplace_back(path);
    }
    return 0;
  };
  ::dl_iterate_phdr(visit, &paths);
  return paths;
}

struct CloseLibrary {
  void operator()(void* library) const noexcept { ::dlclose(library); }
};

}  // namespace

std::string find_other_version() {
  for (const std::string& path : other_libraries()) {
    const std::unique_ptr<void, CloseLibrary> library(
        ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD));
    if (library == nullptr) continue;
    const auto* version = static_cast<const char*>(::dlsym(library.get(), "hal_library_version"));
    if (version != nullptr && version != own_version) {
      return fmt::format(
          "this process has loaded two versions of HAL, {} from '{}' and {} from '{}': link the "
          "program and its libraries with one of them",
          own_version, own_path(), version, path);
    }
  }
  return {};
}

}  // namespace hal::core
