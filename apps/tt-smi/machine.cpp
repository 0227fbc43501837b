// SPDX-License-Identifier: Apache-2.0
// Linux.
#include "apps/tt-smi/machine.hpp"

#include <poll.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <fstream>
#include <limits>
#include <string_view>

namespace buda::tt_smi {
namespace {

// The name in os-release(5), with or without quotes.
std::string distribution() {
  std::ifstream file("/etc/os-release");
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kKey)) continue;
    line.erase(0, kKey.size());
    if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
    return line;
  }
  return "";
}

HostInfo host() {
  HostInfo out;
  utsname names{};
  if (::uname(&names) == 0) {
    out.os = names.sysname;
    out.kernel = names.release;
    out.name = names.nodename;
    out.platform = names.machine;
  }
  out.distribution = distribution();
  out.processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  struct sysinfo memory {};
  if (::sysinfo(&memory) == 0) out.memory_bytes = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
  return out;
}

std::string wall_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool is_alive(std::int64_t process) {
  if (process <= 0 || process > std::numeric_limits<pid_t>::max()) return false;
  return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
}

Input wait(double seconds_to_wait, bool listen) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int milliseconds = static_cast<int>(std::ceil(seconds_to_wait * 1000));
  if (::poll(listen ? &input : nullptr, listen ? 1 : 0, milliseconds) <= 0) return Input::nothing;
  char c = 0;
  while (true) {
    if (::read(STDIN_FILENO, &c, 1) != 1) return Input::end;
    if (c == '\n') return Input::enter;
    if (::poll(&input, 1, 0) <= 0) return Input::nothing;
  }
}

std::optional<std::string> read_line() {
  std::string line;
  for (char c = 0; ::read(STDIN_FILENO, &c, 1) == 1;) {
    if (c == '\n') return line;
    line += c;
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

}  // namespace

Machine this_machine() { return {host, wall_time, seconds, is_alive, wait, read_line}; }

}  // namespace buda::tt_smi
