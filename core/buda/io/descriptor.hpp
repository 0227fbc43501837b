// SPDX-License-Identifier: Apache-2.0
// Open files of the system, and writing to them. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace buda::io {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  int close();

 private:
  int fd_;
};

// Of an operation that failed with an errno: "cannot be read: No such file or directory".
Diagnostic cannot(const char* code, const std::string& path, std::string_view what, int error_number);

// IO003: a folder that cannot be made, and the file that is in its way where that is the reason.
Diagnostic cannot_make_folder(const std::string& path, int error_number);

// IO002: for example a full disk.
Result<void> write_all(int fd, std::string_view data, const std::string& path);

// Tells the tools that its process lives: what is locked is not left over. Without an effect where the file system has no locks.
void hold(const Descriptor& file) noexcept;

}  // namespace buda::io
