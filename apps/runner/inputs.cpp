// FILE and NAME=FILE.
#include "apps/runner/inputs.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::runner {
namespace {

// "x=a.npy", but not "dir=1/a.npy" when that is a file of its own.
std::pair<std::string, std::string> name_and_file(Host& host, const std::string& text) {
  auto equal = text.find('=');
  if (equal == std::string::npos || equal == 0 || host.fs().exists(text)) return {"", text};
  return {text.substr(0, equal), text.substr(equal + 1)};
}

}  // namespace

Result<NamedTensors> read_named(Host& host, const std::vector<std::string>& files, const std::vector<std::string>& wanted,
                                const std::string& option) {
  NamedTensors out;
  for (const auto& text : files) {
    auto [name, file] = name_and_file(host, text);
    BUDA_ASSIGN(auto tensors, read_tensors(host.fs(), file));
    if (!name.empty()) {
      if (tensors.size() != 1)
        return input_error("RN002", {file},
                           cat("option --", option, ": '", name, "=' wants a file with one tensor, this one has ", tensors.size()));
      Tensor only = std::move(tensors.begin()->second);
      tensors.clear();
      tensors.emplace(name, std::move(only));
    } else if (tensors.size() == 1 && wanted.size() == 1 && files.size() == 1 && tensors.count(wanted.front()) == 0 &&
               file.ends_with(".npy")) {
      // An .npy file has no name of its own but that of the file.
      Tensor only = std::move(tensors.begin()->second);
      tensors.clear();
      tensors.emplace(wanted.front(), std::move(only));
    }
    for (auto& [key, tensor] : tensors)
      if (!out.emplace(key, std::move(tensor)).second)
        return input_error("RN002", {file}, cat("option --", option, ": there are two tensors named '", key, "'"));
  }
  return out;
}

}  // namespace buda::runner
