// SPDX-License-Identifier: Apache-2.0
// Requests through a socket: a head, then bytes that are written. What is read comes back; a step is answered by a byte.
#include "chip_bus.hpp"

#include "library.hpp"

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace buda::ttsim {
namespace {

using device::NocCoord;

struct Request {
  enum class Kind : std::uint8_t { write, read, step } kind = Kind::step;
  bool host = false;  // its memory, not a node's
  std::uint32_t x = 0, y = 0;
  std::uint64_t address = 0, bytes = 0;  // of a step: cycles
};
constexpr std::uint64_t kMaxBytes = 1 << 20;  // of a request

bool send_all(int to, const void* from, std::size_t bytes) {
  const char* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t count = ::send(to, next, bytes, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_all(int from, void* to, std::size_t bytes) {
  char* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = ::recv(from, next, bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

// False when nobody asks any more.
bool serve(Library& library, int socket, std::string& bytes) {
  Request r;
  if (!receive_all(socket, &r, sizeof r)) return false;
  if (r.kind == Request::Kind::step) {
    library.clock(static_cast<std::uint32_t>(r.bytes));
    return send_all(socket, "", 1);
  }
  bytes.resize(r.bytes);
  if (r.kind == Request::Kind::write) {
    if (!receive_all(socket, bytes.data(), bytes.size())) return false;
    r.host ? void(bytes.copy(Library::host_memory(r.address), bytes.size()))
           : library.write_node(r.x, r.y, r.address, bytes.data(), bytes.size());
    return true;
  }
  r.host ? void(bytes.assign(Library::host_memory(r.address), bytes.size()))
         : library.read_node(r.x, r.y, r.address, bytes.data(), bytes.size());
  return send_all(socket, bytes.data(), bytes.size());
}

[[noreturn]] void be_chip(const std::string& path, int socket) {
  // The library tells what it does not support on standard output, where products may go.
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  auto loaded = Library::load(path, true);
  std::string why;
  if (const auto* failed = std::get_if<std::string>(&loaded)) why = *failed;
  const std::uint64_t size = why.size();
  if (!send_all(socket, &size, sizeof size) || !send_all(socket, why.data(), why.size()) || !why.empty()) ::_exit(1);
  std::string bytes;
  while (serve(std::get<Library>(loaded), socket, bytes)) {
  }
  ::_exit(0);
}

class ChipBus final : public chip::Bus {
 public:
  ChipBus(pid_t child, int socket, std::optional<NocCoord> host) : child_(child), socket_(socket), host_(host) {}
  ChipBus(const ChipBus&) = delete;
  ~ChipBus() override {
    ::close(socket_);
    if (child_ > 0) wait_for_end();
  }

  Result<void> greet(const std::string& path) {
    std::uint64_t size = 0;
    if (!receive_all(socket_, &size, sizeof size)) return ended();
    std::string why(size, '\0');
    if (!receive_all(socket_, why.data(), why.size())) return ended();
    if (why.empty()) return success();
    return input_error("TT002", {}, cat("library '", path, "': ", why));
  }

  Result<void> write(NocCoord node, std::uint64_t address, std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMaxBytes);
      if (!ask(Request::Kind::write, node, address, part.size()) || !send_all(socket_, part.data(), part.size())) return ended();
      bytes.remove_prefix(part.size());
      address += part.size();
    }
    return success();
  }
  Result<void> read(NocCoord node, std::uint64_t address, char* to, std::size_t bytes) override {
    while (bytes > 0) {
      const std::size_t part = std::min<std::size_t>(bytes, kMaxBytes);
      if (!ask(Request::Kind::read, node, address, part) || !receive_all(socket_, to, part)) return ended();
      to += part;
      bytes -= part;
      address += part;
    }
    return success();
  }
  Result<void> step(std::uint32_t cycles) override {
    char answer = 0;
    if (!ask(Request::Kind::step, {}, 0, cycles) || !receive_all(socket_, &answer, 1)) return ended();
    return success();
  }

 private:
  bool ask(Request::Kind kind, NocCoord node, std::uint64_t address, std::uint64_t bytes) {
    const Request r{kind, host_ && node == *host_, static_cast<std::uint32_t>(node.x), static_cast<std::uint32_t>(node.y), address, bytes};
    return send_all(socket_, &r, sizeof r);
  }

  int wait_for_end() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
  }

  Diagnostic ended() {
    if (child_ <= 0) return input_error("TT003", {}, "the simulator has ended");
    const int status = wait_for_end();
    return input_error("TT003", {},
                       WIFSIGNALED(status)
                           ? cat("the simulator ended by signal ", WTERMSIG(status))
                           : cat("the simulator ended with exit code ", WEXITSTATUS(status), ": what it said is on standard error"));
  }

  pid_t child_;
  int socket_;
  std::optional<NocCoord> host_;
};

}  // namespace

Result<std::unique_ptr<chip::Bus>> open_chip(const std::string& library, std::optional<NocCoord> host) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return input_error("TT003", {}, cat("no socket could be made: ", io::error_text(errno)));
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return input_error("TT003", {}, cat("no process could be started: ", io::error_text(error)));
  }
  if (child == 0) {
    ::close(ends[0]);
    be_chip(library, ends[1]);
  }
  ::close(ends[1]);
  auto bus = std::make_unique<ChipBus>(child, ends[0], host);
  BUDA_TRY(bus->greet(library));
  return std::unique_ptr<chip::Bus>(std::move(bus));
}

}  // namespace buda::ttsim
