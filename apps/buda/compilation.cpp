// SPDX-License-Identifier: Apache-2.0
// Each stage as a process; what it says and what it has read.
#include "apps/buda/compilation.hpp"

#include "apps/buda/run.hpp"
#include "apps/buda/smaller_batch.hpp"
#include "apps/buda/train.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/depfile.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/cli/timeline.hpp>
#include <buda/compiler/hosted_ops.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/json.hpp>
#include <buda/io/process.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

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

// As the user sees it.
std::string shown_product(const StageCommand& command, const std::string& folder) {
  return command.product.starts_with(folder + '/') ? command.product.substr(folder.size() + 1) : command.product;
}

// Of the column of products: a file that the user has put far away makes no room for itself.
std::size_t width_of_products(const std::vector<StageCommand>& commands, const std::string& folder) {
  constexpr std::size_t kLeast = 28, kMost = 72;
  std::size_t out = kLeast;
  for (const StageCommand& command : commands) {
    const std::size_t size = shown_product(command, folder).size() + 1;
    if (size <= kMost) out = std::max(out, size);
  }
  return out;
}

std::string timeline_of(const StageCommand& command) { return cat(command.depfile, ".timeline.json"); }

}  // namespace

Compilation::Compilation(const Options& o, cli::ToolHost& host, std::string folder, bool stays)
    : o_(o), host_(host), folder_(std::move(folder)), stays_(stays), files_(folder_, cli::model_name(o.model)) {}

Result<void> Compilation::run() {
  BUDA_TRY(remove_old_epochs());
  const std::vector<StageCommand> commands = stage_commands(o_, host_, files_, o_.trains ? files_.image : image_path(o_));
  product_width_ = width_of_products(commands, folder_);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string number = cat('[', i + 1, '/', commands.size(), ']');
    if (commands[i].stage == "balancer") {
      BUDA_TRY(run_balancer(commands[i - 1], commands[i], number));
    } else {
      BUDA_TRY(run_stage(commands[i], number));
    }
    if (commands[i].stage == "autograd" && !is_trained_on_host(o_)) BUDA_TRY(check_samples());
  }
  return success();
}

// Before the step is compiled, which may take minutes.
Result<void> Compilation::check_samples() {
  const StageCommand command = samples_command(o_, host_, files_);
  auto argv = command.argv;
  argv.insert(argv.end(), {"--made-from", o_.model});
  BUDA_ASSIGN(const auto result, io::run_process(argv));
  return result.exit_code == 0 ? Result<void>(success()) : stage_failed(command, result, folder_, stays_);
}

// Ops for which the device has no room go to the host if it can run them as well: the optimizer runs again with their names. Where that
// does not help, the model is refused as it was.
Result<void> Compilation::run_balancer(const StageCommand& optimizer, const StageCommand& balancer, const std::string& number) {
  BUDA_ASSIGN(const auto settings, compiler::read_settings(*stage_files_, files_.optimizer_settings));
  const auto fallback = settings.find("optimizer.enable-cpu-fallback");
  if (o_.trains || fallback == settings.end() || fallback->second != "true") return run_stage(balancer, number);
  StageCommand again = optimizer, asked = balancer;
  again.argv.push_back("-q");  // it has said what it has to say
  asked.argv.insert(asked.argv.end(), {"--misfits", files_.misfits});
  asked.product_or = files_.misfits;
  compiler::OptimizerOptions named;
  std::vector<Diagnostic> told;
  while (true) {
    std::error_code ignored;
    std::filesystem::remove(files_.misfits, ignored);
    auto placed = run_stage(asked, number);
    if (!placed || !stage_files_->exists(files_.misfits)) {
      for (const Diagnostic& d : told) host_.report(d);
      return placed;
    }
    BUDA_ASSIGN(const auto text, stage_files_->read(files_.misfits));
    BUDA_ASSIGN(const auto misfits, compiler::parse_misfits(text.view(), files_.misfits));
    BUDA_ASSIGN(const auto model, graph::read_graph(*stage_files_, files_.graph));
    const auto hosted = compiler::hosted_ops(misfits, model);
    const std::size_t known = named.cpu_fallback_nodes.size();
    const std::vector<Diagnostic> more = hosted ? compiler::name_for_host(named, *hosted) : std::vector<Diagnostic>{};
    if (more.empty()) break;
    told.insert(told.end(), more.begin(), more.end());
    for (std::size_t i = known; i < named.cpu_fallback_nodes.size(); ++i)
      again.argv.insert(again.argv.end(), {"--cpu-fallback-nodes", named.cpu_fallback_nodes[i]});
    BUDA_TRY(run_stage(again, "again"));
  }
  if (told.empty()) return run_stage(balancer, number);
  StageCommand as_it_was = optimizer;
  as_it_was.argv.push_back("-q");
  BUDA_TRY(run_stage(as_it_was, "again"));
  return run_stage(balancer, number);
}

// In a build folder that is used again, epochs of an earlier netlist would be packed too.
Result<void> Compilation::remove_old_epochs() {
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

Result<void> Compilation::run_stage(const StageCommand& command, const std::string& number) {
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
  if (!command.product_or.empty() && stage_files_->exists(command.product_or)) return success();
  BUDA_TRY(note_dependencies(command));
  const std::string product = shown_product(command, folder_), &name = command.stage;
  const std::size_t size = product.size();
  host_.log(0, cat(number, ' ', name, std::string(14 - std::min<std::size_t>(13, name.size()), ' '), product,
                   std::string(size < product_width_ ? product_width_ - size : 1, ' '), seconds_text(Clock::now() - start)));
  return success();
}

// Stages after the first work on files that nobody but us has seen.
std::vector<std::string> Compilation::arguments_of(const StageCommand& command) const {
  auto argv = command.argv;
  if (command.stage != "importer") argv.insert(argv.end(), {"--made-from", o_.model});
  if (host_.timeline != nullptr) argv.insert(argv.end(), {"--timeline", timeline_of(command)});
  return argv;
}

// What the stage did, beside what the driver does. A stage that failed has told nothing.
Result<void> Compilation::add_timeline_of(const StageCommand& command) {
  const std::string path = timeline_of(command);
  if (host_.timeline == nullptr || !stage_files_->exists(path)) return success();
  BUDA_ASSIGN(const auto bytes, stage_files_->read(path));
  BUDA_ASSIGN(const auto trace, io::parse_json(bytes.view(), path));
  if (const io::Node* events = trace.find("traceEvents"))
    for (const io::Node& event : events->items()) host_.timeline->append(io::json_line(event) + ",\n");
  return success();
}

// What a stage has read is what the image depends on, but for what the stages made themselves.
Result<void> Compilation::note_dependencies(const StageCommand& command) {
  BUDA_ASSIGN(auto text, stage_files_->read(command.depfile));
  for (const auto& name : cli::dependencies_of(text.view()))
    if (!name.starts_with(folder_ + '/')) host_.fs().note_read(name);
  return success();
}

}  // namespace buda::driver
