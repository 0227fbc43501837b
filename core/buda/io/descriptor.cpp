// SPDX-License-Identifier: Apache-2.0
// Calls of the system.
#include <buda/io/descriptor.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace buda::io {

int Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  return fd >= 0 ? ::close(fd) : 0;
}

Diagnostic cannot(const char* code, const std::string& path, std::string_view what, int error_number) {
  return input_error(code, {path == kStdStream ? "<stdin>" : path}, cat("cannot be ", what, ": ", error_text(error_number)));
}

Result<void> write_all(int fd, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    ssize_t put = ::write(fd, data.data(), data.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return input_error("IO002", {path == kStdStream ? "<stdout>" : path}, cat("cannot be written: ", error_text(errno)));
    data.remove_prefix(static_cast<std::size_t>(put));
  }
  return success();
}

void hold(const Descriptor& file) noexcept { (void)::flock(file.get(), LOCK_EX | LOCK_NB); }

}  // namespace buda::io
