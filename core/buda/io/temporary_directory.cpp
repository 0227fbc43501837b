// SPDX-License-Identifier: Apache-2.0
// Temporary folders.
#include <buda/io/temporary_directory.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/left_over.hpp>
#include <buda/io/remove_tree.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace buda::io {

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& parent, const std::string& prefix) {
  remove_left_over_folders(parent, prefix);
  std::string name = (std::filesystem::path(parent) / cat(prefix, static_cast<long>(::getpid()), "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    return input_error("IO003", {parent}, cat("no temporary folder can be made there: ", error_text(errno)));
  TemporaryDirectory out(name);
  out.held_ = Descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  hold(out.held_);
  return out;
}

TemporaryDirectory::~TemporaryDirectory() {
  // Its descriptor may be the last that this process gets.
  held_.close();
  if (!path_.empty()) remove_tree(path_);
}

}  // namespace buda::io
