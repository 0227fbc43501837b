// In place on the machine's file system.
#include <buda/io/log_file.hpp>

#include <buda/io/descriptor.hpp>
#include <buda/io/real_file_system.hpp>

#include <fcntl.h>
#include <cerrno>
#include <utility>

namespace buda::io {
namespace {

class LogFile final : public OutputFile {
 public:
  LogFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Result<void> write(std::string_view data) override { return write_all(fd_.get(), data, path_); }
  Result<void> commit() override {
    // Some file systems tell of a full disk only here.
    if (fd_.close() != 0) return cannot("IO002", path_, "written", errno);
    return success();
  }

 private:
  Descriptor fd_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<OutputFile>> create_log(FileSystem& fs, const std::string& path) {
  if (path == kStdStream || !is_real(fs)) return fs.create(path);
  BUDA_TRY(require_not_read(fs, path));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return cannot("IO002", path, "written", errno);
  return std::unique_ptr<OutputFile>(new LogFile(fd, path));
}

}  // namespace buda::io
