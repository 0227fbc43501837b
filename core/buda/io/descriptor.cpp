// SPDX-License-Identifier: Apache-2.0
// Calls of the system.
#include <buda/io/descriptor.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace buda::io {

int Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  return fd >= 0 ? ::close(fd) : 0;
}

Diagnostic cannot(const char* code, const std::string& path, std::string_view what, int error_number) {
  return input_error(code, {path == kStdStream ? "<stdin>" : path}, cat("cannot be ", what, ": ", error_text(error_number)));
}

Diagnostic cannot_make_folder(const std::string& path, int error_number) {
  std::error_code unknown;
  for (std::filesystem::path above = path; !above.empty(); above = above.parent_path()) {
    if (std::filesystem::is_regular_file(above, unknown))
      return input_error("IO003", {path},
                         above == path ? "cannot be created as a directory: a file has this name"
                                       : cat("cannot be created: '", above.string(), "' is a file"));
    if (!above.has_relative_path()) break;
  }
  return cannot("IO003", path, "created", error_number);
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
