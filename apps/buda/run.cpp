// SPDX-License-Identifier: Apache-2.0
// Running of the stages, one after the other.
#include "apps/buda/run.hpp"

#include "apps/buda/compilation.hpp"
#include "apps/buda/compile_cache.hpp"
#include "apps/buda/stages.hpp"
#include "apps/buda/taken_image.hpp"

#include <buda/balance/emit/report_figures.hpp>
#include <buda/balance/emit/report_summary.hpp>
#include <buda/base/text.hpp>
#include <buda/cache/store.hpp>
#include <buda/cli/about_model.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/compiler/model_name.hpp>
#include <buda/io/json.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

#include <filesystem>
#include <memory>
#include <set>

namespace buda::driver {
namespace {

Result<void> print_summary(const std::string& form, const io::Bytes& bytes, const std::string& path, cli::ToolHost& host) {
  BUDA_ASSIGN(auto node, io::parse_json(bytes.view(), path));
  BUDA_ASSIGN(auto report, schema::read<balance::PlacementReport>(node));
  const std::string to(io::kStdStream);
  if (form == "json") return host.fs().write(to, io::json_pretty(schema::write(balance::figures_of(report))));
  if (form == "layers") {
    std::string table;
    for (const std::string& line : balance::layer_table(balance::layers_of(report))) table += line + '\n';
    BUDA_TRY(host.fs().write(to, table));
  }
  for (const std::string& line : balance::report_summary(report)) host.log(0, line);
  return success();
}

// Whether the image of an earlier compilation serves.
Result<bool> take_image(const Options& o, const std::string& key, cli::ToolHost& host) {
  std::set<std::string> inputs;
  TakenImage image(image_path(o), host);
  const auto products = cache::find(o.cache, key, &inputs, [&](const cache::Products& found) {
    if (auto content = found.find(kCachedImage); content != found.end()) image.begin(content->second);
  });
  if (!products || !products->contains(kCachedImage) || !products->contains(kCachedReport)) return false;
  if (o.accuracy > 0 && !products->contains(kCachedRules)) return false;
  BUDA_TRY(image.finish());
  if (o.accuracy > 0) BUDA_TRY(host.fs().write(rules_path(o), products->at(kCachedRules).view(), host.write_mode));
  host.fs().note_read(o.model);
  for (const auto& path : inputs) host.fs().note_read(path);
  host.log(0, cat(image_path(o), " is from ", o.cache, ": nothing that it is made from has changed"));
  BUDA_TRY(print_summary(o.summary, products->at(kCachedReport), "report", host));
  return true;
}

Result<void> keep_image(const Options& o, const std::string& key, const Compilation& compilation, std::filesystem::file_time_type begun,
                        cli::ToolHost& host) {
  auto files = io::make_real_file_system();
  cache::Products products;
  BUDA_ASSIGN(products[kCachedImage], files->read(image_path(o)));
  BUDA_ASSIGN(products[kCachedReport], files->read(compilation.report()));
  if (o.accuracy > 0) {
    BUDA_ASSIGN(products[kCachedRules], files->read(compilation.rules()));
  }
  // The key has the model's content: another copy of it serves, too.
  std::set<std::string> inputs = host.fs().files_read();
  std::erase_if(inputs, [&](const std::string& path) { return files->canonical(path) == files->canonical(o.model); });
  BUDA_TRY(cache::keep(o.cache, key, inputs, products, begun));
  BUDA_TRY(cache::shrink(o.cache, static_cast<std::uint64_t>(o.cache_limit) << 20));
  return success();
}

Result<void> compile_in(const std::string& folder, bool stays, const Options& o, const std::string& key, cli::ToolHost& host) {
  const auto begun = std::filesystem::file_time_type::clock::now();
  Compilation compilation(o, host, folder, stays);
  BUDA_TRY(compilation.run());
  auto files = io::make_real_file_system();
  BUDA_ASSIGN(auto report, files->read(compilation.report()));
  BUDA_TRY(print_summary(o.summary, report, compilation.report(), host));
  if (o.accuracy > 0) {
    BUDA_ASSIGN(const auto rules, files->read(compilation.rules()));
    BUDA_TRY(host.fs().write(rules_path(o), rules.view(), host.write_mode));
    host.log(0, cat("with --config ", rules_path(o), " in place of --accuracy the same image is compiled without calibration"));
  }
  if (!key.empty()) BUDA_TRY(keep_image(o, key, compilation, begun, host));
  return success();
}

Result<void> print_commands(const Options& o, cli::ToolHost& host, const std::string& folder) {
  BuildFiles files(folder, cli::model_name(o.model));
  std::string out = cat("mkdir -p ", io::shell_line({folder}), '\n');
  for (const auto& command : stage_commands(o, host, files, image_path(o))) out += io::shell_line(command.argv) + '\n';
  return host.fs().write(std::string(io::kStdStream), out);
}

}  // namespace

// Of the model, in the folder of --reports.
std::string reports_folder(const Options& o) { return cat(o.reports, '/', cli::model_name(o.model)); }
std::string passes_folder(const Options& o) { return reports_folder(o) + "/passes"; }

std::span<const char* const> stages_of(const Options& o) {
  return o.trains ? std::span<const char* const>(kTrainStages) : std::span<const char* const>(kStages);
}

std::string image_path(const Options& o) { return o.output.empty() ? cli::model_name(o.model) + ".tti" : o.output; }

std::string rules_path(const Options& o) {
  if (!o.accuracy_rules.empty()) return o.accuracy_rules;
  const std::string image = image_path(o);
  return (image.ends_with(".tti") ? image.substr(0, image.size() - 4) : image) + ".precision.yaml";
}

Result<void> compile_model(const Options& given, cli::ToolHost& host) {
  Options o = given;
  o.model = compiler::model_file(given.model, host.fs());
  std::string image = image_path(o);
  if (image == io::kStdStream)
    return usage_error("BD002", "option --output: an image is an archive and cannot be written to standard output; name a file");
  if (!o.reports.empty() && !o.build_dir.empty())
    return usage_error("BD006", "options --reports and --build-dir both say where the intermediate files are");
  std::string folder = o.reports.empty() ? o.build_dir : reports_folder(o);
  if (folder.empty() && o.save_temps) folder = (image.ends_with(".tti") ? image.substr(0, image.size() - 4) : image) + ".build";
  if (o.dry_run) return print_commands(o, host, folder.empty() ? host.temporary_dir + "/buda" : folder);
  std::string key;
  if (!o.cache.empty()) {
    BUDA_TRY(cache::make(o.cache));
    BUDA_ASSIGN(key, cache_key(o, host));
    // Who wants the intermediate files wants the stages to run.
    if (folder.empty()) {
      BUDA_ASSIGN(bool taken, take_image(o, key, host));
      if (taken) return success();
    }
  }
  if (!folder.empty()) {
    BUDA_TRY(host.fs().make_directories(folder));
    return compile_in(folder, true, o, key, host);
  }
  BUDA_ASSIGN(auto temporary, io::TemporaryDirectory::make(host.temporary_dir, std::string(cli::kTemporaryPrefix)));
  return compile_in(temporary.path(), false, o, key, host);
}

}  // namespace buda::driver
