// SPDX-License-Identifier: Apache-2.0
// The stages, the runner, and the table of what they have written.
#include "apps/buda/bench.hpp"

#include "apps/buda/bench_figures.hpp"
#include "apps/buda/compilation.hpp"
#include "apps/buda/stage_checks.hpp"
#include "apps/buda/stages.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/about_model.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/compiler/model_name.hpp>
#include <buda/io/json.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

#include <filesystem>

namespace buda::driver {
namespace {

constexpr const char* kSimulator = "grid";

std::string perf_folder(const std::string& folder) { return folder + "/perf"; }

// Values take most of the time of a simulation, and nothing asks for them.
std::vector<std::string> runner_command(const Options& o, const cli::ToolHost& host, const std::string& folder) {
  std::vector<std::string> argv = {(std::filesystem::path(host.bin_dir) / "runner").string(),
                                   o.output,
                                   "--stimulus",
                                   "--rounds",
                                   cat(o.rounds),
                                   "--target",
                                   o.target,
                                   "--perf",
                                   perf_folder(folder),
                                   "--perf-level",
                                   "0",
                                   "-o",
                                   folder + "/outputs.npz"};
  if (o.target == kSimulator) argv.insert(argv.end(), {"--set", "target.grid.values=off"});
  argv.insert(argv.end(), host.common_arguments.begin(), host.common_arguments.end());
  if (host.verbosity == 0) argv.push_back("-q");  // of the run, only what goes wrong
  return argv;
}

// What the user left open.
Options completed(const Options& given, cli::ToolHost& host) {
  Options o = given;
  o.model = compiler::model_file(given.model, host.fs());
  if (o.target.empty()) o.target = kSimulator;
  // The kernels are what this target executes.
  o.kernels = o.target == "tensix";
  return o;
}

template <class T>
Result<T> read_record(const std::string& path) {
  auto files = io::make_real_file_system();
  BUDA_ASSIGN(const auto bytes, files->read(path));
  BUDA_ASSIGN(const auto node, io::parse_json(bytes.view(), path));
  return schema::read<T>(node);
}

Result<void> run_image(const Options& o, const std::string& folder, cli::ToolHost& host) {
  BUDA_ASSIGN(const auto result, io::run_process(runner_command(o, host, folder)));
  if (result.exit_code == 0) return success();
  Diagnostic d = input_error("BD008", {}, "the image was compiled, but its run failed");
  if (result.exit_code == cli::kUsageError) d.fault = Fault::usage;
  if (result.exit_code == cli::kInterrupted) d.fault = Fault::interrupted;
  if (result.exit_code >= cli::kBug && d.fault == Fault::input) d.fault = Fault::bug;
  return d;
}

Result<void> bench_in(const std::string& folder, bool stays, Options o, cli::ToolHost& host) {
  if (o.output.empty()) o.output = cat(folder, '/', cli::model_name(o.model), ".tti");
  // An earlier run may have left its figures there.
  std::error_code error;
  std::filesystem::remove_all(perf_folder(folder), error);
  if (error) return input_error("IO005", {perf_folder(folder)}, cat("cannot be removed: ", error.message()));
  Compilation compilation(o, host, folder, stays);
  BUDA_TRY(compilation.run());
  BUDA_TRY(run_image(o, folder, host));
  BenchFigures figures;
  figures.target = o.target;
  figures.rounds = o.rounds;
  BUDA_ASSIGN(const auto report, read_record<balance::PlacementReport>(compilation.report()));
  figures.compiled = balance::figures_of(report);
  if (const std::string summary = perf_folder(folder) + "/summary.json"; std::filesystem::exists(summary)) {
    BUDA_ASSIGN(const auto ran, read_record<perf::SummaryFile>(summary));
    figures.simulated = simulated_figures(ran);
  }
  return host.fs().write(std::string(io::kStdStream), o.json ? io::json_pretty(schema::write(figures)) : bench_table(figures));
}

Result<void> print_bench(Options o, cli::ToolHost& host, const std::string& folder) {
  const BuildFiles files(folder, cli::model_name(o.model));
  if (o.output.empty()) o.output = cat(folder, '/', cli::model_name(o.model), ".tti");
  std::string out = cat("mkdir -p ", io::shell_line({folder}), '\n');
  for (const auto& command : stage_commands(o, host, files, o.output)) out += io::shell_line(command.argv) + '\n';
  return host.fs().write(std::string(io::kStdStream), out + io::shell_line(runner_command(o, host, folder)) + '\n');
}

}  // namespace

Result<void> check_bench_options(const Options& given, cli::ToolHost& host) {
  BUDA_TRY(check_stage_options(given, host));
  if (given.dry_run) return success();
  Options o = completed(given, host);
  o.output = cat(cli::model_name(o.model), ".tti");
  return check_options_of({"runner", runner_command(o, host, "."), {}, {}}, host);
}

Result<void> bench_model(const Options& given, cli::ToolHost& host) {
  Options o = completed(given, host);
  std::string folder = o.build_dir;
  if (folder.empty() && o.save_temps) folder = cat(cli::model_name(o.model), ".bench.build");
  if (o.dry_run) return print_bench(o, host, folder.empty() ? host.temporary_dir + "/buda" : folder);
  if (!folder.empty()) {
    BUDA_TRY(host.fs().make_directories(folder));
    return bench_in(folder, true, std::move(o), host);
  }
  BUDA_ASSIGN(auto temporary, io::TemporaryDirectory::make(host.temporary_dir, std::string(cli::kTemporaryPrefix)));
  return bench_in(temporary.path(), false, std::move(o), host);
}

}  // namespace buda::driver
