// SPDX-License-Identifier: Apache-2.0
// Compilation of the training step, and training.
#include "apps/buda/train.hpp"

#include "apps/buda/compilation.hpp"
#include "apps/buda/stages.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/about_model.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/compiler/model_name.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

namespace buda::driver {
namespace {

constexpr std::string_view kEnding = ".trained.safetensors";

Result<void> print_training(const Options& o, cli::ToolHost& host, const std::string& folder) {
  const BuildFiles files(folder, cli::model_name(o.model));
  std::string out = cat("mkdir -p ", io::shell_line({folder}), '\n');
  for (const auto& command : stage_commands(o, host, files, files.image)) out += io::shell_line(command.argv) + '\n';
  return host.fs().write(std::string(io::kStdStream), out);
}

}  // namespace

std::string checkpoint_path(const Options& o) { return o.output.empty() ? cat(cli::model_name(o.model), kEnding) : o.output; }

bool is_trained_on_host(const Options& o) { return o.trains && o.target == "cpu"; }

Result<void> train_model(const Options& given, cli::ToolHost& host) {
  Options o = given;
  o.model = compiler::model_file(given.model, host.fs());
  // The kernels are what this target executes.
  o.kernels = o.target == "tensix";
  std::string folder = o.build_dir;
  if (folder.empty() && o.save_temps) folder = cat(cli::model_name(o.model), ".train.build");
  if (o.dry_run) return print_training(o, host, folder.empty() ? host.temporary_dir + "/buda" : folder);
  if (!folder.empty()) {
    BUDA_TRY(host.fs().make_directories(folder));
    return Compilation(o, host, folder, true).run();
  }
  BUDA_ASSIGN(auto temporary, io::TemporaryDirectory::make(host.temporary_dir, std::string(cli::kTemporaryPrefix)));
  return Compilation(o, host, temporary.path(), false).run();
}

}  // namespace buda::driver
