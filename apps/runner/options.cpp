// SPDX-License-Identifier: Apache-2.0
// Declaration of the runner's options.
#include "apps/runner/options.hpp"

#include "apps/runner/run.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/plugin/check_name.hpp>

namespace buda::runner {
namespace {

void declare(cli::OptionSet& set, Options& o) {
  set.positional("MODEL", o.model, "image (.tti), netlist (.yaml) or graph (.graph.json); - for standard input");
  set.text("model", o.of_image, "NAME", "of an image that holds several models (tti-merge): the one to run");
  set.texts("inputs", o.inputs, "[NAME=]FILE|DIR",
            "input tensors by name, from .npz or .safetensors; or one from .npy or ONNX .pb, named NAME (or as the file, or as the only "
            "input); DIR: its input_0.pb, input_1.pb, …, by position");
  set.flag("stimulus", o.stimulus,
           "draw the inputs that no file gives, with the seed of --seed: of an image or graph in their types, shapes and ranges, of a "
           "netlist, which runs without its plan, as its test-config specifies");
  set.integer("rounds", o.rounds, "N", "with --stimulus, of an image: draw what N rounds of the program's loop take").at_least(1);
  set.path("output", o.output, "FILE",
           "output tensors by name, as .npz or .safetensors, or the only one as .npy or .pb; default: MODEL's name with .outputs.npz, in "
           "the current folder, unless a comparison, a trace or a dump is requested")
      .also("-o");
  set.text("target", o.target, "NAME",
           "executes the model; --list-plugins lists the targets, cpu evaluates graphs; default: golden, for a graph cpu");
  cli::declare_device(set, o.device, "device descriptor; default: that of the image, or the one that the plan names");
  set.choice("formats", o.formats, {"fp32", "bfloat16", "exact"},
             "how a graph is evaluated: fp32: in full precision; bfloat16: weights, inputs and the result of each op rounded to bfloat16, "
             "sums in fp32; exact: in the data formats and the precision that the optimizer chose");
  set.path("streams", o.streams, "DIR",
           "stream programs, for a target that executes them: DIR/temporal_epoch_N/overlay/blob.json; default: those of the image, "
           "otherwise they are compiled from the netlist");
  set.path("trace", o.trace, "FILE", "write a trace: calls of the device, executed graphs and queue pointers, one JSON object per line");
  set.path(
      "perf", o.perf, "DIR",
      "write what a target with simulated time has measured: summary.txt and summary.json, which say how long each epoch took, and why; "
      "timeline.svg; trace.json.gz for Perfetto; tables of ops, cores and epochs in the formats of TT-Buda and TT-Metal "
      "(docs/formats/perf.md)");
  set.choice("perf-level", o.perf_level, {"0", "1", "2", "3"},
             "with --perf: what is recorded; 0: sums and executions of epochs; 1: each input of each op and core; 2: also waits and steps "
             "of kernels; 3: also "
             "every transfer. No level changes the simulated time");
  set.path("telemetry", o.telemetry, "FILE",
           "while the model runs, write what its chips do: utilisation of each core, clocks, power, temperature, DRAM (tt-smi shows it)");
  set.path("accuracy", o.accuracy, "FILE",
           "run the model twice on target golden, in its formats and in fp32, and write how far the results of each op are apart "
           "(reportify shows it)");
  set.path("dump", o.dump, "FILE",
           "write the results of all ops by name, as (w, z, r, c), where w counts the inputs; .npz or .safetensors");
  set.texts("dump-op", o.dump_ops, "NAME", "with --dump: of this op only");
  set.group("Netlists");
  set.path("plan", o.plan, "FILE", "host plan of the netlist; default: the netlist's name with .plan.json, if it exists");
  set.flag("bare", o.bare, "run the netlist without a plan: inputs and outputs are its queues");
  set.flag("test", o.test,
           "as --stimulus, and compare every output with the same run in fp32 on target golden, as the netlist's test-config specifies");
  set.texts("program", o.programs, "NAME",
            "of a bare netlist: run this program; several run in the order given; default: all, in file order, except that programs that "
            "fill a queue precede those that read it");
  set.texts("param", o.params, "NAME=VALUE", "value of a program's parameter, for a bare netlist");
  set.group("Comparison");
  set.path("expect", o.expect, "FILE|DIR",
           "compare the outputs with these tensors (DIR: output_0.pb, …); a difference ends with exit code 4");
  set.real("pcc", o.pcc, "X",
           "minimum correlation; without any limit 0.99, for fewer than 64 numbers a limit of errors, and integers and booleans are equal "
           "(docs/tools/runner.md)")
      .range(-1, 1);
  set.real("rtol", o.rtol, "X", "every element within atol + rtol * |expected|; 0 when only atol is given").at_least(0);
  set.real("atol", o.atol, "X", "see rtol; 0 when only rtol is given").at_least(0);
  set.real("max-error", o.max_error, "X", "largest absolute error allowed").at_least(0);
  set.real("mean-error", o.mean_error, "X", "largest mean absolute error allowed").at_least(0);
  set.flag("same-type", o.same_type, "also require the expected element type");
}

// What can be told without the model.
Result<void> check(const Options& o, const cli::ToolHost& host) {
  if (o.target == kCpu && o.model.ends_with(".tti")) return cpu_is_for_graphs(o.model, "an image");
  if (o.target.empty() || o.target == kCpu) return success();
  return plugin::check_name(host.plugins, host.plugins.targets, plugin::Kind::target, o.target);
}

}  // namespace

Diagnostic cpu_is_for_graphs(const std::string& model, const char* what) {
  return usage_error("RN001", cat("option --target: cpu evaluates graphs; '", model, "' is ", what));
}

std::string output_path(const Options& o) {
  bool serves_else = !o.expect.empty() || o.test || !o.trace.empty() || !o.perf.empty() || !o.dump.empty() || !o.accuracy.empty() ||
                     o.model == io::kStdStream;
  return o.output.empty() && serves_else ? "" : cli::product_path(o.output, o.model, ".outputs.npz");
}

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "runner";
  spec.summary = "run a compiled model, a netlist or a graph on given inputs";
  spec.description =
      "An image runs on a target: inputs are pushed into its queues, its programs executed, its outputs popped, as its host plan says. "
      "Inputs with another first size than the model's run as several batches. A netlist runs in the same way with the host plan next to "
      "it; without a plan its queues are the inputs and outputs. A graph is evaluated in fp32 on the host (target cpu), as a "
      "reference.\nEvery given limit of a comparison must hold.";
  spec.reads =
      "the model; input tensors; the device descriptor; the target plugin; with --expect the expected tensors; with --streams stream "
      "programs.";
  spec.writes =
      "the output tensors; with --trace the trace; with --perf reports on time; with --telemetry the state of the chips; with --dump the "
      "results of ops; with --accuracy the accuracy of ops.";
  spec.example =
      "runner digits.tti --inputs digits.images.npz -o out.npz\n"
      "runner digits.tti --inputs image=image.npy --expect reference.npz --pcc 0.999 --max-error 0.01\n"
      "runner net.yaml --test --dump all.npz --trace trace.jsonl\n"
      "runner digits.graph.json --target cpu --inputs digits.images.npz -o reference.npz";
  spec.plugins = {plugin::Kind::target};
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  spec.check = [&o](cli::ToolHost& host) { return check(o, host); };
  spec.inputs = [&o] {
    using cli::FileKind;
    return std::vector<cli::InputFile>{{o.model, {FileKind::image, FileKind::netlist, FileKind::tensor_graph, FileKind::device_graph}},
                                       {o.plan, {FileKind::host_plan}}};
  };
  spec.also_read = [&o] {
    std::vector<std::string> out = o.inputs;
    out.push_back(o.expect);
    return out;
  };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] { return std::vector<std::string>{output_path(o), o.dump, o.trace, o.accuracy, o.telemetry}; };
  spec.folders = [&o] { return std::vector<std::string>{o.perf}; };
  return spec;
}

}  // namespace buda::runner
