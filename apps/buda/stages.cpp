// SPDX-License-Identifier: Apache-2.0
// Command lines of the stages.
#include "apps/buda/stages.hpp"

#include "apps/buda/run.hpp"
#include "apps/buda/train.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/runtime/streams.hpp>

#include <algorithm>
#include <filesystem>

namespace buda::driver {
namespace {

StageCommand begin(const Options& o, const cli::ToolHost& host, const std::string& stage, const std::string& product,
                   std::vector<std::string> inputs) {
  StageCommand command{stage, {(std::filesystem::path(host.bin_dir) / stage).string()}, product, product + ".d"};
  auto& argv = command.argv;
  argv.insert(argv.end(), inputs.begin(), inputs.end());
  argv.insert(argv.end(), {"-o", product, "-MD", "-MF", command.depfile});
  if (auto own = o.stage_options.find(stage); own != o.stage_options.end())
    for (const auto& [key, value] : own->second) argv.insert(argv.end(), {"--set", cat(key, '=', value)});
  if (auto own = o.handed_on.find(stage); own != o.handed_on.end()) argv.insert(argv.end(), own->second.begin(), own->second.end());
  argv.insert(argv.end(), host.common_arguments.begin(), host.common_arguments.end());
  return command;
}

// What the balancer will be told of how to place, as KEY=VALUE: trials of the optimizer are placed likewise.
std::vector<std::string> placement_options(const Options& o) {
  std::vector<std::string> out;
  if (!o.policy.empty()) out.push_back("policy=" + o.policy);
  if (auto own = o.stage_options.find("balancer"); own != o.stage_options.end())
    for (const auto& [key, value] : own->second) out.push_back(cat(key, '=', value));
  if (auto own = o.handed_on.find("balancer"); own != o.handed_on.end())
    for (std::size_t i = 0; i < own->second.size(); ++i) {
      const std::string name = own->second[i].substr(2);
      out.push_back(name.find('=') != std::string::npos || i + 1 == own->second.size() ? name : cat(name, '=', own->second[++i]));
    }
  for (const char* family : {"op", "queue"})
    if (auto given = o.stage_options.find(family); given != o.stage_options.end())
      for (const auto& [key, value] : given->second) out.push_back(cat(family, '.', key, '=', value));
  return out;
}

void move_depfile(StageCommand& command, const std::string& path) {
  std::replace(command.argv.begin(), command.argv.end(), command.depfile, path);
  command.depfile = path;
}

}  // namespace

BuildFiles::BuildFiles(const std::string& folder, const std::string& model) {
  std::string base = (std::filesystem::path(folder) / model).string();
  if (base.starts_with('-')) base.insert(0, "./");  // no option of the tools that get it
  graph = base + ".graph.json";
  step = base + ".train.graph.json";
  image = base + ".train.tti";
  device = base + ".device.graph.json";
  netlist = base + ".yaml";
  plan = base + ".plan.json";
  report = base + ".report.json";
  pipes = base + ".pipes";
  kernels = cat(pipes, '/', runtime::kKernelProducts.substr(0, runtime::kKernelProducts.size() - 1));
  optimizer_settings = base + ".optimizer.json";
  balancer_settings = base + ".balancer.json";
  misfits = base + ".misfits.json";
  rules = base + ".precision.yaml";
}

StageCommand importer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = begin(o, host, "importer", files.graph, {o.model});
  c.argv.insert(c.argv.end(), {"--name", cli::model_name(o.model)});
  if (!o.frontend.empty()) c.argv.insert(c.argv.end(), {"--frontend", o.frontend});
  for (const auto& dim : o.dims) c.argv.insert(c.argv.end(), {"--dim", dim});
  for (const auto& shape : o.input_shapes) c.argv.insert(c.argv.end(), {"--input-shape", shape});
  for (const auto& value : o.values) c.argv.insert(c.argv.end(), {"--value", value});
  for (const auto& range : o.value_ranges) c.argv.insert(c.argv.end(), {"--value-range", range});
  if (o.trains) c.argv.push_back("--training");
  return c;
}

StageCommand autograd_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = begin(o, host, "autograd", files.step, {files.graph});
  if (o.check) c.argv.push_back("--check");
  return c;
}

