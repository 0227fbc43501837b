// SPDX-License-Identifier: Apache-2.0
// All file access of the toolchain: one small interface, with a real and an in-memory implementation.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::io {

// The standard streams' name on the command line; "./-" is a file of that name.
inline constexpr std::string_view kStdStream = "-";

enum class WriteMode {
  always,
  if_changed,  // leave a file with the same content alone, and so its time (for make and ninja's restat)
};

// A file being written piece by piece. It appears under its name, whole, when commit() succeeds; otherwise nothing appears.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual Result<void> write(std::string_view data) = 0;
  virtual Result<void> commit() = 0;
};

// Paths are UTF-8 or whatever bytes the system has; relative ones are relative to the working directory. "-" is standard input or output.
// Failures are diagnostics with the path. A file that was read is not overwritten. Not thread-safe: a stage works with it in one thread.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The whole file; large regular files are memory-mapped. A directory, a missing or an unreadable file is an error.
  virtual Result<Bytes> read(const std::string& path) = 0;

  virtual Result<std::unique_ptr<OutputFile>> create(const std::string& path, WriteMode mode = WriteMode::always) = 0;
  virtual bool exists(const std::string& path) = 0;
  virtual bool is_directory(const std::string& path) = 0;
  virtual Result<void> make_directories(const std::string& path) = 0;
  // An absolute path without links, "." and ".." for a path that need not exist: two names of one file have the same.
  virtual std::string canonical(const std::string& path) = 0;
  // Names (not paths) of what is in a directory, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;

  // create, write, commit.
  Result<void> write(const std::string& path, std::string_view content, WriteMode mode = WriteMode::always);

  // What was read so far, for depfiles; "-" is not among them. note_read adds what was read by other means (a plugin).
  const std::set<std::string>& files_read() const { return files_read_; }
  void note_read(const std::string& path) {
    if (path != kStdStream) files_read_.insert(path);
  }

 private:
  std::set<std::string> files_read_;
};

// The file system of the machine. Output goes to a temporary file beside its destination, which remove_temporary_files() (called
// from the handler of a signal or of a fatal error) deletes.
std::unique_ptr<FileSystem> make_real_file_system();
void remove_temporary_files() noexcept;

// Text of an errno for messages: "No such file or directory".
std::string error_text(int error_number);

}  // namespace buda::io

#pragma GCC visibility pop
