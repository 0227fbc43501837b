// SPDX-License-Identifier: Apache-2.0
// Declaration of the driver's commands and options.
#include "apps/buda/options.hpp"

#include "apps/buda/bench.hpp"
#include "apps/buda/cache_command.hpp"
#include "apps/buda/explain_command.hpp"
#include "apps/buda/run.hpp"
#include "apps/buda/stage_checks.hpp"
#include "apps/buda/stage_options.hpp"
#include "apps/buda/train.hpp"

#include <span>

namespace buda::driver {
namespace {

// What is said to the stages up to the image.
void declare_compilation(cli::OptionSet& set, Options& o) {
  set.positional("MODEL", o.model, "the model: a file that a frontend reads (ONNX, a graph, ...)");
  cli::declare_device(set, o.device, "device to compile for: a name of share/buda/devices or a descriptor file");
  set.text("frontend", o.frontend, "NAME", "the frontend; default: the one that recognises the model with the highest certainty");
  set.texts("dim", o.dims, "NAME=N", "value of a symbolic dimension of the model");
  set.texts("input-shape", o.input_shapes, "NAME=N,N,...[:TYPE]",
            "shape of an input, and its element type, where the model does not state them");
  set.texts("value", o.values, "NAME=FILE", "makes an input that determines shapes constant; FILE contains one tensor");
  set.texts("value-range", o.value_ranges, "NAME=LEAST:MOST",
            "promises that all elements of an input are in this range, which keeps ops on the device; a run checks it");
  set.choice("opt-level", o.level, {"0", "1", "2"}, "optimisation level of the optimizer").also("-O");
  set.text("policy", o.policy, "NAME", "balancer policy");
  set.flag("check", o.check, "verify the products of the stages: autograd --check, optimizer --verify, netlist2pipe --check");
  set.flag("save-temps", o.save_temps, "keep the intermediate files in a folder named after the product, with .build");
  set.path("build-dir", o.build_dir, "DIR", "keep the intermediate files in DIR");
  set.flag("dry-run", o.dry_run, "print the commands without running them").also("-###");
}

void declare_families(cli::OptionSet& set, Options& o, std::span<const char* const> stages) {
  for (const char* stage : stages)
    set.family(std::string(stage) + ".", std::string(stage) + ".KEY=VALUE", o.stage_options[stage],
               std::string("--set KEY=VALUE for ") + stage);
  set.family("op.", "op.NAME.KEY=VALUE", o.stage_options["op"], "the balancer's per-op overrides");
  set.family("queue.", "queue.NAME.KEY=VALUE", o.stage_options["queue"], "the balancer's places of queues");
}

void declare(cli::OptionSet& set, Options& o) {
  set.path("output", o.output, "FILE", "the image; default: the model's name with .tti, in the current folder").also("-o");
  declare_compilation(set, o);
  set.real("accuracy", o.accuracy, "R",
           "raise formats, accumulation and fidelity of the ops that lose most, until the outputs' correlation is at least R; needs "
           "--calibrate")
      .range(0, 1);
  set.path("accuracy-rules", o.accuracy_rules, "FILE",
           "what was raised for --accuracy, as options for --config; default: the image's name with .precision.yaml");
  set.choice("summary", o.summary, {"text", "layers", "json"},
             "what is said of the plan: text: a few lines on standard error; layers: also a table on standard output, by the model's own "
             "names; json: all figures, on standard output");
  set.flag("kernels", o.kernels, "compile the kernels of the image's ops, for targets that execute them (tensix)");
  set.path("reports", o.reports, "DIR",
           "keep in DIR/MODEL all that reportify shows: the intermediate files, and the graph after each pass");
  set.path("cache", o.cache, "DIR", "keep the image in this store, and take it from there if nothing that it is made from has changed");
  set.integer("cache-limit", o.cache_limit, "MIB", "size of the store, above which the images that were used longest ago are removed")
      .at_least(0);
  declare_families(set, o, kStages);
}

void declare_training(cli::OptionSet& set, Options& o) {
  set.path("output", o.output, "FILE",
           "the checkpoint with the trained parameters; default: the model's name with .trained.safetensors, in the current folder")
      .also("-o");
  set.text("target", o.target, "NAME", "executes the steps: cpu evaluates the graph in fp32 without compiling it; default: golden");
  declare_compilation(set, o);
  declare_families(set, o, kTrainStages);
}

// What the stages may read: the model, and whatever is given to them. A checkpoint that goes on may be the one to write.
std::vector<std::string> files_of_stages(const Options& o) {
  std::vector<std::string> out = o.values;
  out.push_back(o.model);
  for (const auto& [stage, arguments] : o.handed_on)
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (!arguments[i].starts_with("--") && (i == 0 || arguments[i - 1] != "--resume")) out.push_back(arguments[i]);
  return out;
}

// What the commands have in common that run the stages.
cli::ToolSpec command_of_stages(Options& o) {
  cli::ToolSpec spec;
  spec.declare_others = [&o](cli::OptionSet& set, const std::string& bin_dir, const std::string& temporary_dir) {
    return declare_stage_options(set, o, bin_dir, temporary_dir);
  };
  spec.also_read = [&o] { return files_of_stages(o); };
  spec.check = [&o](cli::ToolHost& host) { return check_stage_options(o, host); };
  return spec;
}

cli::ToolSpec train_command(Options& o) {
  o.trains = true;
  cli::ToolSpec train = command_of_stages(o);
  train.name = "buda train";
  train.summary = "train a model on a target";
  train.description =
      "Runs importer, autograd, the stages of `buda compile` and trainer as processes, each on the products of the previous one. -### "
      "prints the commands.\nOptions of these tools can be given directly: --loss and --optimizer of autograd, --inputs, --targets and "
      "--epochs of trainer, and those of the compilation.";
  train.reads = "the model and the files that belong to it; inputs and targets; the device descriptor; the plugins.";
  train.writes =
      "the checkpoint; with --save-temps or --build-dir also the products of all stages, the image of the training step among them.";
  train.example =
      "buda train digits.onnx --inputs train.images.npz --targets train.labels.npz --epochs 30 --optimizer sgd:lr=0.1,momentum=0.9";
  train.declare = [&o](cli::OptionSet& set) { declare_training(set, o); };
  train.run = [&o](cli::ToolHost& host) { return train_model(o, host); };
  train.products = [&o] { return std::vector<std::string>{checkpoint_path(o)}; };
  return train;
}

void declare_bench(cli::OptionSet& set, Options& o) {
  set.path("output", o.output, "FILE", "keep the image in FILE; default: it is not kept").also("-o");
  set.text("target", o.target, "NAME", "simulates the image; default: grid");
  set.integer("rounds", o.rounds, "N", "rounds of the program's loop that are simulated, each a microbatch of batches").at_least(1);
  set.flag("json", o.json, "the table as JSON, with all figures of `buda compile --summary json`");
  declare_compilation(set, o);
  declare_families(set, o, kStages);
}

cli::ToolSpec bench_command(Options& o) {
  cli::ToolSpec bench = command_of_stages(o);
  bench.name = "buda bench";
  bench.summary = "compile a model, simulate it on random inputs, and print its figures";
  bench.description =
      "Runs the stages of `buda compile`, and runner with --stimulus and --perf, as processes. -### prints the commands.\nOne table shows "
      "latency, throughput, what limits them and memory, as estimated by the compiler and as simulated. Options of the stages can be given "
      "directly, as with `buda compile`.";
  bench.reads = "the model and the files that belong to it; the device descriptor; the plugins.";
  bench.writes = "the table, on standard output; with -o the image; with --save-temps or --build-dir also the products of all stages.";
  bench.example = "buda bench digits.onnx --microbatch 64\nbuda bench digits.onnx --device e150 --json";
  bench.declare = [&o](cli::OptionSet& set) { declare_bench(set, o); };
  bench.check = [&o](cli::ToolHost& host) { return check_bench_options(o, host); };
  bench.run = [&o](cli::ToolHost& host) { return bench_model(o, host); };
  bench.products = [&o] { return std::vector<std::string>{o.output}; };
  return bench;
}

}  // namespace

cli::ToolSpec tool(AllOptions& all) {
  Options& o = all.compile;
  cli::ToolSpec compile = command_of_stages(o);
  compile.name = "buda compile";
  compile.summary = "compile a model into an image that `buda run` executes";
  compile.description =
      "Runs importer, optimizer, balancer, netlist2pipe, pipegen, with --kernels kernelc, and tti-pack as processes, each on the "
      "products of the previous one. -### prints the commands, which can also be run by hand.\nOptions of these tools can be given "
      "directly, here and in a config file: each is passed to the tools that have it. 'optimizer --help' and the others list them.";
  compile.reads = "the model and the files that belong to it; the device descriptor; the plugins.";
  compile.writes = "the image (.tti); with --save-temps or --build-dir also the products of all stages.";
  compile.example = "buda compile digits.onnx -o digits.tti --device n150\nbuda run digits.tti --inputs digits.images.npz -o out.npz";
  compile.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  compile.run = [&o](cli::ToolHost& host) { return compile_model(o, host); };
  compile.products = [&o] { return std::vector<std::string>{image_path(o)}; };

  cli::ToolSpec run;
  run.name = "buda run";
  run.summary = "run an image: the tool runner, with all its options";
  run.executable = "runner";

  cli::ToolSpec spec;
  spec.name = "buda";
  spec.summary = "compile models for tile-grid chips and run the result without hardware";
  spec.description = "A driver: it runs the other tools of the suite as processes, as gcc runs cc1, as and ld.";
  spec.example = compile.example;
  spec.commands = {std::move(compile),       std::move(run),           train_command(all.train),
                   bench_command(all.bench), cache_command(all.cache), explain_command(all.explain)};
  return spec;
}

}  // namespace buda::driver
