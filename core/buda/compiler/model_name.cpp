// SPDX-License-Identifier: Apache-2.0
// File names without folders and endings.
#include <buda/compiler/model_name.hpp>

#include <buda/base/text.hpp>

#include <string_view>

namespace buda::compiler {

namespace {

// The files by which a SavedModel of TensorFlow is known, which is a folder.
constexpr std::string_view kOfFolders[] = {"saved_model.pb", "saved_model.pbtxt"};

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

std::string model_file(const std::string& path, io::FileSystem& fs) {
  if (path == io::kStdStream || !fs.is_directory(path)) return path;
  for (std::string_view file : kOfFolders)
    if (std::string inside = cat(without_slashes(path), '/', file); fs.exists(inside)) return inside;
  return path;
}

std::string model_name(const std::string& path) {
  if (path == io::kStdStream) return "model";
  const std::string whole = without_slashes(path);
  for (std::string_view file : kOfFolders)
    if (whole.size() > file.size() + 1 && whole.ends_with(cat('/', file)))
      return model_name(whole.substr(0, whole.size() - file.size() - 1));
  std::string name = whole.substr(whole.rfind('/') + 1);
  for (std::string_view ending : {".device.graph.json", ".graph.json", ".json"})
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  auto dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name.empty() ? "model" : name;
}

}  // namespace buda::compiler
