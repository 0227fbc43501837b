// Temporary folders.
#include <buda/io/temporary_directory.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace buda::io {

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& parent, const std::string& prefix) {
  std::string name = (std::filesystem::path(parent) / (prefix + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    return input_error("IO003", {parent}, cat("no temporary folder can be made there: ", error_text(errno)));
  return TemporaryDirectory(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace buda::io
