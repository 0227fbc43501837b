// SPDX-License-Identifier: Apache-2.0
// Only calls of the system and memory that is there before.
#include <buda/cli/crash_report.hpp>

#include <buda/cli/tool.hpp>
#include <buda/io/sha256.hpp>

#include <execinfo.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace buda::cli {
namespace {

constexpr int kMaxFrames = 128;

const char* reported_program = "";
int argument_count = 0;
char** argument_values = nullptr;
int report_file = -1;
std::array<char, 32> version;
std::array<char, 4096> report_path;
std::array<void*, kMaxFrames> frames;

class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}
  Writer& operator<<(const char* text) noexcept {
    const ssize_t put = ::write(fd_, text, std::strlen(text));
    whole_ = whole_ && put >= 0;
    return *this;
  }
  Writer& operator<<(std::uint64_t number) noexcept {
    std::array<char, 24> digits{};
    char* at = digits.data() + digits.size() - 1;
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << at;
  }
  bool is_whole() const { return whole_; }

 private:
  int fd_;
  bool whole_ = true;
};

// "FILE: 1234 bytes, sha256 …" for each argument, or value of an option, that is a file.
void write_digests(Writer& out) noexcept {
  for (int i = 1; i < argument_count; ++i) {
    const char* file = argument_values[i];
    if (const char* value = std::strchr(file, '='); value != nullptr && file[0] == '-') file = value + 1;
    // A FIFO has no writer any more.
    const int fd = ::open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info {};
    std::array<char, 65> digits{};
    if (fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && io::sha256_hex_of_file(fd, digits))
      out << "file: " << file << ", " << static_cast<std::uint64_t>(info.st_size) << " bytes, sha256 " << digits.data() << "\n";
    if (fd >= 0) ::close(fd);
  }
}

}  // namespace

void prepare_crash_report(const char* program, int argc, char** argv) {
  reported_program = program;
  argument_count = argc;
  argument_values = argv;
  const char* folder = std::getenv("TMPDIR");
  std::snprintf(report_path.data(), report_path.size(), "%s/buda-crash-%ld.txt", folder == nullptr || *folder == '\0' ? "/tmp" : folder,
                static_cast<long>(::getpid()));
  std::snprintf(version.data(), version.size(), "%s", version_text().c_str());
  // The first call loads what it needs.
  ::backtrace(frames.data(), 1);
}

const char* begin_crash_report(int signal, const char* plugin) noexcept {
  // What an earlier process of this number has left is not followed.
  ::unlink(report_path.data());
  report_file = ::open(report_path.data(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (report_file < 0) return nullptr;
  Writer out(report_file);
  out << reported_program << " (OpenBuda) " << version.data() << " ended by signal " << static_cast<std::uint64_t>(signal) << "\n";
  if (plugin != nullptr) out << "in: " << plugin << "\n";
  out << "command:";
  for (int i = 0; i < argument_count; ++i) out << " " << argument_values[i];
  out << "\n";
  if (out.is_whole()) return report_path.data();
  ::unlink(report_path.data());
  return nullptr;
}

void write_digests_and_backtrace() noexcept {
  Writer out(report_file);
  write_digests(out);
  out << "backtrace:\n";
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), kMaxFrames), report_file);
}

namespace {

// Lines of /proc/self/maps, "BEGIN-END RIGHTS OFFSET DEVICE INODE PATH", read through a buffer.
class Maps {
 public:
  Maps() : fd_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Maps() {
    if (fd_ >= 0) ::close(fd_);
  }
  // The next line, without its end; what is longer than a name can be is cut.
  bool next(FileName& line) noexcept {
    std::size_t length = 0;
    char c = 0;
    while (get(c) && c != '\n')
      if (length + 1 < line.size()) line[length++] = c;
    line[length] = 0;
    return length > 0;
  }

 private:
  bool get(char& c) noexcept {
    if (at_ == filled_) {
      const ssize_t got = fd_ < 0 ? 0 : ::read(fd_, buffer_.data(), buffer_.size());
      if (got <= 0) return false;
      at_ = 0;
      filled_ = static_cast<std::size_t>(got);
    }
    c = buffer_[at_++];
    return true;
  }

  int fd_;
  std::array<char, 1024> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace

bool find_mapped_file(const void* address, FileName& name) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  Maps maps;
  while (maps.next(name)) {
    char* after = nullptr;
    const std::uintptr_t begin = std::strtoull(name.data(), &after, 16);
    const std::uintptr_t end = *after == '-' ? std::strtoull(after + 1, nullptr, 16) : 0;
    if (wanted < begin || wanted >= end) continue;
    const char* path = std::strchr(name.data(), '/');
    if (path == nullptr) return false;
    std::memmove(name.data(), path, std::strlen(path) + 1);
    return true;
  }
  return false;
}

}  // namespace buda::cli
