// SPDX-License-Identifier: Apache-2.0
// Output paths and their contents.
#include "apps/balancer/output.hpp"

#include <buda/balance/emit/placement_picture.hpp>
#include <buda/balance/emit/plan_overrides.hpp>
#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace buda::balancer {
namespace {

// "a/digits.plan.json" and "a/digits.yaml" have the stem "a/digits".
std::string stem_of(std::string path) {
  for (std::string_view ending : {".plan.json", ".yaml", ".yml", ".json"})
    if (path.ends_with(ending) && path.size() > ending.size() && path[path.size() - ending.size() - 1] != '/') {
      path.resize(path.size() - ending.size());
      break;
    }
  return path;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// `path` as seen from the folder of `from`.
std::string relative_to(io::FileSystem& fs, const std::string& path, const std::string& from) {
  std::string folder = std::filesystem::path(from).parent_path().string();
  std::filesystem::path base = fs.canonical(folder.empty() ? "." : folder);
  return std::filesystem::path(fs.canonical(path)).lexically_relative(base).string();
}

}  // namespace

OutputFiles output_files(const Options& options) {
  OutputFiles out;
  out.netlist = cli::product_path(options.output, options.graph, ".yaml");
  bool to_stream = out.netlist == io::kStdStream;
  out.plan = options.from_netlist ? "" : !options.plan.empty() ? options.plan : to_stream ? "" : host_plan::plan_file_for(out.netlist);
  out.report = !options.report.empty() ? options.report : to_stream ? "" : stem_of(out.netlist) + ".report.json";
  out.picture = options.picture;
  out.overrides = options.overrides;
  if (!out.plan.empty() && out.plan != io::kStdStream) {
    out.tensors = stem_of(out.plan) + ".safetensors";
    out.host = stem_of(out.plan);
  }
  return out;
}

std::vector<std::string> products(const Options& options) {
  OutputFiles files = output_files(options);
  // Tensors are written only where the graph brings new ones, and then they change with the plan.
  return {files.netlist, files.plan, files.report, files.picture, files.overrides};
}

namespace {

// A file that waits for the others: created and written, and not yet in its place.
Result<std::unique_ptr<io::OutputFile>> staged(Host& host, const std::string& path, const std::string& content) {
  BUDA_ASSIGN(auto file, host.fs().create(path, host.write_mode));
  BUDA_TRY(file->write(content));
  return file;
}

}  // namespace

Result<void> write_outputs(const OutputFiles& files, const balance::Segments& segments, const balance::Balanced& balanced,
                           const std::string& netlist_text, Host& host) {
  io::FileSystem& fs = host.fs();
  balance::BuiltPlan plan;
  if (!files.plan.empty()) {
    if (files.tensors.empty())
      return usage_error("BA001", "the host plan cannot be written to standard output: it refers to files relative to its own folder");
    balance::PlanFiles names;
    // A netlist that goes to standard output is expected beside the plan, under the plan's name.
    names.netlist = files.netlist == io::kStdStream ? file_name(stem_of(files.plan)) + ".yaml" : relative_to(fs, files.netlist, files.plan);
    names.tensors = file_name(files.tensors);
    names.relative = [&](const std::string& path) { return relative_to(fs, path, files.plan); };
    names.is_replaced = [&](const std::string& path) { return fs.canonical(path) == fs.canonical(files.tensors); };
    if (segments.device) {
      BUDA_ASSIGN(plan, balance::build_plan(balanced.graph, balanced.problem, balanced.built.queues, names));
    } else {
      plan.plan.model = balanced.problem.name;
      plan.plan.device = balanced.problem.device->name;
      plan.plan.arch = balanced.problem.device->arch;
    }
    if (segments.has_host()) add_host_segments(plan.plan, segments, file_name(files.host));
  }
  // Whatever can fail comes before the first file appears.
  std::vector<std::unique_ptr<io::OutputFile>> all;
  if (!files.plan.empty()) {
    BUDA_ASSIGN(auto file, staged(host, files.plan, host_plan::host_plan_text(plan.plan)));
    all.push_back(std::move(file));
  }
  if (!files.report.empty()) {
    BUDA_ASSIGN(auto file, staged(host, files.report, balance::report_text(balanced.report)));
    all.push_back(std::move(file));
  }
  if (!files.picture.empty()) {
    BUDA_ASSIGN(auto file, staged(host, files.picture, balance::placement_svg(balanced.report, *balanced.problem.device)));
    all.push_back(std::move(file));
  }
  if (!files.overrides.empty()) {
    BUDA_ASSIGN(const auto overrides, balance::plan_overrides(balanced.problem, balanced.choice, balanced.schedule));
    BUDA_ASSIGN(auto file, staged(host, files.overrides, compiler::settings_text(overrides)));
    all.push_back(std::move(file));
  }
  BUDA_ASSIGN(auto netlist_file, staged(host, files.netlist, netlist_text));
  all.push_back(std::move(netlist_file));
  if (!plan.tensors.empty()) BUDA_TRY(write_tensors(fs, files.tensors, plan.tensors, host.write_mode));
  if (!files.plan.empty()) {
    for (std::size_t i = 0; i < segments.host.size(); ++i)
      if (segments.host[i])
        BUDA_TRY(
            graph::write_graph(fs, *segments.host[i], balance::host_graph_file(files.host, i, segments.device_segments), host.write_mode));
  }
  for (auto& file : all) BUDA_TRY(file->commit());
  return success();
}

}  // namespace buda::balancer
