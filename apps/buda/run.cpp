// Running of the stages, one after the other.
#include "apps/buda/run.hpp"

#include "apps/buda/stages.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/depfile.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

#include <chrono>
#include <cmath>

namespace buda::driver {
namespace {

using Clock = std::chrono::steady_clock;

std::string seconds_text(Clock::duration d) {
  double s = std::chrono::duration<double>(d).count();
  return cat(std::round(s * 100) / 100, " s");
}

std::string padded(const std::string& text, std::size_t width) { return text + std::string(text.size() < width ? width - text.size() : 1, ' '); }

// The stage has told its reasons; this says which stage it was and keeps its exit code's meaning.
Diagnostic stage_failed(const StageCommand& command, const io::ProcessResult& result) {
  Diagnostic d = input_error("BD001", {}, cat("stage ", command.stage, " failed"));
  switch (result.exit_code) {
    case cli::kInputError: break;
    case cli::kUsageError: d.fault = Fault::usage; break;
    case cli::kDoesNotFit:
      d.fault = Fault::fit;
      d.message = cat("stage ", command.stage, ": the model does not fit the device");
      break;
    case cli::kMismatch:
      d.fault = Fault::mismatch;
      d.message = cat("stage ", command.stage, ": its result differs from what was expected");
      break;
    case cli::kInterrupted: d.fault = Fault::interrupted; break;
    default:
      d.fault = Fault::bug;
      d.message = result.signal != 0 ? cat("stage ", command.stage, " was ended by signal ", result.signal)
                                     : cat("stage ", command.stage, " ended with exit code ", result.exit_code);
  }
  d.hint = cat("the command was: ", io::shell_line(command.argv));
  return d;
}

class Compilation {
 public:
  Compilation(const Options& o, cli::ToolHost& host, std::string folder)
      : o_(o), host_(host), folder_(std::move(folder)), files_(folder_, model_stem(o.model)) {}

  Result<void> run() {
    std::size_t done = 0;
    for (const auto& command : {importer_command(o_, host_, files_), optimizer_command(o_, host_, files_), balancer_command(o_, host_, files_),
                                netlist2pipe_command(o_, host_, files_), pack_command(o_, host_, files_, image_path(o_))})
      BUDA_TRY(run_stage(command, ++done));
    return success();
  }

 private:
  Result<void> run_stage(const StageCommand& command, std::size_t number) {
    auto start = Clock::now();
    host_.log(1, io::shell_line(command.argv));
    BUDA_ASSIGN(auto result, io::run_process(command.argv));
    if (result.exit_code != 0) return stage_failed(command, result);
    BUDA_TRY(note_dependencies(command));
    std::string product = command.product;
    if (product.starts_with(folder_ + '/')) product = product.substr(folder_.size() + 1);
    host_.log(0, cat('[', number, '/', std::size(kStages), "] ", padded(command.stage, 14), padded(product, 28), seconds_text(Clock::now() - start)));
    return success();
  }

  // What a stage has read is what the image depends on, but for what the stages made themselves.
  Result<void> note_dependencies(const StageCommand& command) {
    BUDA_ASSIGN(auto text, host_.fs().read(command.depfile));
    for (const auto& name : cli::dependencies_of(text.view()))
      if (!name.starts_with(folder_ + '/')) host_.fs().note_read(name);
    return success();
  }

  const Options& o_;
  cli::ToolHost& host_;
  std::string folder_;
  BuildFiles files_;
};

Result<void> print_commands(const Options& o, cli::ToolHost& host, const std::string& folder) {
  BuildFiles files(folder, model_stem(o.model));
  std::string out;
  for (const auto& command : {importer_command(o, host, files), optimizer_command(o, host, files), balancer_command(o, host, files),
                              netlist2pipe_command(o, host, files), pack_command(o, host, files, image_path(o))})
    out += io::shell_line(command.argv) + '\n';
  return host.fs().write(std::string(io::kStdStream), out);
}

}  // namespace

std::string image_path(const Options& o) { return o.output.empty() ? model_stem(o.model) + ".tti" : o.output; }

Result<void> compile_model(const Options& o, cli::ToolHost& host) {
  std::string image = image_path(o);
  if (image == io::kStdStream)
    return usage_error("BD002", "option --output: an image is an archive and does not go to standard output; name a file");
  std::string folder = o.build_dir;
  if (folder.empty() && o.save_temps) folder = (image.ends_with(".tti") ? image.substr(0, image.size() - 4) : image) + ".build";
  if (o.dry_run) return print_commands(o, host, folder.empty() ? host.temporary_dir + "/buda" : folder);
  if (!folder.empty()) {
    BUDA_TRY(host.fs().make_directories(folder));
    return Compilation(o, host, folder).run();
  }
  BUDA_ASSIGN(auto temporary, io::TemporaryDirectory::make(host.temporary_dir, "buda-"));
  return Compilation(o, host, temporary.path()).run();
}

}  // namespace buda::driver
