// SPDX-License-Identifier: Apache-2.0
// Names of files without folders and endings.
#include <buda/frontend/model_name.hpp>

#include <buda/io/file_system.hpp>

namespace buda::frontend {

std::string model_name(const std::string& path) {
  if (path == io::kStdStream) return "model";
  std::string name = path.substr(path.rfind('/') + 1);
  auto dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

}  // namespace buda::frontend
