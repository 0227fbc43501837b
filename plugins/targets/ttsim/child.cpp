// SPDX-License-Identifier: Apache-2.0
// A child process and the pipe to it: a byte that says what follows, the bytes of the destination register as a number of 8 bytes and then
// themselves, and the tiles or why there are none, to the end.
#include "child.hpp"

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace buda::ttsim {
namespace {

bool send(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string receive(int from) {
  std::string all;
  char part[65536];
  for (;;) {
    const ssize_t count = ::read(from, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return all;
    all.append(part, static_cast<std::size_t>(count));
  }
}

[[noreturn]] void be_child(int to, const std::function<Made()>& work) {
  // The library tells what it does not support on standard output, where products may go.
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const Made made = work();
  const std::uint64_t size = made.destination.size();
  const auto send_all = [&](std::string_view kind, std::string_view rest) {
    return send(to, kind) && send(to, {reinterpret_cast<const char*>(&size), sizeof size}) && send(to, made.destination) && send(to, rest);
  };
  const bool sent = made.failure ? send_all("E", *made.failure) : send_all("T", made.tiles);
  ::_exit(sent ? 0 : 1);
}

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? cat("ended by signal ", WTERMSIG(status)) : cat("ended with exit code ", WEXITSTATUS(status));
}

Made failed(std::string why) { return {std::move(why), {}, {}}; }

}  // namespace

Made in_child(const std::function<Made()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return failed(cat("no pipe could be made: ", io::error_text(errno)));
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return failed(cat("no process could be started: ", io::error_text(error)));
  }
  if (child == 0) {
    ::close(ends[0]);
    be_child(ends[1], work);
  }
  ::close(ends[1]);
  const std::string all = receive(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::uint64_t size = 0;
  constexpr std::size_t kHead = 1 + sizeof size;
  if (all.size() >= kHead) std::memcpy(&size, all.data() + 1, sizeof size);
  if (status != 0 || all.size() < kHead || all.size() - kHead < size)
    return failed(cat("the simulator ", how_it_ended(status), ", before the op had ended"));
  std::string destination = all.substr(kHead, size), rest = all.substr(kHead + size);
  if (all[0] == 'E') return {std::move(rest), {}, std::move(destination)};
  return {std::nullopt, std::move(rest), std::move(destination)};
}

}  // namespace buda::ttsim
