// SPDX-License-Identifier: Apache-2.0
#include "devices/vendor/probe.hpp"

#include "devices/cuda/dialect.hpp"
#include "devices/hip/dialect.hpp"
#include "devices/ppu/dialect.hpp"
#include "devices/vendor/library.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <hal/backend.h>
#include <hal/detail/closure.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>

using Catch::Matchers::ContainsSubstring;
using hal::Reason;
using hal::vendor::Dialect;
using hal::vendor::probe;
using hal::vendor::ProbeResult;
using hal::vendor::Profile;
using hal::vendor::SearchFolder;
using hal::vendor::Surroundings;
using hal_test::TemporaryFolder;

namespace {

const std::string drivers = HAL_TEST_FAKE_DRIVERS;

constexpr const char* names[] = {"libhalfake_nowhere.so.2", "libhalfake_nowhere.so"};
constexpr SearchFolder folders[] = {{"FAKE_SDK", "/lib"}, {"FAKE_SDK", "/core-*/lib"}};
constexpr const char* symbols[] = {"fkInit", "fkDriverGetVersion", "fkMemAlloc_v2"};
constexpr Profile profiles[] = {{names, true, folders, symbols, "fkDriverGetVersion"}};
constexpr const char* nodes[] = {"/dev/fakectl", "/dev/fake[0-9]*"};
constexpr hal::vendor::VisibilityVariable visibility[] = {{"FAKE_VISIBLE_DEVICES", true},
                                                          {"FAKE_LOWER_DEVICES", false}};

Dialect fake_dialect() {
  return {.name = "fake",
          .description = "Fake GPUs",
          .device_noun = "Fake GPU",
          .override_variable = "HAL_FAKE_DRIVER",
          .profiles = profiles,
          .device_nodes = nodes,
          .node_groups = "render and video",
          .pci_vendor = "0xfa4e",
          .visibility_variables = visibility,
          .minimum_version = 11000,
          .open_only_with_device = false};
}

/// A machine with one device, its nodes included, and no library.
class Machine {
 public:
  Machine() {
    root_.write("/dev/fakectl", "");
    root_.write("/dev/fake0", "");
    root_.write("/sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
    root_.write("/sys/bus/pci/devices/0000:3b:00.0/vendor", "0xfa4e\n");
    root_.write("/sys/bus/pci/devices/0000:00:1f.0/class", "0x060100\n");
    root_.write("/sys/bus/pci/devices/0000:00:1f.0/vendor", "0xfa4e\n");
    surroundings.root = root_.path().string();
    surroundings.environment = [this](const char* name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      if (found == environment.end()) return std::nullopt;
      return found->second;
    };
    surroundings.may_use = [this](const std::string& path) { return path != denied; };
  }

  void remove(const std::string& path) const { std::filesystem::remove_all(root_.file(path)); }
  void deny(const std::string& path) { denied = root_.file(path); }
  ProbeResult probe_library(const std::string& file) {
    surroundings.override_library = file;
    return probe(fake_dialect(), surroundings);
  }
  ProbeResult probe_driver(const std::string& name) {
    return probe_library(drivers + "/libhalfake_" + name + ".so");
  }

  std::map<std::string, std::string> environment;
  Surroundings surroundings;

 private:
  TemporaryFolder root_;
  std::string denied;
};

std::string elf_header(unsigned char elf_class, Elf64_Half machine) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = machine;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

}  // namespace

TEST_CASE("a healthy driver is reported as not driven, with its version and path") {
  Machine machine;
  const ProbeResult result = machine.probe_driver("healthy");
  CHECK(result.reason == Reason::not_driven);
  CHECK(result.version == "13.0");
  CHECK_THAT(result.library, ContainsSubstring("libhalfake_healthy.so"));
  CHECK_THAT(result.detail, ContainsSubstring("the driver 13.0 is here"));
}

TEST_CASE("no library of any name is library_absent, saying what was looked for and where") {
  Machine machine;
  machine.environment["FAKE_SDK"] = "/opt/no-such-sdk";
  const ProbeResult result = probe(fake_dialect(), machine.surroundings);
  CHECK(result.reason == Reason::library_absent);
  CHECK(result.library == "libhalfake_nowhere.so.2");
  CHECK_THAT(result.detail, ContainsSubstring("libhalfake_nowhere.so.2, libhalfake_nowhere.so"));
  CHECK_THAT(result.detail, ContainsSubstring("/opt/no-such-sdk/lib"));
  CHECK_THAT(result.detail, ContainsSubstring("0000:3b:00.0"));
}

TEST_CASE("an override that names no file is library_absent, naming the variable") {
  Machine machine;
  const ProbeResult result = machine.probe_library("/no/such/driver.so");
  CHECK(result.reason == Reason::library_absent);
  CHECK_THAT(result.detail, ContainsSubstring("HAL_FAKE_DRIVER"));
  CHECK_THAT(result.detail, ContainsSubstring("/no/such/driver.so does not exist"));
}

TEST_CASE("a driver whose own library is missing is dependency_missing, naming it") {
  Machine machine;
  const ProbeResult result = machine.probe_driver("needs_dependency");
  CHECK(result.reason == Reason::dependency_missing);
  CHECK_THAT(result.detail, ContainsSubstring("needs libhalfake_dependency.so"));
}

TEST_CASE("a driver that nothing links completely is symbol_missing, naming the symbol") {
  Machine machine;
  const ProbeResult result = machine.probe_driver("undefined");
  CHECK(result.reason == Reason::symbol_missing);
  CHECK_THAT(result.detail, ContainsSubstring("the symbol fkDependency,"));
}

TEST_CASE("a driver without a required symbol is symbol_missing, naming symbol and library") {
  Machine machine;
  const ProbeResult result = machine.probe_driver("missing_symbol");
  CHECK(result.reason == Reason::symbol_missing);
  CHECK_THAT(result.detail,
             ContainsSubstring("libhalfake_missing_symbol.so does not offer fkMemAlloc_v2"));
}

TEST_CASE("a stub is library_stub with the vendor's code") {
  Machine machine;
  const ProbeResult result = machine.probe_driver("stub");
  CHECK(result.reason == Reason::library_stub);
  CHECK(result.vendor_code == 34);
  CHECK(result.version.empty());
}

TEST_CASE("what is wrong with a library that was named comes before a missing device") {
  Machine machine;
  machine.remove("/dev");
  CHECK(machine.probe_driver("stub").reason == Reason::library_stub);
  CHECK(machine.probe_driver("healthy").reason == Reason::no_device_node);
}

TEST_CASE("a driver that answers with another code is init_failed with that code") {
  Machine machine;
  const ProbeResult result = machine.probe_driver("mismatch");
  CHECK(result.reason == Reason::init_failed);
  CHECK(result.vendor_code == 803);
}

TEST_CASE("an old driver is driver_too_old, saying what there is and what is needed") {
  Machine machine;
  const ProbeResult result = machine.probe_driver("old");
  CHECK(result.reason == Reason::driver_too_old);
  CHECK_THAT(result.detail, ContainsSubstring("version 10.2"));
  CHECK_THAT(result.detail, ContainsSubstring("11.0 or newer"));
}

TEST_CASE("files that are no library of this process are abi_mismatch, saying what they are") {
  const TemporaryFolder folder;
  Machine machine;
  const auto check = [&](const std::string& content, const std::string& what) {
    const ProbeResult result = machine.probe_library(folder.write("driver.so", content));
    CHECK(result.reason == Reason::abi_mismatch);
    CHECK_THAT(result.detail, ContainsSubstring(what));
  };
  check("INPUT(libdriver.so.1)\n", "a text file");
  check("", "an empty file");
  check(std::string("\0\1\2\3", 4), "some other file");
  check(ELFMAG, "cut short");
  check(elf_header(ELFCLASS32, EM_386), "for 32-bit x86");
  check(elf_header(ELFCLASS64, EM_S390), "for IBM Z");
}

TEST_CASE("a library this process may not read is a question of permission") {
  if (::geteuid() == 0) {
    WARN("skipped: nothing is unreadable for root");
    return;
  }
  const TemporaryFolder folder;
  const std::string file = folder.write("driver.so", "");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  Machine machine;
  CHECK(machine.probe_library(file).reason == Reason::permission);
}

TEST_CASE("a device on the bus without its node is no_device_node") {
  Machine machine;
  machine.remove("/dev/fake0");
  const ProbeResult result = machine.probe_driver("healthy");
  CHECK(result.reason == Reason::no_device_node);
  CHECK_THAT(result.detail, ContainsSubstring("0000:3b:00.0 has no device node /dev/fake[0-9]*"));
}

TEST_CASE("neither node nor device on the bus is no_device") {
  Machine machine;
  machine.remove("/dev");
  machine.remove("/sys/bus/pci/devices/0000:3b:00.0");
  CHECK(machine.probe_driver("healthy").reason == Reason::no_device);
}

TEST_CASE("a node this process may not open is a question of permission, naming node and groups") {
  Machine machine;
  machine.deny("/dev/fake0");
  const ProbeResult result = machine.probe_driver("healthy");
  CHECK(result.reason == Reason::permission);
  CHECK_THAT(result.detail, ContainsSubstring("/dev/fake0: "));
  CHECK_THAT(result.detail, ContainsSubstring("render and video"));
}

TEST_CASE("one device this process may open is enough") {
  Machine machine;
  std::filesystem::copy(machine.surroundings.root + "/dev/fake0",
                        machine.surroundings.root + "/dev/fake1");
  machine.deny("/dev/fake0");
  CHECK(machine.probe_driver("healthy").reason == Reason::not_driven);
}

TEST_CASE("a visibility variable that hides everything is filtered_by_env, with its value") {
  for (const char* value : {"-1", "NoDevFiles", "-1,0"}) {
    Machine machine;
    machine.environment["FAKE_LOWER_DEVICES"] = value;
    const ProbeResult result = machine.probe_driver("healthy");
    CHECK(result.reason == Reason::filtered_by_env);
    CHECK_THAT(result.detail, ContainsSubstring("FAKE_LOWER_DEVICES"));
    CHECK_THAT(result.detail, ContainsSubstring(value));
  }
}

TEST_CASE("an empty visibility variable hides devices only where the vendor says so") {
  Machine machine;
  machine.environment["FAKE_LOWER_DEVICES"] = "";
  CHECK(machine.probe_driver("healthy").reason == Reason::not_driven);
  machine.environment["FAKE_VISIBLE_DEVICES"] = "";
  CHECK(machine.probe_driver("healthy").reason == Reason::filtered_by_env);
}

TEST_CASE("a visibility variable that names devices hides nothing") {
  Machine machine;
  machine.environment["FAKE_VISIBLE_DEVICES"] = "0,1";
  CHECK(machine.probe_driver("healthy").reason == Reason::not_driven);
}

TEST_CASE("a library is found in the folders of the dialect, newest version first") {
  const TemporaryFolder sdk;
  for (const char* version : {"core-7.1", "core-7.2"}) {
    const auto lib = sdk.path() / version / "lib";
    std::filesystem::create_directories(lib);
    std::filesystem::copy(drivers + "/libhalfake_healthy.so", lib / names[1]);
  }
  Machine machine;
  machine.environment["FAKE_SDK"] = sdk.path().string();
  const ProbeResult result = probe(fake_dialect(), machine.surroundings);
  CHECK(result.reason == Reason::not_driven);
  CHECK(result.library == sdk.file("core-7.2/lib/libhalfake_nowhere.so"));
}

TEST_CASE("a damaged library tells more than the absence of the others") {
  const TemporaryFolder sdk;
  sdk.write("lib/libhalfake_nowhere.so", "text");
  Machine machine;
  machine.environment["FAKE_SDK"] = sdk.path().string();
  CHECK(probe(fake_dialect(), machine.surroundings).reason == Reason::abi_mismatch);
}

TEST_CASE("a library already in the process is used, though the loader would not find it") {
  const std::string file = drivers + "/libhalfake_loaded.so";
  REQUIRE(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr);
  const auto result = hal::vendor::find_library(
      {.names = {"libhalfake_nowhere.so", "libhalfake_loaded.so"}, .folders = {}});
  REQUIRE(std::holds_alternative<hal::vendor::Library>(result));
  CHECK(std::get<hal::vendor::Library>(result).path() == file);
}

TEST_CASE("without a version query the version is read from the library's file name") {
  static constexpr Profile by_name[] = {{names, true, {}, symbols, nullptr}};
  Dialect dialect = fake_dialect();
  dialect.profiles = by_name;
  const TemporaryFolder folder;
  const auto check = [&](const std::string& file, const std::string& version, Reason reason) {
    const std::string link = folder.file("libfake.so");
    std::filesystem::remove(link);
    std::filesystem::copy(drivers + "/libhalfake_healthy.so", folder.file(file));
    std::filesystem::create_symlink(file, link);
    Machine machine;
    machine.surroundings.override_library = link;
    const ProbeResult result = probe(dialect, machine.surroundings);
    CHECK(result.version == version);
    CHECK(result.reason == reason);
  };
  check("libversion.so.12.1.70100", "12.1", Reason::not_driven);
  check("libversion.so.5.2.21153-0", "5.2", Reason::driver_too_old);
  check("libversion.so.x", "", Reason::not_driven);
}

TEST_CASE("a library that is slow to open stays closed without a device, unless it is named") {
  Dialect dialect = fake_dialect();
  dialect.open_only_with_device = true;
  Machine machine;
  machine.remove("/dev");
  const ProbeResult result = probe(dialect, machine.surroundings);
  CHECK(result.reason == Reason::no_device_node);
  CHECK(result.library.find('/') == std::string::npos);  // a name: nothing was opened

  machine.surroundings.override_library = drivers + "/libhalfake_healthy.so";
  CHECK_THAT(probe(dialect, machine.surroundings).library, ContainsSubstring("libhalfake_healthy"));
}

TEST_CASE("a second profile is used when the first library is absent, and says so of neither") {
  static constexpr const char* second_names[] = {"libhalfake_healthy.so"};
  static constexpr SearchFolder second_folders[] = {{"FAKE_SDK", ""}};
  static constexpr Profile both[] = {
      {names, true, folders, symbols, "fkDriverGetVersion"},
      {second_names, false, second_folders, symbols, "fkDriverGetVersion"}};
  Dialect dialect = fake_dialect();
  dialect.profiles = both;
  Machine machine;
  machine.environment["FAKE_SDK"] = drivers;
  CHECK(probe(dialect, machine.surroundings).reason == Reason::not_driven);

  machine.environment.clear();
  const ProbeResult absent = probe(dialect, machine.surroundings);
  CHECK(absent.reason == Reason::library_absent);
  CHECK(absent.library == names[0]);
}

TEST_CASE("a vendor backend has a full table, no device, and refuses work with a sentence") {
  for (auto entry :
       {&hal::ppu::backend_entry, &hal::cuda::backend_entry, &hal::hip::backend_entry}) {
    hal_failure failure{};
    const hal_backend* table = entry(nullptr, &failure);
    REQUIRE(table != nullptr);
    CHECK(table->struct_size == sizeof(hal_backend));
    CHECK(table->abi_major == HAL_BACKEND_ABI_MAJOR);
    CHECK(table->device_count() == 0);

    hal_probe state{};
    table->probe(&state);
    CHECK(state.reason != static_cast<int>(Reason::none));
    CHECK(std::strlen(state.detail) > 0);

    hal_device_handle device = nullptr;
    CHECK(table->device_open(0, &device, &failure) == HAL_STATUS_UNSUPPORTED);
    CHECK_THAT(std::string(failure.message), ContainsSubstring("host:0"));
    CHECK(table->stream_synchronize(nullptr, 0, &failure) == HAL_STATUS_UNSUPPORTED);
    table->device_close(nullptr);
  }
}
