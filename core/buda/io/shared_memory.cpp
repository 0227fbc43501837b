// SPDX-License-Identifier: Apache-2.0
// shm_open, locks of open file descriptions, and futexes. Linux.
#include <buda/io/shared_memory.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <utility>

namespace buda::io {
namespace {

Diagnostic cannot(const std::string& name, const std::string& what) {
  return input_error("IO040", {}, cat("shared memory '", name, "' ", what));
}

struct flock lock_of(std::uint32_t number, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = number;
  lock.l_len = 1;
  return lock;
}

// POSIX: one slash, at the front.
Result<std::string> posix_name(const std::string& name) {
  if (name.empty() || name.size() > 200 || name.find_first_of(std::string("/\0", 2)) != std::string::npos)
    return cannot(name, "cannot be called so: a name has 1 to 200 characters, and no slash");
  return cat('/', name);
}

}  // namespace

Result<void> SharedMemory::map(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) return cannot(name_, cat("cannot be mapped: ", error_text(errno)));
  data_ = static_cast<std::byte*>(memory);
  size_ = size;
  return success();
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::create(const std::string& name, std::size_t size) {
  BUDA_ASSIGN(const std::string path, posix_name(name));
  BUDA_ASSIGN(auto left, open(name));
  if (left && left->is_claimed(0)) return cannot(name, "is in use by another process");
  if (left) shm_unlink(path.c_str());
  const int fd = shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return cannot(name, cat("cannot be created: ", error_text(errno)));
  std::unique_ptr<SharedMemory> out(new SharedMemory(name, fd, true));
  out->claim(0);
  // Now, so that a lack of memory is an error here, and no signal later.
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(size)); error != 0)
    return cannot(name, cat("cannot have ", size, " bytes: ", error_text(error)));
  BUDA_TRY(out->map(size));
  return out;
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::open(const std::string& name) {
  BUDA_ASSIGN(const std::string path, posix_name(name));
  const int fd = shm_open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (fd < 0 && errno == ENOENT) return std::unique_ptr<SharedMemory>();
  if (fd < 0) return cannot(name, cat("cannot be opened: ", error_text(errno)));
  std::unique_ptr<SharedMemory> out(new SharedMemory(name, fd, false));
  struct stat facts = {};
  if (fstat(fd, &facts) != 0) return cannot(name, cat("cannot be opened: ", error_text(errno)));
  if (facts.st_uid != ::geteuid()) return cannot(name, cat("belongs to user ", facts.st_uid, ", and is not used"));
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) return cannot(name, "is open to other users, and is not used");
  if (facts.st_size > 0) BUDA_TRY(out->map(static_cast<std::size_t>(facts.st_size)));
  return out;
}

SharedMemory::~SharedMemory() {
  if (owns_) shm_unlink(cat('/', name_).c_str());
  if (data_ != nullptr) munmap(data_, size_);
  if (fd_ >= 0) ::close(fd_);
}

bool SharedMemory::claim(std::uint32_t number) {
  struct flock lock = lock_of(number, F_WRLCK);
  return fcntl(fd_, F_OFD_SETLK, &lock) == 0;
}

void SharedMemory::give_back(std::uint32_t number) {
  struct flock lock = lock_of(number, F_UNLCK);
  fcntl(fd_, F_OFD_SETLK, &lock);
}

bool SharedMemory::is_claimed(std::uint32_t number) const {
  struct flock lock = lock_of(number, F_WRLCK);
  return fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void Bell::ring() {
  word_.fetch_add(1, std::memory_order_acq_rel);
  syscall(SYS_futex, &word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Bell::sleep(std::uint32_t seen, std::chrono::milliseconds most) {
  const timespec time = {most.count() / 1000, most.count() % 1000 * 1'000'000};
  syscall(SYS_futex, &word_, FUTEX_WAIT, seen, &time, nullptr, 0);
}

}  // namespace buda::io
