// A child process and the pipe to it: a byte that says which of the two follows, then the numbers or the text, to the end.
#include "child.hpp"

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <cerrno>
#include <cstring>
#include <string_view>

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
  bool sent = false;
  if (const auto* text = std::get_if<std::string>(&made)) {
    sent = send(to, "E") && send(to, *text);
  } else {
    const auto& tiles = std::get<kernels::CoreTiles>(made);
    const auto bytes_of = [](const auto& numbers) {
      return std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]);
    };
    sent = tiles.ints.empty() ? send(to, "N") && send(to, bytes_of(tiles.floats)) : send(to, "I") && send(to, bytes_of(tiles.ints));
  }
  ::_exit(sent ? 0 : 1);
}

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? cat("ended by signal ", WTERMSIG(status)) : cat("ended with exit code ", WEXITSTATUS(status));
}

}  // namespace

Made in_child(const std::function<Made()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return cat("no pipe could be made: ", io::error_text(errno));
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return cat("no process could be started: ", io::error_text(error));
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
  if (status != 0 || all.empty()) return cat("the simulator ", how_it_ended(status), ", before the op had ended");
  if (all[0] == 'E') return all.substr(1);
  kernels::CoreTiles tiles;
  const auto take = [&all](auto& numbers) {
    numbers.resize((all.size() - 1) / sizeof numbers[0]);
    std::memcpy(numbers.data(), all.data() + 1, numbers.size() * sizeof numbers[0]);
  };
  all[0] == 'I' ? take(tiles.ints) : take(tiles.floats);
  return tiles;
}

}  // namespace buda::ttsim
