// SPDX-License-Identifier: Apache-2.0
// A file system in memory, for tests and for stages run inside another program.
#pragma once

#include <buda/io/file_system.hpp>

#include <map>

#pragma GCC visibility push(default)

namespace buda::io {

// Directories exist implicitly as prefixes of files, or explicitly through make_directories. Standard input is the file "-" put
// there beforehand; standard output is the file "-" written.
class MemoryFileSystem final : public FileSystem {
 public:
  void put(const std::string& path, std::string content) { put(path, Bytes(std::move(content))); }
  void put(const std::string& path, Bytes content) { files_[path] = std::move(content); }  // shares the memory
  // The content of a file, or nothing.
  const Bytes* find(const std::string& path) const;
  const std::map<std::string, Bytes>& files() const { return files_; }

  Result<Bytes> read(const std::string& path) override;
  Result<std::unique_ptr<OutputFile>> create(const std::string& path, WriteMode mode) override;
  bool exists(const std::string& path) override;
  bool is_directory(const std::string& path) override;
  Result<void> make_directories(const std::string& path) override;
  std::string canonical(const std::string& path) override;  // the working directory is "/"
  Result<std::vector<std::string>> list(const std::string& directory) override;

 private:
  std::map<std::string, Bytes> files_;
  std::set<std::string> directories_;
};

}  // namespace buda::io

#pragma GCC visibility pop
