// SPDX-License-Identifier: Apache-2.0
// Declaration of the optimizer's options.
#include "apps/optimizer/options.hpp"

#include "apps/optimizer/check.hpp"
#include "apps/optimizer/run.hpp"

#include <buda/cli/product_name.hpp>
#include <buda/graph/file/graph_file.hpp>

namespace buda::optimizer {
namespace {

void declare_passes(cli::OptionSet& set, Options& o) {
  set.group("Selecting and tracing passes");
  set.path("pipeline", o.pipeline, "FILE", "run this pipeline; default: share/buda/pipelines/default.yaml");
  set.flag("list-passes", o.list_passes, "list the passes and exit");
  set.text("passes", o.passes, "A,B,C", "run these passes instead of a pipeline, each once");
  set.text("stop-after", o.stop_after, "PASS", "stop after the first execution of this pass, and write the graph as it is then");
  set.texts("print-after", o.print_after, "PASS", "list the graph on standard error after each execution of this pass, or of all");
  set.integer("bisect-limit", o.bisect_limit, "N", "perform only the first N optional rewrites; negative: all").at_least(-1);
  set.path("dump-dir", o.dump_dir, "DIR", "write the graph to DIR after each execution that changed it");
  set.flag("timings", o.timings, "show a table of all executions: rewrites, nodes, time");
  set.group("Verifying");
  set.flag("verify", o.verify, "evaluate the graph on random inputs before and after every pass, and compare");
  set.path("verify-inputs", o.verify_inputs, "FILE",
           "verify on these inputs instead: .npz or .safetensors, by the names of the model's inputs");
  set.real("verify-correlation", o.verify_correlation, "R", "minimum correlation of a value with its value before the pass").range(-1, 1);
  set.real("verify-error", o.verify_error, "E", "maximum error of an element, relative to the value's largest element").at_least(0);
}

void declare_trials(cli::OptionSet& set, Options& o) {
  set.group("Trials of --accuracy");
  set.texts("trial-placement", o.trial_placement, "KEY=VALUE",
            "an option that the balancer will be given, by which trials are placed, too; the driver sets it");
}

void declare(cli::OptionSet& set, Options& o) {
  set.optional_positional("GRAPH", o.graph, "the graph file; - reads standard input");
  set.path("output", o.output, "FILE",
           "the optimized graph; default: GRAPH's name with .device.graph.json, in the current folder; - is standard output")
      .also("-o");
  set.path("settings", o.settings, "FILE", "write the options in effect to FILE, as tti-pack --settings reads them");
  cli::declare_device(set, o.device, "device to lower for: a name of share/buda/devices or a descriptor file");
  compiler::declare(set, o);
  declare_passes(set, o);
  declare_trials(set, o);
}

}  // namespace

std::string output_path(const Options& o) { return cli::product_path(o.output, o.graph, ".device.graph.json"); }

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "optimizer";
  spec.summary = "lower a model's graph to device ops on tiles";
  spec.description =
      "Runs a pipeline of passes: ops are decomposed by plugins, constants folded, biases and scales moved into weights, and the graph "
      "lowered to netlist ops on padded 4-D values with broadcasts and transposes on edges; finally data formats are assigned. "
      "share/buda/pipelines/default.yaml defines the order of the passes.\nOps that the device cannot execute run on the host, with a "
      "warning. With --enable-cpu-fallback=false each of them is an error, and nothing is written.";
  spec.example =
      "importer mlp.onnx -o - | optimizer - --device n150 -o mlp.device.graph.json\n"
      "optimizer mlp.graph.json --passes decompose,constant-folding --print-after all -o -\n"
      "optimizer mlp.graph.json --verify --bisect-limit 12";
  spec.reads = "the graph and its tensor files; the device descriptor; the pipeline; the decomposition plugins.";
  spec.writes =
      "the graph (JSON), and next to it a .safetensors file with the tensors that changed; on standard output one document with all.";
  spec.plugins = {plugin::Kind::decomposition, plugin::Kind::policy};
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.graph, {cli::FileKind::tensor_graph, cli::FileKind::device_graph}}}; };
  spec.also_read = [&o] { return std::vector<std::string>{o.calibrate, o.expect, o.verify_inputs, o.pipeline}; };
  spec.check = [&o](cli::ToolHost& host) { return check(o, host); };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] {
    std::string path = output_path(o);
    if (o.list_passes || path == io::kStdStream) return std::vector<std::string>{path};
    return std::vector<std::string>{path, graph::tensor_file_for(path)};
  };
  return spec;
}

}  // namespace buda::optimizer
