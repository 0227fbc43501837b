// SPDX-License-Identifier: Apache-2.0
// The in-memory file system.
#include <buda/io/memory_file_system.hpp>

#include <buda/base/text.hpp>
#include <buda/io/missing_file.hpp>

#include <filesystem>

namespace buda::io {
namespace {

class MemoryOutput final : public OutputFile {
 public:
  MemoryOutput(MemoryFileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  Result<void> write(std::string_view data) override {
    content_ += data;
    return success();
  }
  Result<void> commit() override {
    fs_.put(path_, std::move(content_));
    return success();
  }

 private:
  MemoryFileSystem& fs_;
  std::string path_;
  std::string content_;
};

}  // namespace

const Bytes* MemoryFileSystem::find(const std::string& path) const {
  auto it = files_.find(path);
  return it == files_.end() ? nullptr : &it->second;
}

Result<Bytes> MemoryFileSystem::read(const std::string& path) {
  note_read(path);
  if (const Bytes* bytes = find(path)) return *bytes;
  return is_directory(path) ? directory_for_file(path) : missing_file(*this, path, "no such file");
}

Result<std::unique_ptr<OutputFile>> MemoryFileSystem::create(const std::string& path, WriteMode) {
  if (is_directory(path)) return input_error("IO002", {path}, "cannot be written: is a directory");
  return std::unique_ptr<OutputFile>(new MemoryOutput(*this, path));
}

bool MemoryFileSystem::exists(const std::string& path) { return find(path) != nullptr || is_directory(path); }

bool MemoryFileSystem::is_directory(const std::string& path) {
  if (directories_.count(path) != 0) return true;
  std::string prefix = path.ends_with('/') ? path : path + '/';
  auto it = files_.lower_bound(prefix);
  return it != files_.end() && it->first.starts_with(prefix);
}

Result<void> MemoryFileSystem::make_directories(const std::string& path) {
  if (find(path) != nullptr) return input_error("IO003", {path}, "cannot be created as a directory: a file has this name");
  directories_.insert(path);
  return success();
}

std::string MemoryFileSystem::canonical(const std::string& path) { return (std::filesystem::path("/") / path).lexically_normal().string(); }

Result<std::vector<std::string>> MemoryFileSystem::list(const std::string& directory) {
  if (!is_directory(directory)) return input_error("IO001", {directory}, "cannot be listed: no such directory");
  std::string prefix = directory.ends_with('/') ? directory : directory + '/';
  std::set<std::string> names;
  for (const auto& [path, content] : files_)
    if (path.starts_with(prefix)) names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace buda::io
