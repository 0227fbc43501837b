// SPDX-License-Identifier: Apache-2.0
// Reads a graph, optimizes it while it is watched, writes it.
#include "apps/optimizer/run.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/accuracy/raise_accuracy.hpp>
#include <buda/compiler/optimize.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/file/tensor_series.hpp>
#include <buda/passes/pipeline/equivalence_check.hpp>
#include <buda/passes/pipeline/listing.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>

namespace buda::optimizer {
namespace {

using passes::PassRun;

Result<void> list_passes(cli::ToolHost& host) {
  std::size_t width = 0;
  for (const passes::Pass* pass : passes::standard_passes()) width = std::max(width, pass->name.size());
  std::string out;
  for (const passes::Pass* pass : passes::standard_passes()) {
    std::string_view level = pass->level ? graph::level_name(*pass->level) : "any";
    out += cat(pass->name, std::string(width + 2 - pass->name.size(), ' '), level, std::string(8 - level.size(), ' '), pass->summary, '\n');
  }
  return host.fs().write(std::string(io::kStdStream), out);
}

// The passes that --passes or --pipeline name; nothing: the default pipeline.
Result<std::optional<passes::Pipeline>> choose_pipeline(const Options& o, cli::ToolHost& host) {
  std::optional<passes::Pipeline> out;
  if (!o.passes.empty()) {
    if (!o.pipeline.empty()) return usage_error("OZ002", "options --passes and --pipeline: give one of them");
    std::vector<std::string> names;
    for (std::string_view name : split(o.passes, ',')) names.emplace_back(trim(name));
    auto pipeline = passes::pipeline_of(names);
    if (!pipeline) return schema::usage_errors("passes", std::move(pipeline).failure());
    out = std::move(*pipeline);
  } else if (!o.pipeline.empty()) {
    BUDA_ASSIGN(out, passes::read_pipeline(host.fs(), o.pipeline));
  }
  return out;
}

Result<void> check_pass_names(const Options& o) {
  Failure failure;
  auto known = [&](const std::string& name, std::string_view option) {
    if (auto pass = passes::require_pass(name); !pass) failure.add(schema::usage_errors(option, std::move(pass).failure()));
  };
  if (!o.stop_after.empty()) known(o.stop_after, "stop-after");
  for (const std::string& name : o.print_after)
    if (name != "all") known(name, "print-after");
  if (!failure.empty()) return failure;
  return success();
}

class Optimizer {
 public:
  Optimizer(const Options& o, cli::ToolHost& host)
      : o_(o), host_(host), check_(host, ops::standard_ops(), {o.verify_correlation, o.verify_error}) {}

  Result<void> run() {
    BUDA_TRY(check_pass_names(o_));
    if (!o_.verify && !o_.verify_inputs.empty()) return usage_error("OZ004", "option --verify-inputs needs --verify");
    BUDA_ASSIGN(compiler::OptimizeControl how, control());
    BUDA_ASSIGN(device::DeviceDescriptor device, device::load_device(host_, o_.device));
    host_.progress("reading the graph", 0, 0);
    BUDA_ASSIGN(graph::Graph graph, graph::read_graph(host_.fs(), o_.graph));
    if (!o_.dump_dir.empty()) BUDA_TRY(host_.fs().make_directories(o_.dump_dir));
    const compiler::PluginSet plugins{host_.plugins, host_.plugin_options};
    compiler::OptimizerOptions options = o_;
    BUDA_ASSIGN(const bool raises, compiler::asks_for_accuracy(o_));
    if (raises) {
      BUDA_TRY(check_accuracy_options());
      BUDA_ASSIGN(const compiler::BalancerOptions placing, trial_placement());
      BUDA_ASSIGN(options, compiler::raise_accuracy({graph, device, o_, placing, plugins, how.pipeline}, host_));
    }
    BUDA_ASSIGN(compiler::Optimized done, compiler::optimize(graph, device, options, plugins, host_, how));
    report(done, graph);
    if (!o_.settings.empty())
      BUDA_TRY(host_.fs().write(o_.settings, compiler::settings_text(compiler::settings_in_effect(options, host_.plugin_options)),
                                host_.write_mode));
    host_.progress("writing", 0, 0);
    return graph::write_graph(host_.fs(), graph, output_path(o_), host_.write_mode);
  }

