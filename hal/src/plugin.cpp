// SPDX-License-Identifier: Apache-2.0
#include "plugin.hpp"

#include <hal/backend.h>

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace hal::core {
namespace {

BackendTable not_a_plugin(std::string_view why) {
  return BackendTable::refused(
      Reason::not_a_plugin,
      fmt::format("it is not a HAL plug-in ({}): remove it or name the .so of a backend", why));
}

/// The loader says no more than "invalid ELF header" of a text file, and opens devices and pipes.
BackendTable check_file(const std::string& path) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (status.type() == std::filesystem::file_type::not_found) {
    return BackendTable::refused(Reason::library_absent,
                                 "there is no such file: correct the path or remove it");
  }
  if (failed) {
    return BackendTable::refused(
        Reason::permission,
        fmt::format("it cannot be looked at ({}): correct its permissions", failed.message()));
  }
  if (!std::filesystem::is_regular_file(status)) return not_a_plugin("not a file");

  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return BackendTable::refused(Reason::permission,
                                 fmt::format("it cannot be read ({}): correct its permissions",
                                             std::generic_category().message(errno)));
  }
  std::array<char, 4> magic{};
  file.read(magic.data(), magic.size());
  if (!file || std::string_view(magic.data(), magic.size()) != "\177ELF") {
    return not_a_plugin("not an ELF shared object");
  }
  return {};
}

/// The loader tells causes apart by text only.
BackendTable refused_by_loader(const std::string& said) {
  const auto says = [&](std::string_view part) { return said.find(part) != std::string::npos; };
  if (says("cannot open shared object file") || says("' not found")) {
    return BackendTable::refused(
        Reason::dependency_missing,
        fmt::format("a library it needs is missing ({}): install it or add its folder to "
                    "LD_LIBRARY_PATH",
                    said));
  }
  if (says("undefined symbol")) {
    return BackendTable::refused(
        Reason::symbol_missing,
        fmt::format("it does not load ({}): link it with the library that has the symbol", said));
  }
  return not_a_plugin(said);
}

}  // namespace

BackendTable load_plugin(const std::string& path) {
  if (BackendTable problem = check_file(path); !problem.usable()) return problem;
  // A name without a slash would be searched for along the loader's path.
  const std::string file = std::filesystem::absolute(path).string();
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* said = ::dlerror();
    return refused_by_loader(said != nullptr ? said : "the loader does not say why");
  }
  void* symbol = ::dlsym(library, HAL_BACKEND_ENTRY_NAME);
  if (symbol == nullptr) return not_a_plugin("it does not export '" HAL_BACKEND_ENTRY_NAME "'");
  return ask_for_table(reinterpret_cast<hal_backend_entry_function>(symbol));
}

Backend plugin_row(const std::string& path, const BackendTable& table) {
  Backend row;
  if (table.usable()) {
    row = probe(table.functions);
  } else {
    row.name = path;
    row.description = "HAL plug-in";
    row.reason = table.reason;
    row.detail = table.problem;
  }
  if (row.library.empty()) row.library = path;
  row.plugin = true;
  return row;
}

}  // namespace hal::core

namespace hal {

Backend probe_plugin(const std::string& path) noexcept {
  try {
    return core::plugin_row(path, core::load_plugin(path));
  } catch (const std::exception& error) {
    Backend row;
    row.name = path;
    row.reason = Reason::init_failed;
    row.plugin = true;
    row.detail = error.what();
    return row;
  }
}

}  // namespace hal
