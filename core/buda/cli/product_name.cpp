// Names of products.
#include <buda/cli/product_name.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

namespace buda::cli {

std::string model_name(const std::string& path) {
  if (path == io::kStdStream) return "model";
  std::string name = path.substr(path.rfind('/') + 1);
  for (std::string_view ending : {".device.graph.json", ".graph.json", ".json"})
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  auto dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name.empty() ? "model" : name;
}

std::string product_path(const std::string& output, const std::string& input, std::string_view ending) {
  if (!output.empty()) return output;
  return input == io::kStdStream ? std::string(io::kStdStream) : cat(model_name(input), ending);
}

}  // namespace buda::cli