StageCommand optimizer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = begin(o, host, "optimizer", files.device, {o.trains ? files.step : files.graph});
  c.argv.insert(c.argv.end(), {"--device", o.device, "--settings", files.optimizer_settings});
  if (!o.level.empty()) c.argv.push_back("-O" + o.level);
  if (o.check) c.argv.push_back("--verify");
  if (o.accuracy > 0) {
    c.argv.insert(c.argv.end(), {"--accuracy", cat(o.accuracy), "--accuracy-rules", files.rules});
    for (const std::string& option : placement_options(o)) c.argv.insert(c.argv.end(), {"--trial-placement", option});
  }
  if (!o.reports.empty()) c.argv.insert(c.argv.end(), {"--dump-dir", passes_folder(o)});
  return c;
}

StageCommand balancer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = begin(o, host, "balancer", files.netlist, {files.device});
  c.argv.insert(c.argv.end(),
                {"--device", o.device, "--plan", files.plan, "--report", files.report, "--settings", files.balancer_settings});
  if (!o.policy.empty()) c.argv.insert(c.argv.end(), {"--policy", o.policy});
  for (const char* family : {"op", "queue"})
    if (auto given = o.stage_options.find(family); given != o.stage_options.end())
      for (const auto& [key, value] : given->second) c.argv.insert(c.argv.end(), {"--set", cat(family, '.', key, '=', value)});
  return c;
}

StageCommand netlist2pipe_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = begin(o, host, "netlist2pipe", files.pipes, {files.netlist});
  c.argv.insert(c.argv.end(), {"--format", "json", "--device", o.device});
  if (o.check) c.argv.push_back("--check");
  return c;
}

StageCommand pipegen_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = begin(o, host, "pipegen", files.pipes, {files.pipes});
  move_depfile(c, files.pipes + ".blobs.d");  // the other is netlist2pipe's
  c.argv.insert(c.argv.end(), {"--device", o.device});
  return c;
}

StageCommand kernelc_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = begin(o, host, "kernelc", files.kernels, {files.netlist});
  if (!o.cache.empty()) c.argv.insert(c.argv.end(), {"--cache", o.cache});
  return c;
}

StageCommand pack_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files, const std::string& image) {
  StageCommand c = begin(o, host, "tti-pack", image,
                         {"--netlist", files.netlist, "--plan", files.plan, "--build", files.pipes, "--settings", files.optimizer_settings,
                          "--settings", files.balancer_settings, "--device", o.device});
  // The image's own folder is the user's; the depfile stays with the other intermediate files.
  move_depfile(c, files.netlist + ".tti.d");
  return c;
}

namespace {

StageCommand trainer_on(const Options& o, const cli::ToolHost& host, const BuildFiles& files, const std::string& step) {
  StageCommand c = begin(o, host, "trainer", checkpoint_path(o), {step});
  move_depfile(c, files.step + ".trained.d");  // the checkpoint's own folder is the user's
  if (!o.target.empty()) c.argv.insert(c.argv.end(), {"--target", o.target});
  if (!is_trained_on_host(o)) c.argv.insert(c.argv.end(), {"--device", o.device});
  return c;
}

}  // namespace

StageCommand trainer_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  return trainer_on(o, host, files, is_trained_on_host(o) ? files.step : files.image);
}

StageCommand samples_command(const Options& o, const cli::ToolHost& host, const BuildFiles& files) {
  StageCommand c = trainer_on(o, host, files, files.step);
  c.argv.push_back("--check-samples");
  return c;
}

std::vector<StageCommand> stage_commands(const Options& o, const cli::ToolHost& host, const BuildFiles& files, const std::string& image) {
  std::vector<StageCommand> commands = {importer_command(o, host, files)};
  if (o.trains) commands.push_back(autograd_command(o, host, files));
  if (is_trained_on_host(o)) {
    commands.push_back(trainer_command(o, host, files));
    return commands;
  }
  for (auto make : {optimizer_command, balancer_command, netlist2pipe_command, pipegen_command}) commands.push_back(make(o, host, files));
  if (o.kernels) commands.push_back(kernelc_command(o, host, files));
  commands.push_back(pack_command(o, host, files, o.trains ? files.image : image));
  if (o.trains) commands.push_back(trainer_command(o, host, files));
  return commands;
}

}  // namespace buda::driver
