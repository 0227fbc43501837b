// SPDX-License-Identifier: Apache-2.0
// A file that is written in place: a log, whose lines stay when its program is killed; a device or a named pipe (/dev/null, /dev/stdout, a
// FIFO), which renaming a file over it would destroy.
#pragma once

#include <buda/io/descriptor.hpp>
#include <buda/io/real_file_system.hpp>

#include <cerrno>
#include <string>
#include <utility>

namespace buda::io {

class DirectFile final : public OutputFile {
 public:
  DirectFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
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

}  // namespace buda::io
