// Running of the stages, one after the other.
#include "apps/buda/run.hpp"

#include "apps/buda/compile_cache.hpp"
#include "apps/buda/smaller_batch.hpp"
#include "apps/buda/stage_checks.hpp"
#include "apps/buda/stages.hpp"
#include "apps/buda/taken_image.hpp"

#include <buda/balance/emit/report_summary.hpp>
#include <buda/base/text.hpp>
#include <buda/cache/store.hpp>
#include <buda/cli/depfile.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/cli/timeline.hpp>
#include <buda/compiler/model_name.hpp>
#include <buda/io/json.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

namespace buda::driver {
namespace {

using Clock = std::chrono::steady_clock;

std::string seconds_text(Clock::duration d) {
  double s = std::chrono::duration<double>(d).count();
  return cat(std::round(s * 100) / 100, " s");
}

// The stage has told its reasons; this says which stage it was, keeps its exit code's meaning, and shows how to repeat it on the files of
// the stages before, which are in `folder`, if they stay there.
Diagnostic stage_failed(const StageCommand& command, const io::ProcessResult& result, const std::string& folder, bool stays) {
  Diagnostic d = input_error("BD001", {}, cat("stage ", command.stage, " failed"));
  switch (result.exit_code) {
    case cli::kInputError:
      break;
    case cli::kUsageError:
      d.fault = Fault::usage;
      break;
    case cli::kDoesNotFit:
      d.fault = Fault::fit;
      d.message = cat("stage ", command.stage, ": the model does not fit the device");
      break;
    case cli::kMismatch:
      d.fault = Fault::mismatch;
      d.message = cat("stage ", command.stage, ": its result differs from what was expected");
      break;
    case cli::kInterrupted:
      d.fault = Fault::interrupted;
      break;
    default:
      d.fault = Fault::bug;
      d.message = result.signal != 0 ? cat("stage ", command.stage, " was terminated by signal ", result.signal)
                                     : cat("stage ", command.stage, " ended with exit code ", result.exit_code);
  }
  // It has said which option, or what is wrong with the model itself.
  if (d.fault == Fault::usage || d.fault == Fault::interrupted || (d.fault == Fault::input && command.stage == "importer")) return d;
  d.hint = stays ? cat("the files of the stages are in ", folder, "; the command was: ", io::shell_line(command.argv))
                 : "--save-temps keeps the files of the stages, and tells how to call this one on them";
  return d;
}

Result<void> print_summary(const io::Bytes& bytes, const std::string& path, cli::ToolHost& host) {
  BUDA_ASSIGN(auto node, io::parse_json(bytes.view(), path));
  BUDA_ASSIGN(auto report, schema::read<balance::PlacementReport>(node));
  for (const std::string& line : balance::report_summary(report)) host.log(0, line);
  return success();
}

class Compilation {
 public:
  // `stays`: the folder is the user's.
  Compilation(const Options& o, cli::ToolHost& host, std::string folder, bool stays)
      : o_(o), host_(host), folder_(std::move(folder)), stays_(stays), files_(folder_, cli::model_name(o.model)) {}

  Result<void> run() {
    BUDA_TRY(remove_old_epochs());
    const std::vector<StageCommand> commands = stage_commands(o_, host_, files_, image_path(o_));
    BUDA_TRY(check_options_of(commands));
    for (std::size_t i = 0; i < commands.size(); ++i) BUDA_TRY(run_stage(commands[i], cat('[', i + 1, '/', commands.size(), ']')));
    return success();
  }

  // The balancer's.
  const std::string& report() const { return files_.report; }
  // The optimizer's, with --accuracy.
  const std::string& rules() const { return files_.rules; }

 private:
  // In a build folder that is used again, epochs of an earlier netlist would be packed too.
  Result<void> remove_old_epochs() {
    std::vector<std::string> old = {files_.pipes};
    // Passes that change nothing any more would stay in the report.
    if (!o_.reports.empty()) old.push_back(passes_folder(o_));
    for (const std::string& folder : old) {
      std::error_code error;
      std::filesystem::remove_all(folder, error);
      if (error) return input_error("IO005", {folder}, cat("cannot be removed: ", error.message()));
    }
    return success();
  }

  Result<void> run_stage(const StageCommand& command, const std::string& number) {
    auto start = Clock::now();
    host_.log(1, io::shell_line(command.argv));
    if (host_.timeline != nullptr) host_.timeline->stage(command.stage);
    BUDA_ASSIGN(const auto result, io::run_process(arguments_of(command)));
    BUDA_TRY(add_timeline_of(command));
    if (result.exit_code != 0) {
      Diagnostic d = stage_failed(command, result, folder_, stays_);
      if (d.fault == Fault::fit)
        if (std::string hint = smaller_batch_hint(o_, host_); !hint.empty()) d.hint = std::move(hint);
      return d;
    }
    BUDA_TRY(note_dependencies(command));
    std::string product = command.product;
    if (product.starts_with(folder_ + '/')) product = product.substr(folder_.size() + 1);
    const std::string& name = command.stage;
    host_.log(0, cat(number, ' ', name, std::string(14 - std::min<std::size_t>(13, name.size()), ' '), product,
                     std::string(product.size() < 28 ? 28 - product.size() : 1, ' '), seconds_text(Clock::now() - start)));
    return success();
  }

  // Stages after the first work on files that nobody but us has seen.
  std::vector<std::string> arguments_of(const StageCommand& command) const {
    auto argv = command.argv;
    if (command.stage != "importer") argv.insert(argv.end(), {"--made-from", o_.model});
    if (host_.timeline != nullptr) argv.insert(argv.end(), {"--timeline", timeline_of(command)});
    return argv;
  }

  static std::string timeline_of(const StageCommand& command) { return cat(command.depfile, ".timeline.json"); }

  // What the stage did, beside what the driver does. A stage that failed has told nothing.
  Result<void> add_timeline_of(const StageCommand& command) {
    const std::string path = timeline_of(command);
    if (host_.timeline == nullptr || !stage_files_->exists(path)) return success();
    BUDA_ASSIGN(const auto bytes, stage_files_->read(path));
    BUDA_ASSIGN(const auto trace, io::parse_json(bytes.view(), path));
    if (const io::Node* events = trace.find("traceEvents"))
      for (const io::Node& event : events->items()) host_.timeline->append(io::json_line(event) + ",\n");
    return success();
  }

  // What a stage has read is what the image depends on, but for what the stages made themselves.
  Result<void> note_dependencies(const StageCommand& command) {
    BUDA_ASSIGN(auto text, stage_files_->read(command.depfile));
    for (const auto& name : cli::dependencies_of(text.view()))
      if (!name.starts_with(folder_ + '/')) host_.fs().note_read(name);
    return success();
  }

  const Options& o_;
  cli::ToolHost& host_;
  std::string folder_;
  bool stays_;
  BuildFiles files_;
  // For files of the stages, on which the image does not depend: the host's notes what it reads.
  std::unique_ptr<io::FileSystem> stage_files_ = io::make_real_file_system();
};

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
  BUDA_TRY(print_summary(products->at(kCachedReport), "report", host));
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
  BUDA_TRY(print_summary(report, compilation.report(), host));
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
  if (host.fs().exists(image) && host.fs().canonical(image) == host.fs().canonical(o.model))
    return usage_error("BD003", cat("'", image, "' is the model itself; the image must be another file"));
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
  BUDA_ASSIGN(auto temporary, io::TemporaryDirectory::make(host.temporary_dir, "buda-"));
  return compile_in(temporary.path(), false, o, key, host);
}

}  // namespace buda::driver
