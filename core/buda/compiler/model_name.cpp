// File names without folders and endings.
#include <buda/compiler/model_name.hpp>

#include <buda/io/file_system.hpp>

#include <string_view>

namespace buda::compiler {

std::string model_name(const std::string& path) {
  if (path == io::kStdStream) return "model";
  std::string name = path.substr(path.rfind('/') + 1);
  for (std::string_view ending : {".device.graph.json", ".graph.json", ".json"})
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  auto dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name.empty() ? "model" : name;
}

}  // namespace buda::compiler
