// SPDX-License-Identifier: Apache-2.0
// A look at the folder in which the file should be.
#include <buda/io/missing_file.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <filesystem>
#include <vector>

namespace buda::io {
namespace {

// A message is not worth a search in larger folders.
constexpr std::size_t kMaxNames = 4096;

std::string hint_for(FileSystem& fs, const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && !fs.is_directory(folder.string())) return cat("there is no folder '", folder.string(), '\'');
  auto names = fs.list(folder.empty() ? "." : folder.string());
  if (!names || names->size() > kMaxNames) return "";
  std::erase_if(*names, [&](const std::string& name) { return fs.is_directory((folder / name).string()); });
  const auto near = nearest_word(path.filename().string(), *names);
  return near ? cat("did you mean '", (folder / *near).string(), "'?") : "";
}

}  // namespace

Diagnostic missing_file(FileSystem& fs, const std::string& path, const std::string& reason) {
  Diagnostic d = input_error("IO001", {path}, cat("cannot be read: ", reason));
  d.hint = hint_for(fs, path);
  return d;
}

Diagnostic directory_for_file(const std::string& path) { return input_error("IO001", {path}, "is a directory; a file is expected"); }

}  // namespace buda::io
