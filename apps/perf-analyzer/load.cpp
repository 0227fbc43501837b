// SPDX-License-Identifier: Apache-2.0
// Reading summary.json, which has all that the tables of the folder have; comparing with the netlist; dividing epochs by graphs.
#include "apps/perf-analyzer/load.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/file_kind.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/io/json.hpp>
#include <buda/io/process.hpp>
#include <buda/netlist/text/parse.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace buda::perf_analyzer {
namespace {

using perf::EpochSummary;

// The names of ops by graph.
using Graphs = std::map<std::string, std::set<std::string>, std::less<>>;

Result<Graphs> read_graphs(const std::string& path, Host& host) {
  BUDA_ASSIGN(auto bytes, host.fs().read(path));
  BUDA_ASSIGN(auto netlist,
              netlist::parse_netlist(bytes.view(), path == io::kStdStream ? "<stdin>" : path, {.arch = "", .any_arch = true}));
  Graphs out;
  for (const auto& graph : netlist.graphs)
    for (const auto& op : graph.ops) out[graph.name].insert(op.name);
  return out;
}

// Graphs of several chips have a comma between them.
std::vector<std::string_view> graph_names(const EpochSummary& epoch) {
  auto out = split(epoch.graph, ',');
  for (auto& name : out) name = trim(name);
  return out;
}

Diagnostic other_netlist(const std::string& path, std::string message) {
  Diagnostic d = input_error("AN001", {path}, std::move(message));
  d.hint = "give the netlist that was run, or none";
  return d;
}

Result<void> check(const perf::SummaryFile& report, const Graphs& graphs, const std::string& path) {
  Failure failure;
  for (const EpochSummary& epoch : report.epochs) {
    std::set<std::string_view> ops;
    bool complete = true;
    for (const std::string_view name : graph_names(epoch)) {
      const auto graph = graphs.find(name);
      complete = complete && graph != graphs.end();
      if (graph == graphs.end()) {
        failure.add(other_netlist(path, cat("the netlist has no graph '", name, "', which the report has")));
      } else {
        ops.insert(graph->second.begin(), graph->second.end());
      }
    }
    for (const auto& op : epoch.ops)
      if (complete && !ops.contains(op.name))
        failure.add(other_netlist(path, cat("graph '", epoch.graph, "' of the netlist has no op '", op.name, "', which the report has")));
  }
  if (!failure.empty()) return failure;
  return success();
}

double math_work(const EpochSummary& epoch) {
  double out = 0;
  for (const auto& op : epoch.ops) out += op.math * static_cast<double>(op.cores);
  return out;
}

// The part of an epoch that one of its graphs is. Each is on a chip of its own, and chips have equal numbers of cores.
EpochSummary part_of(const EpochSummary& epoch, std::string_view name, const std::set<std::string>& ops, std::size_t graphs) {
  EpochSummary out = epoch;
  out.graph = name;
  std::erase_if(out.ops, [&](const auto& op) { return !ops.contains(op.name); });
  const double all = math_work(epoch);
  out.math_utilisation = all <= 0 ? 0 : epoch.math_utilisation * static_cast<double>(graphs) * math_work(out) / all;
  return out;
}

Result<std::vector<EpochSummary>> divided(const perf::SummaryFile& report, const Graphs& graphs) {
  std::vector<EpochSummary> out;
  for (const EpochSummary& epoch : report.epochs) {
    const auto names = graph_names(epoch);
    if (names.size() < 2) {
      out.push_back(epoch);
      continue;
    }
    if (graphs.empty()) {
      Diagnostic d =
          usage_error("AN002", cat("the graphs '", epoch.graph, "' ran together; which op is in which one, only the netlist says"));
      d.hint = "give it with --netlist FILE";
      return d;
    }
    for (const std::string_view name : names) out.push_back(part_of(epoch, name, graphs.find(name)->second, names.size()));
  }
  return out;
}

// A file in place of the folder: what would run it with a report, or show it.
Diagnostic no_folder(const std::string& file, Host& host) {
  Diagnostic d = input_error("AN005", {file}, "is a file; a report of a run is a folder");
  const auto bytes = host.fs().read(file);
  const cli::FileKind kind = bytes ? cli::file_kind(bytes->view().substr(0, cli::kKindBytes)) : cli::FileKind::unknown;
  const std::string report = cat(cli::model_name(file), ".perf");
  const auto run_and_show = [&](const std::string& model) {
    return cat(io::shell_line({"runner", model, "--stimulus", "--target", "grid", "--perf", report}), " && ",
               io::shell_line({"perf-analyzer", report}));
  };
  if (kind == cli::FileKind::image || kind == cli::FileKind::netlist) {
    d.hint = cat("first run: ", run_and_show(file));
  } else if (kind != cli::FileKind::unknown && kind <= cli::FileKind::tensor_graph) {
    const std::string image = cat(cli::model_name(file), ".tti");
    d.hint = cat("first run: ", io::shell_line({"buda", "compile", file, "-o", image}), " && ", run_and_show(image));
  } else {
    d.hint = cat("a file of --save, or the summary.json of a report, is shown by: ", io::shell_line({"perf-analyzer", "--load", file}));
  }
  return d;
}

}  // namespace

Result<Run> load(const Options& o, Host& host) {
  const std::string path = !o.load.empty() ? o.load : o.folder == "." ? "summary.json" : o.folder + "/summary.json";
  if (o.load.empty() && host.fs().exists(o.folder) && !host.fs().is_directory(o.folder)) return no_folder(o.folder, host);
  if (o.load.empty()) BUDA_TRY(io::require_whole(host.fs(), o.folder));
  if (o.load.empty() && !host.fs().exists(path)) {
    Diagnostic d = input_error("AN005", {path}, "no report of a run was found");
    d.hint = "'runner IMAGE --inputs FILE --target grid --perf DIR' writes one to DIR";
    return d;
  }
  BUDA_ASSIGN(auto bytes, host.fs().read(path));
  BUDA_ASSIGN(auto node, io::parse_json(bytes.view(), path == io::kStdStream ? "<stdin>" : path));
  Run run;
  BUDA_ASSIGN(run.report, schema::read<perf::SummaryFile>(node));
  Graphs graphs;
  if (!o.netlist.empty()) {
    BUDA_ASSIGN(graphs, read_graphs(o.netlist, host));
    BUDA_TRY(check(run.report, graphs, o.netlist));
    run.report.netlist = std::filesystem::path(o.netlist).filename().string();
  }
  run.epochs = run.report.epochs;
  if (o.spatial_epochs) {
    BUDA_ASSIGN(run.epochs, divided(run.report, graphs));
  }
  return run;
}

}  // namespace buda::perf_analyzer
