// SPDX-License-Identifier: Apache-2.0
// The stages behind the importer, which works first, are called with --check-options.
#include "apps/buda/stage_checks.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/cli/tool.hpp>
#include <buda/io/process.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace buda::driver {
namespace {

// The others have no options but these two have them too: the device, threads and such.
bool has_options(const StageCommand& command) {
  constexpr std::array<std::string_view, 4> kStages = {"autograd", "optimizer", "balancer", "trainer"};
  return std::find(kStages.begin(), kStages.end(), command.stage) != kStages.end();
}

Diagnostic refused(const StageCommand& command, const io::ProcessResult& result) {
  Diagnostic d = input_error("BD001", {}, cat("stage ", command.stage, " refuses its options"));
  if (result.exit_code == cli::kUsageError) d.fault = Fault::usage;
  if (result.exit_code == cli::kInterrupted) d.fault = Fault::interrupted;
  return d;
}

}  // namespace

Result<void> check_options_of(const StageCommand& command, const cli::ToolHost& host) {
  std::vector<std::string> argv = command.argv;
  // What is refused is called as the user called it.
  for (std::string& word : argv)
    if (auto given = host.given_as.find(word.starts_with("--") ? word.substr(2) : ""); given != host.given_as.end()) word = given->second;
  argv.insert(argv.end(), {"--check-options", "-q"});  // warnings are told when it works
  BUDA_ASSIGN(const auto result, io::run_process(argv));
  return result.exit_code == 0 ? success() : refused(command, result);
}

Result<void> check_stage_options(const Options& options, const cli::ToolHost& host) {
  if (options.dry_run) return success();
  const BuildFiles files("", cli::model_name(options.model));
  for (const StageCommand& command : stage_commands(options, host, files, files.image))
    if (has_options(command)) BUDA_TRY(check_options_of(command, host));
  return success();
}

}  // namespace buda::driver
