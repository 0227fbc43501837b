// SPDX-License-Identifier: Apache-2.0
// The machine's file system: mapped reads, atomic writes, standard streams.
//
// Atomic writes. Data goes to "<name>.tmp-<pid>-<n>" in the destination's directory and is renamed over the destination on commit,
// so that a reader (or a crash, a full disk, a signal) sees the old file, the new one, or none, never a part. What a killed process
// left beside its product goes when the product is made again.
#include <buda/io/file_system.hpp>

#include <buda/base/printable.hpp>
#include <buda/base/text.hpp>
#include <buda/io/descriptor.hpp>
#include <buda/io/direct_file.hpp>
#include <buda/io/left_over.hpp>
#include <buda/io/mapped_memory.hpp>
#include <buda/io/missing_file.hpp>
#include <buda/io/real_file_system.hpp>
#include <buda/io/replaced_input.hpp>
#include <buda/io/temporary_names.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

namespace buda::io {
namespace {

// Below this a copy is cheaper than the page faults of a mapping.
constexpr std::size_t kMapFrom = 1 << 16;

// A symbolic link keeps pointing where it does, and the file behind it is replaced, whether it exists yet or not.
std::string behind_links(const std::string& path) {
  constexpr int kMaxLinks = 40;  // as the kernel's limit
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(target, error); ++i) {
    auto next = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;
  }
  return target.string();
}

Result<std::string> read_stream(int fd, const std::string& path) {
  std::string out;
  std::size_t used = 0;
  while (true) {
    out.resize(std::max<std::size_t>(used + (1 << 16), used * 2));
    ssize_t got = ::read(fd, out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("IO001", path, "read", errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  out.resize(used);
  return out;
}

// Standard output cannot be taken back, so a product for it is gathered and leaves at commit.
class StdoutFile final : public OutputFile {
 public:
  Result<void> write(std::string_view data) override {
    content_ += data;
    return success();
  }
  // What holds names and texts of files must not steer a terminal.
  Result<void> commit() override {
    if (::isatty(STDOUT_FILENO) != 0) content_ = printable(content_, Lines::kept);
    return write_all(STDOUT_FILENO, content_, std::string(kStdStream));
  }

 private:
  std::string content_;
};

class AtomicFile final : public OutputFile {
 public:
  AtomicFile(int fd, std::string path, std::string temporary, WriteMode mode)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)), mode_(mode) {
    hold(fd_);
  }
  ~AtomicFile() override {
    if (done_) return;
    fd_.close();
    ::unlink(temporary_.c_str());
    temporary_names().remove(temporary_);
  }
  Result<void> write(std::string_view data) override { return write_all(fd_.get(), data, path_); }
  Result<void> commit() override {
    // Some file systems tell of a full disk only here.
    if (fd_.close() != 0) return cannot("IO002", path_, "written", errno);
    if (mode_ == WriteMode::if_changed && same_content()) return success();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return cannot("IO002", path_, "written", errno);
    done_ = true;
    temporary_names().remove(temporary_);
    return success();
  }

 private:
  bool same_content() const {
    auto fs = make_real_file_system();
    if (!fs->exists(path_) || fs->is_directory(path_)) return false;
    auto before = fs->read(path_);
    auto after = fs->read(temporary_);
    return before && after && before->view() == after->view();
  }

  Descriptor fd_;
  std::string path_;
  std::string temporary_;
  WriteMode mode_;
  bool done_ = false;
};

// /dev/zero and its like; what is typed at a terminal ends.
bool is_endless(int fd, const struct stat& info) {
  if (!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode)) return false;
  struct stat null {};
  const bool is_null = ::stat("/dev/null", &null) == 0 && null.st_rdev == info.st_rdev;
  return !is_null && ::isatty(fd) == 0;
}

class RealFileSystem final : public FileSystem {
 public:
  Result<Bytes> read(const std::string& path) override {
    note_read(path);
    if (path == kStdStream) {
      if (!stdin_) {
        BUDA_ASSIGN(std::string text, read_stream(STDIN_FILENO, path));
        stdin_ = Bytes(std::move(text));
      }
      return *stdin_;
    }
    // What a pipe gives, it gives once: its reader may ask again, after a look at the kind of the file for example.
    if (auto piped = pipes_.find(path); piped != pipes_.end()) return piped->second;
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 && errno == ENOENT) return missing_file(*this, path, error_text(ENOENT));
    if (fd.get() < 0) return cannot("IO001", path, "read", errno);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return cannot("IO001", path, "read", errno);
    if (S_ISDIR(info.st_mode)) return directory_for_file(path);
    if (is_endless(fd.get(), info)) return input_error("IO001", {path}, "cannot be read: it is a device, and may have no end");
    auto size = static_cast<std::size_t>(info.st_size);
    if (S_ISREG(info.st_mode) && size >= kMapFrom) {
      if (auto mapped = map_file(fd.get(), size)) return *mapped;
    }
    BUDA_ASSIGN(std::string text, read_stream(fd.get(), path));
    Bytes bytes(std::move(text));
    if (S_ISFIFO(info.st_mode)) pipes_.emplace(path, bytes);
    return bytes;
  }

