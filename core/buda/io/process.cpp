// SPDX-License-Identifier: Apache-2.0
// Child processes, kept in a table that a signal handler may read.
#include <buda/io/process.hpp>

#include <buda/base/printable.hpp>
#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <limits>
#include <optional>

extern char** environ;

namespace buda::io {
namespace {

std::array<std::atomic<pid_t>, 64> running{};
std::atomic<bool> interrupted{false};

Diagnostic stopped() {
  Diagnostic d = input_error("IO006", {}, "interrupted");
  d.fault = Fault::interrupted;
  return d;
}

std::atomic<pid_t>* enlist(pid_t pid) {
  for (auto& slot : running) {
    pid_t free = 0;
    if (slot.compare_exchange_strong(free, pid)) return &slot;
  }
  return nullptr;
}

// The child starts with the default reaction to every signal and an empty mask, whatever ours are.
struct SpawnAttributes {
  posix_spawnattr_t value;
  // `own_group`: signals can reach it and all that it starts, and those of a terminal do not.
  explicit SpawnAttributes(bool own_group) {
    ::posix_spawnattr_init(&value);
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&value, &all);
    ::posix_spawnattr_setsigmask(&value, &none);
    ::posix_spawnattr_setflags(
        &value, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&value); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
};

using Limit = std::optional<std::chrono::milliseconds>;

// Until the process has ended, or the time is over; false then.
bool ends_within(pid_t pid, std::chrono::milliseconds limit) {
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return true;  // a kernel that has none: it is waited for without a limit
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int ready = 0;
  do {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd descriptor{process, POLLIN, 0};
    ready = ::poll(&descriptor, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max())));
  } while (ready < 0 && errno == EINTR);
  ::close(process);
  return ready != 0;
}

Result<ProcessResult> run(const std::vector<std::string>& argv, Limit limit) {
  if (interrupted) return stopped();
  std::vector<char*> arguments;
  for (const auto& a : argv) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  SpawnAttributes attributes(limit.has_value());
  pid_t pid = 0;
  int error = ::posix_spawn(&pid, argv.front().c_str(), nullptr, &attributes.value, arguments.data(), environ);
  if (error != 0) return input_error("IO005", {argv.front()}, cat("cannot be started: ", error_text(error)));
  // A negative number is a group of processes.
  const pid_t reached = limit ? -pid : pid;
  std::atomic<pid_t>* slot = enlist(reached);
  if (interrupted) ::kill(reached, SIGTERM);
  const bool timed_out = limit && !ends_within(pid, *limit);
  if (timed_out) ::kill(reached, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno == EINTR) continue;
    if (slot != nullptr) slot->store(0);
    return input_error("IO005", {argv.front()}, cat("cannot be waited for: ", error_text(errno)));
  }
  if (slot != nullptr) slot->store(0);
  if (interrupted) return stopped();
  ProcessResult result;
  result.timed_out = timed_out;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.exit_code = 128 + result.signal;
  }
  return result;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& argv) { return run(argv, std::nullopt); }
Result<ProcessResult> run_process(const std::vector<std::string>& argv, std::chrono::milliseconds limit) { return run(argv, limit); }

bool interrupt_processes(int signal) noexcept {
  bool any = false;
  for (auto& slot : running) {
    pid_t pid = slot.load();
    if (pid == 0) continue;
    any = true;
    ::kill(pid, signal);
  }
  if (any) interrupted = true;
  return any;
}

namespace {

// $'\033': what would steer a terminal, or end the line. Bash, zsh, ksh and POSIX of 2024 read it.
std::string with_escapes(std::string_view argument) {
  std::string word = "$'";
  for (char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      word.append({'\\', c});
    } else if (byte < 0x20 || byte >= 0x7f) {
      word += '\\';
      for (int shift : {6, 3, 0}) word += static_cast<char>('0' + (byte >> shift & 7));
    } else {
      word += c;
    }
  }
  return word + '\'';
}

}  // namespace

std::string shell_line(const std::vector<std::string>& argv) {
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
  std::vector<std::string> words;
  for (const auto& a : argv) {
    if (!a.empty() && a.find_first_not_of(kSafe) == std::string::npos) {
      words.push_back(a);
      continue;
    }
    if (!is_printable(a) || a.find_first_of("\n\t") != std::string::npos) {
      words.push_back(with_escapes(a));
      continue;
    }
    std::string word = "'";
    for (char c : a) word += c == '\'' ? "'\\''" : std::string(1, c);
    words.push_back(word + '\'');
  }
  return join(words, " ");
}

}  // namespace buda::io
