// SPDX-License-Identifier: Apache-2.0
#include "plugin_probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <hal/config.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "output.hpp"

namespace halinfo {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{10};

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

/// A child at work on one plug-in.
struct Probe {
  std::string path;
  pid_t child = -1;
  Descriptor pipe;
  std::string text;
};

PluginReport failed(const std::string& path, hal::Reason reason, std::string detail) {
  hal::Backend backend;
  backend.name = path;
  backend.description = "HAL plug-in";
  backend.library = path;
  backend.plugin = true;
  backend.reason = reason;
  backend.detail = std::move(detail);
  return {path, to_json(backend)};
}

/// Runs in the child. Registered there, so that a name that is taken already is found out too.
PluginReport describe(const std::string& path) {
  try {
    hal::config::set("HAL_PLUGINS", path);
    for (const hal::Backend& backend : hal::backends()) {
      if (!backend.plugin) continue;
      PluginReport report{path, to_json(backend)};
      for (const hal::DeviceSummary& device : hal::describe_devices()) {
        if (device.backend == backend.name) report.devices.push_back(to_json(device));
      }
      return report;
    }
    return failed(path, hal::Reason::init_failed, "HAL could not be started to load it");
  } catch (const std::exception& error) {
    return failed(path, hal::Reason::init_failed, error.what());
  }
}

[[noreturn]] void report_and_end(const std::string& path, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core_file{};
  setrlimit(RLIMIT_CORE, &no_core_file);
  // Standard output holds one document; what a plug-in prints must not get into it.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const PluginReport report = describe(path);
  const std::string text = to_text(Json{{"backend", report.backend}, {"devices", report.devices}});
  _exit(write_all(pipe, text) == 0 ? 0 : 1);
}

Probe start(const std::string& path) {
  Probe probe{path, -1, Descriptor(), {}};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return probe;
  probe.pipe = Descriptor(ends[0]);
  const Descriptor write_end(ends[1]);
  probe.child = fork();
  if (probe.child == 0) report_and_end(path, write_end.number());
  return probe;
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

void read_until(Probe& probe, Clock::time_point deadline) {
  char chunk[4096];
  for (;;) {
    pollfd ready{probe.pipe.number(), POLLIN, 0};
    const int found = poll(&ready, 1, milliseconds_until(deadline));
    if (found == 0) return;
    if (found < 0 && errno == EINTR) continue;
    const ssize_t got = read(probe.pipe.number(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    probe.text.append(chunk, static_cast<std::size_t>(got));
  }
}

struct Ending {
  int status = 0;
  bool killed = false;  ///< by us: it took too long
};

/// A child that has closed its end of the pipe is about to end, but need not.
Ending wait_until(pid_t child, Clock::time_point deadline) {
  Ending ending;
  while (waitpid(child, &ending.status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) {
      kill(child, SIGKILL);
      ending.killed = true;
      waitpid(child, &ending.status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ending;
}

std::string signal_text(int number) {
  const char* name = sigabbrev_np(number);
  const char* words = sigdescr_np(number);
  if (name == nullptr || words == nullptr) return "signal " + std::to_string(number);
  return std::string("SIG") + name + " (" + words + ")";
}

PluginReport finish(Probe& probe, Clock::time_point deadline) {
  if (probe.child < 0) {
    return failed(probe.path, hal::Reason::init_failed,
                  "no process could be started to probe it: the system is out of processes, "
                  "memory or file descriptors");
  }
  read_until(probe, deadline);
  const Ending ending = wait_until(probe.child, deadline);
  if (ending.killed) {
    PluginReport report = failed(probe.path, hal::Reason::init_failed,
                                 "it did not answer within " + std::to_string(patience.count()) +
                                     " seconds, and the process that probed it was ended");
    // The driver that this reason speaks of is not what is at fault.
    report.backend["advice"] = hal::advice(hal::Reason::crashed);
    return report;
  }
  if (WIFSIGNALED(ending.status)) {
    return failed(
        probe.path, hal::Reason::crashed,
        "it ended the process that probed it with " + signal_text(WTERMSIG(ending.status)));
  }
  const Json answer = Json::parse(probe.text, nullptr, false);
  if (WEXITSTATUS(ending.status) != 0 || answer.is_discarded()) {
    return failed(probe.path, hal::Reason::crashed,
                  "it ended the process that probed it with exit status " +
                      std::to_string(WEXITSTATUS(ending.status)));
  }
  return {probe.path, answer["backend"], answer["devices"]};
}

PluginReport name_taken(const std::string& path, const PluginReport& by) {
  return failed(path, hal::Reason::init_failed,
                "its name '" + by.backend["name"].get<std::string>() +
                    "' is already that of the plug-in '" + by.path +
                    "': rename or remove one of them");
}

}  // namespace

std::string PluginReport::sentence() const {
  const auto detail = backend["detail"].get<std::string>();
  return "plug-in " + path + ": " + backend["reason"].get<std::string>() + ": " +
         (detail.empty() ? backend["advice"].get<std::string>() : detail);
}

std::vector<PluginReport> take_plugins() {
  const std::vector<std::string> paths = hal::config::path_list("HAL_PLUGINS");
  if (paths.empty()) return {};
  hal::config::set("HAL_PLUGINS", "");

  std::vector<Probe> probes;
  for (const std::string& path : paths)
    probes.push_back(start(path));
  const Clock::time_point deadline = Clock::now() + patience;
  std::vector<PluginReport> reports;
  for (Probe& probe : probes) {
    PluginReport report = finish(probe, deadline);
    const auto same = std::find_if(reports.begin(), reports.end(), [&](const PluginReport& other) {
      return other.works() && other.backend["name"] == report.backend["name"];
    });
    reports.push_back(same == reports.end() ? std::move(report) : name_taken(probe.path, *same));
  }
  return reports;
}

}  // namespace halinfo
