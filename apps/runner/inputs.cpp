// SPDX-License-Identifier: Apache-2.0
// FILE, FILE,FILE, NAME=FILE and DIR.
#include "apps/runner/inputs.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>
#include <optional>

namespace buda::runner {
namespace {

constexpr std::string_view kProtoEnding = ".pb";

// "x=a.npy", but not "dir=1/a.npy" when that is a file of its own.
std::pair<std::string, std::string> name_and_file(Host& host, const std::string& text) {
  auto equal = text.find('=');
  if (equal == std::string::npos || equal == 0 || host.fs().exists(text)) return {"", text};
  return {text.substr(0, equal), text.substr(equal + 1)};
}

// 3 for "…/input_3.pb".
std::optional<std::size_t> place_in_name(const std::string& file, const Side& side) {
  std::string name = file.substr(file.rfind('/') + 1);
  std::string before = side.file_stem + '_';
  if (!name.starts_with(before) || !name.ends_with(kProtoEnding)) return std::nullopt;
  auto place = parse_uint(std::string_view(name).substr(before.size(), name.size() - before.size() - kProtoEnding.size()));
  return place ? std::optional<std::size_t>(*place) : std::nullopt;
}

class Files {
 public:
  Files(Host& host, const Side& side) : host_(host), side_(side) {}

  // What one value of the option stands for.
  Result<void> add(const std::string& text) {
    if (host_.fs().is_directory(text)) return add_folder(text);
    if (text.find(',') != std::string::npos && !host_.fs().exists(text)) {
      for (auto part : split(text, ',')) BUDA_TRY(add(std::string(part)));
      return success();
    }
    auto [name, file] = name_and_file(host_, text);
    files_.push_back({name, file});
    return success();
  }

  Result<NamedTensors> read() {
    NamedTensors out;
    for (const auto& [given, file] : files_) {
      BUDA_ASSIGN(auto tensors, read_tensors(host_.fs(), file));
      std::string name = given;
      if (!name.empty() && tensors.size() != 1)
        return error(file, cat('\'', name, "=' expects a file with one tensor, this one has ", tensors.size()));
      if (name.empty() && tensors.size() == 1) {
        BUDA_ASSIGN(name, name_for(file, tensors.begin()->first));
      }
      if (!name.empty() && tensors.begin()->first != name) {
        Tensor only = std::move(tensors.begin()->second);
        tensors.clear();
        tensors.emplace(name, std::move(only));
      }
      for (auto& [key, tensor] : tensors)
        if (!out.emplace(key, std::move(tensor)).second) return error(file, cat("there are two tensors named '", key, "'"));
    }
    return out;
  }

 private:
  Result<void> add_folder(const std::string& folder) {
    BUDA_ASSIGN(auto names, host_.fs().list(folder));
    std::size_t before = files_.size();
    for (const auto& name : names)
      if (place_in_name(name, side_)) files_.push_back({"", cat(folder, folder.ends_with('/') ? "" : "/", name)});
    // A model without inputs needs none.
    if (files_.size() == before && !side_.wanted.empty())
      return error(folder, cat("the folder has no files ", side_.file_stem, "_0.pb, ", side_.file_stem, "_1.pb, …"));
    return success();
  }

  // The name of a file's only tensor.
  Result<std::string> name_for(const std::string& file, const std::string& own) const {
    if (auto place = place_in_name(file, side_)) {
      if (*place < side_.wanted.size()) return side_.wanted[*place];
      return error(file, cat("the model has ", side_.wanted.size(), ' ', side_.file_stem, "s, so there is no number ", *place));
    }
    // An .npy file has no name of its own but that of the file, and NumPy calls an array without one arr_0.
    bool known = std::find(side_.wanted.begin(), side_.wanted.end(), own) != side_.wanted.end();
    bool only = files_.size() == 1 && side_.wanted.size() == 1 && (file.ends_with(".npy") || file.ends_with(kProtoEnding) || own == "arr_0");
    return !known && only ? side_.wanted.front() : own;
  }

  Diagnostic error(const std::string& file, std::string message) const {
    return input_error("RN002", {file}, cat("option --", side_.option, ": ", message));
  }

  Host& host_;
  const Side& side_;
  std::vector<std::pair<std::string, std::string>> files_;  // the name given, or nothing, and the file
};

}  // namespace

Result<NamedTensors> read_named(Host& host, const std::vector<std::string>& files, const Side& side) {
  Files all(host, side);
  for (const auto& text : files) BUDA_TRY(all.add(text));
  return all.read();
}

}  // namespace buda::runner
