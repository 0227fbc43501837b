// SPDX-License-Identifier: Apache-2.0
// In place on the machine's file system.
#include <buda/io/log_file.hpp>

#include <buda/io/direct_file.hpp>
#include <buda/io/real_file_system.hpp>

#include <fcntl.h>
#include <cerrno>

namespace buda::io {
Result<std::unique_ptr<OutputFile>> create_log(FileSystem& fs, const std::string& path) {
  if (path == kStdStream || !is_real(fs)) return fs.create(path);
  BUDA_TRY(require_not_read(fs, path));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return cannot("IO002", path, "written", errno);
  return std::unique_ptr<OutputFile>(new DirectFile(fd, path));
}

}  // namespace buda::io
