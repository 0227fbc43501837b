// SPDX-License-Identifier: Apache-2.0
// Reads the images, merges them, writes the result.
#include "apps/tti-merge/run.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/compiler/merge_models.hpp>
#include <buda/image/image.hpp>

#include <utility>

namespace buda::tti_merge {
namespace {

constexpr std::string_view kImageEnding = ".tti";

Result<image::NamedImage> read_model(const Options& o, const std::string& name, Host& host) {
  if (!image::is_safe_name(name) || name.find('/') != std::string::npos)
    return usage_error("TM001", cat("option --models: '", name, "' is not the name of an image in a folder"));
  const std::string path = cat(o.location, '/', name, kImageEnding);
  if (!host.fs().exists(path)) {
    Diagnostic d =
        input_error("TM002", {path}, cat("the folder has no image for model '", name, "': names are those of the files, without .tti"));
    std::vector<std::string> there;
    if (auto files = host.fs().list(o.location))
      for (const auto& file : *files)
        if (file.ends_with(kImageEnding)) there.push_back(file.substr(0, file.size() - kImageEnding.size()));
    if (auto near = nearest_word(name, there)) {
      d.hint = cat("did you mean '", *near, "'?");
    } else if (!there.empty()) {
      d.hint = cat("the folder has ", join(there, ", "));
    }
    return d;
  }
  BUDA_TRY(cli::check_inputs("tti-merge", {{path, {cli::FileKind::image}}}, host.fs()));
  BUDA_ASSIGN(auto bytes, host.fs().read(path));
  BUDA_ASSIGN(auto image, image::read_image(bytes, path));
  return image::NamedImage{name, std::move(image)};
}

std::string stem_of(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(kImageEnding)) name.resize(name.size() - kImageEnding.size());
  return name.empty() || path == io::kStdStream ? "merged_model" : name;
}

}  // namespace

Result<void> run(const Options& o, Host& host) {
  std::vector<std::string> names = o.models;
  names.insert(names.end(), o.further.begin(), o.further.end());
  if (o.location.empty())
    return usage_error("TM001", "option --model_binaries_location (-mbl): the folder of the images to merge is missing");
  if (names.empty()) return usage_error("TM001", "option --models (-mdl): the models to merge are missing");
  std::vector<image::NamedImage> images;
  Failure failure;
  for (const std::string& name : names) {
    host.progress("reading images", images.size(), names.size());
    auto image = read_model(o, name, host);
    if (image) {
      images.push_back(std::move(*image));
    } else {
      failure.add(std::move(image).failure());
    }
  }
  if (!failure.empty()) return failure;
  image::MergeOptions options;
  options.name = stem_of(o.output);
  options.arch = o.arch;
  options.memory = {!o.keep_channels, !o.no_overlap};
  host.progress("merging", 0, 0);
  BUDA_ASSIGN(auto merged, compiler::merge_models(std::move(images), options, host));
  host.progress("writing", 0, 0);
  BUDA_ASSIGN(auto out, host.fs().create(o.output, host.write_mode));
  BUDA_TRY(image::write_image(*out, std::move(merged.image), host.threads));
  BUDA_TRY(out->commit());
  if (o.output == io::kStdStream) return success();
  return host.fs().write(std::string(io::kStdStream), image::memory_profile_text(merged.memory));
}

}  // namespace buda::tti_merge
