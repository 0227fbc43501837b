// SPDX-License-Identifier: Apache-2.0
// A folder is listed and closed before what is in it is looked at.
#include <buda/io/remove_tree.hpp>

#include <filesystem>
#include <vector>

namespace buda::io {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> out;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) out.push_back(it->path());
  return out;
}

}  // namespace

std::error_code remove_tree(const std::string& path) {
  std::error_code first, error;
  if (fs::symlink_status(path, error).type() == fs::file_type::directory) {
    for (const fs::path& entry : entries_of(path, first))
      if (const std::error_code failed = remove_tree(entry.string()); failed && !first) first = failed;
  }
  fs::remove(path, error);
  return first ? first : error;
}

}  // namespace buda::io