 private:
  Result<compiler::OptimizeControl> control() {
    compiler::OptimizeControl out;
    BUDA_ASSIGN(out.pipeline, choose_pipeline(o_, host_));
    out.all_passes = !o_.passes.empty();
    out.stop_after = o_.stop_after;
    if (o_.bisect_limit >= 0) out.rewrite_limit = static_cast<std::uint64_t>(o_.bisect_limit);
    out.before_passes = [this](const graph::Graph& graph) { return before(graph); };
    out.after_pass = [this](const PassRun& run, const graph::Graph& graph) { return after(run, graph); };
    return out;
  }

  // Trials compile to the end, with the passes of the pipeline.
  Result<void> check_accuracy_options() const {
    if (o_.passes.empty() && o_.stop_after.empty() && o_.bisect_limit < 0) return success();
    return usage_error("OZ010", "option --accuracy compiles the whole model: no --passes, --stop-after and --bisect-limit");
  }

  Result<compiler::BalancerOptions> trial_placement() const {
    compiler::BalancerOptions out;
    schema::OptionSet set;
    compiler::declare(set, out);
    for (const std::string& text : o_.trial_placement) {
      const std::size_t equal = text.find('=');
      if (equal == std::string::npos) return usage_error("OZ010", cat("option --trial-placement: '", text, "' is not KEY=VALUE"));
      BUDA_TRY(set.assign(text.substr(0, equal), {text.substr(equal + 1)}));
    }
    return out;
  }

  Result<NamedTensors> verify_inputs(const graph::Graph& graph) {
    if (o_.verify_inputs.empty()) return passes::random_inputs(graph, host_.seed);
    return read_tensors(host_.fs(), o_.verify_inputs);
  }

  Result<void> before(const graph::Graph& graph) {
    nodes_before_ = graph.size();
    return o_.verify ? begin_check(graph) : success();
  }

  Result<void> begin_check(const graph::Graph& graph) {
    BUDA_ASSIGN(NamedTensors inputs, verify_inputs(graph));
    return check_.start(graph, std::move(inputs));
  }

  Result<void> after(const PassRun& run, const graph::Graph& graph) {
    auto ms = static_cast<std::int64_t>(run.seconds * 1e4 + 0.5);
    host_.log(1, cat(run.pass->name, ": ", run.report.rewrites, " rewrites, ", run.nodes_before, " -> ", run.nodes_after, " nodes, ",
                     ms / 10, '.', ms % 10, " ms"));
    if (!run.report.note.empty()) host_.log(1, run.report.note);
    for (const std::string& name : o_.print_after)
      if (name == "all" || name == run.pass->name)
        host_.log(0, cat("after ", run.pass->name, " (", run.number, "):\n", passes::listing(graph)));
    if (!run.report.changed()) return success();
    if (!o_.dump_dir.empty()) {
      std::string number = cat(run.number);
      number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
      const std::string path = cat(o_.dump_dir, '/', number, '-', run.pass->name, ".graph.json");
      BUDA_TRY(graph::write_graph_of_series(host_.fs(), graph, path, dumped_, host_.write_mode));
    }
    if (!o_.verify) return success();
    return run.pass->keeps_results ? check_.after(graph, run.pass->name) : begin_check(graph);
  }

  void report(const compiler::Optimized& done, const graph::Graph& graph) {
    if (o_.timings) host_.log(0, passes::timing_table(done.runs));
    host_.log(1, cat(nodes_before_, " -> ", graph.size(), " nodes"));
    if (o_.verify) host_.log(1, "every pass preserved the semantics of the graph");
    if (o_.bisect_limit < 0) return;
    const passes::RewriteCounter& rewrites = done.rewrites;
    host_.log(0, cat("rewrites done: ", rewrites.done(), rewrites.done() == 0 ? "" : cat(", the last: ", rewrites.last_done()),
                     rewrites.first_refused().empty() ? "; there are no more" : cat("; the next would be: ", rewrites.first_refused())));
  }

  const Options& o_;
  cli::ToolHost& host_;
  passes::EquivalenceCheck check_;
  std::size_t nodes_before_ = 0;
  graph::TensorSeries dumped_;
};

}  // namespace

Result<void> run(const Options& options, cli::ToolHost& host) {
  if (options.list_passes) return list_passes(host);
  if (options.graph.empty()) return usage_error("CL005", "missing argument GRAPH: the graph to optimize");
  return Optimizer(options, host).run();
}

}  // namespace buda::optimizer
