// SPDX-License-Identifier: Apache-2.0
// Reads the images, merges them, writes the result.
#include "apps/tti-merge/run.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/compiler/merge_models.hpp>
#include <buda/image/image.hpp>
#include <buda/io/process.hpp>

#include <utility>

namespace buda::tti_merge {
namespace {

constexpr std::string_view kImageEnding = ".tti";

std::string without_ending(const std::string& name) {
  return name.ends_with(kImageEnding) ? name.substr(0, name.size() - kImageEnding.size()) : name;
}

// The call as it should be, of images that are named by their files, or that lie in the current folder.
std::string hint_for_names(const Options& o, const std::vector<std::string>& names, Host& host) {
  std::string folder;
  std::vector<std::string> stems;
  for (const std::string& name : names) {
    const auto slash = name.rfind('/');
    const std::string of_this = slash == std::string::npos ? "." : name.substr(0, slash);
    const std::string stem = without_ending(slash == std::string::npos ? name : name.substr(slash + 1));
    if ((!folder.empty() && folder != of_this) || !host.fs().exists(cat(of_this, '/', stem, kImageEnding)))
      return "copy the images into one folder; -mbl names the folder, and -mdl its images without .tti";
    folder = of_this;
    stems.push_back(stem);
  }
  if (stems.empty()) return "-mbl names the folder, and -mdl its images without .tti";
  std::vector<std::string> call = {"tti-merge", "-mbl", folder, "-mdl"};
  call.insert(call.end(), stems.begin(), stems.end());
  call.insert(call.end(), {"-o", o.output});
  return io::shell_line(call);
}

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
        if (file.ends_with(kImageEnding)) there.push_back(without_ending(file));
    if (auto near = nearest_word(without_ending(name), there)) {
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
  name = without_ending(name);
  return name.empty() || path == io::kStdStream ? "merged_model" : name;
}

}  // namespace

Result<void> run(const Options& o, Host& host) {
  std::vector<std::string> names = o.models;
  names.insert(names.end(), o.further.begin(), o.further.end());
  if (o.location.empty()) {
    Diagnostic d = usage_error("TM001", "option --model_binaries_location (-mbl): the folder of the images to merge is missing");
    d.hint = hint_for_names(o, names, host);
    return d;
  }
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
