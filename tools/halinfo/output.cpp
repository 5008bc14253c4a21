// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <system_error>

namespace halinfo {

void reserve_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // Reading from standard input finds nothing; writing to the others fails and is reported.
    if (open("/dev/null", descriptor == 0 ? O_RDWR : O_RDONLY) < 0) return;
  }
}

int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void emit(std::string_view text) {
  std::signal(SIGPIPE, SIG_IGN);
  int problem = write_all(STDOUT_FILENO, text);
  // Some file systems say only now that the disk is full.
  if (close(STDOUT_FILENO) != 0 && problem == 0) problem = errno;
  if (problem != 0) {
    throw std::system_error(problem, std::generic_category(), "cannot write to standard output");
  }
}

void complain(std::string_view sentence) {
  std::string line = "halinfo: ";
  line.append(sentence).push_back('\n');
  // Where standard error is closed, the exit status is all that is left to tell.
  (void)write_all(STDERR_FILENO, line);
}

Screen screen() {
  Screen found;
  if (isatty(STDOUT_FILENO) == 0) return found;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  found.colours = (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
                  std::string_view(terminal) != "dumb";
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    found.columns = std::clamp<std::size_t>(size.ws_col, 60, 100);
  }
  return found;
}

}  // namespace halinfo
