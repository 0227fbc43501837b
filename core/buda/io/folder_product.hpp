// SPDX-License-Identifier: Apache-2.0
// Products that are folders: their files appear together, or none does.
#pragma once

#include <buda/io/file_system.hpp>

#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace buda::io {

// The file that lists the files of a product, in its folder. Others there are somebody else's.
inline constexpr std::string_view kFileList = ".openbuda-files.json";

struct FolderOptions {
  // The file by which a program knows that the product is there: it is removed first and comes back last. May be empty.
  std::string entry;
  // Files of the product that was there before stay, where the new one does not have them.
  bool adds = false;
  WriteMode mode = WriteMode::always;
};

// A folder being written. Its files gather in a folder beside it and are moved by commit(). A folder that exists keeps what others put
// there; files of an older product go, unless the new one has them. Until commit() nothing changes, and nothing is left of what is not
// committed. While files are moved, and after that was interrupted, require_whole() fails.
//
// In a file system that is not the machine's, files are written one by one by commit().
class FolderProduct {
 public:
  // `fs` outlives it. IO002: no folder can be made there.
  static Result<std::unique_ptr<FolderProduct>> begin(FileSystem& fs, const std::string& path, FolderOptions options = {});
  // Whether begin would do, by trying; nothing of it stays. Folders above that do not exist are made by begin.
  static Result<void> try_begin(FileSystem& fs, const std::string& path);
  virtual ~FolderProduct() = default;

  // A file, by its path in the folder. It is part of the product once it is committed.
  virtual Result<std::unique_ptr<OutputFile>> create(const std::string& name) = 0;
  virtual Result<void> commit() = 0;

  // create, write, commit.
  Result<void> write(const std::string& name, std::string_view content);
};

// IO008: the command that replaced the files of `folder` did not get to its end. A folder without a list is taken as it is.
Result<void> require_whole(FileSystem& fs, const std::string& folder);

}  // namespace buda::io