  Result<std::unique_ptr<OutputFile>> create(const std::string& path, WriteMode mode) override {
    if (path == kStdStream) return std::unique_ptr<OutputFile>(new StdoutFile);
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) return cannot("IO002", path, "written", EISDIR);
      if (!S_ISREG(info.st_mode)) {
        int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) return cannot("IO002", path, "written", errno);
        return std::unique_ptr<OutputFile>(new DirectFile(fd, path));
      }
      BUDA_TRY(require_not_read(*this, path));
    }
    std::string target = behind_links(path);
    left_over_.remove_of(target);
    std::string temporary = temporary_name(target);
    // The name is in the table before the file exists: a signal between the two would leave the file.
    if (!temporary_names().add(temporary)) return cannot("IO002", path, "written", ENOMEM);
    int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
      int error = errno;
      temporary_names().remove(temporary);
      return cannot("IO002", path, "written", error);
    }
    return std::unique_ptr<OutputFile>(new AtomicFile(fd, target, temporary, mode));
  }

  bool exists(const std::string& path) override {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
  }
  bool is_directory(const std::string& path) override {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }
  Result<void> make_directories(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error || !is_directory(path)) return cannot_make_folder(path, error ? error.value() : ENOTDIR);
    return success();
  }
  std::string canonical(const std::string& path) override {
    std::error_code error;
    auto out = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    return error ? std::filesystem::path(path).lexically_normal().string() : out.string();
  }
  Result<std::vector<std::string>> list(const std::string& directory) override {
    std::error_code error;
    std::vector<std::string> names;
    std::filesystem::directory_iterator it(directory, error), end;
    for (; !error && it != end; it.increment(error)) names.push_back(it->path().filename().string());
    if (error) return cannot("IO001", directory, "listed", error.value());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::optional<Bytes> stdin_;
  std::map<std::string, Bytes> pipes_;
  LeftOver left_over_;
};

}  // namespace

Result<void> FileSystem::write(const std::string& path, std::string_view content, WriteMode mode) {
  BUDA_ASSIGN(auto file, create(path, mode));
  BUDA_TRY(file->write(content));
  return file->commit();
}

std::unique_ptr<FileSystem> make_real_file_system() { return std::make_unique<RealFileSystem>(); }

bool is_real(const FileSystem& fs) { return dynamic_cast<const RealFileSystem*>(&fs) != nullptr; }

Diagnostic would_replace_input(const std::string& path) {
  Diagnostic d = usage_error("IO007", cat("'", path, "' is an input of this command; it is not overwritten"));
  d.hint = "give the product another name, as with -o";
  return d;
}

// Asked for products that exist already.
Result<void> require_not_read(const FileSystem& fs, const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return success();
  for (const auto& name : fs.files_read()) {
    struct stat other {};
    if (::stat(name.c_str(), &other) != 0 || other.st_dev != file.st_dev || other.st_ino != file.st_ino) continue;
    return would_replace_input(path);
  }
  return success();
}

std::string error_text(int error_number) { return std::generic_category().message(error_number); }

}  // namespace buda::io
