// SPDX-License-Identifier: Apache-2.0
// Declaration of the trainer's options.
#include "apps/trainer/options.hpp"

#include "apps/trainer/run.hpp"

#include <buda/autograd/schedule.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/plugin/check_name.hpp>
#include <buda/tensor/tensor_file.hpp>

namespace buda::trainer {
namespace {

// A file, or NAME=FILE.
Result<void> check_exists(const std::string& text, cli::ToolHost& host) {
  const auto equal = text.find('=');
  const bool named = equal != std::string::npos && equal != 0 && !host.fs().exists(text);
  if (auto bytes = host.fs().read(named ? text.substr(equal + 1) : text); !bytes) return std::move(bytes).failure();
  return success();
}

void declare(cli::OptionSet& set, Options& o) {
  set.positional("MODEL", o.model, "image (.tti) or graph of a training step (autograd makes it)");
  set.path("output", o.output, "FILE",
           "the checkpoint (.safetensors): trained parameters by name, and what --resume needs; default: MODEL's name with "
           ".trained.safetensors, in the current folder")
      .also("-o");
  set.texts("inputs", o.inputs, "[NAME=]FILE", "inputs by name, one row for each sample, from .npz or .safetensors, or one from .npy");
  set.texts("targets", o.targets, "[NAME=]FILE",
            "what the loss compares the prediction with, one row for each sample; integers are numbers of classes");
  set.texts("validate", o.validate, "[NAME=]FILE", "inputs that are not trained on, whose loss and accuracy are told after each epoch");
  set.texts("validate-targets", o.validate_targets, "[NAME=]FILE", "and their targets");
  set.text("target", o.target, "NAME",
           "executes the steps; --list-plugins lists the targets, cpu evaluates graphs; default: golden, for a graph cpu");
  cli::declare_device(set, o.device, "device descriptor; default: that of the image");
  set.integer("epochs", o.epochs, "N", "how often the data are gone through").at_least(0);
  set.integer("steps", o.steps, "N", "end after that many steps in all; 0: after the epochs").at_least(0);
  set.integer("accumulate", o.accumulate, "N",
              "batches of the model whose gradients a step adds up; more than 1 need a step of autograd --form programs")
      .at_least(1);
  set.flag("shuffle", o.shuffle, "draw the order of samples anew in each epoch, with the seed of --seed");
  set.text("schedule", o.schedule, "NAME[:KEY=X,...]",
           "factor of the learning rate: constant, linear:to, cosine:to, polynomial:to,power, step:every,factor or exponential:factor; "
           "each with warmup");
  set.integer("checkpoint-every", o.checkpoint_every, "N", "write the checkpoint after every N steps, too; 0: only at the end").at_least(0);
  set.path("resume", o.resume, "FILE", "go on from this checkpoint, to the same bits as without the interruption");
  set.path("log", o.log, "FILE", "write one JSON object per line: step, epoch, loss and rate of each step, and results of validation");
  set.path("perf", o.perf, "DIR",
           "write what a target with simulated time has measured over all steps: summary.txt, summary.json and the other reports of runner "
           "--perf");
  set.flag("check-samples", o.check_samples,
           "check the inputs and targets against the model, and exit; the model may be the graph of a step for any target");
}

// What can be told before the step is compiled.
Result<void> check(const Options& o, cli::ToolHost& host) {
  BUDA_TRY(autograd::parse_schedule(o.schedule));
  if (!o.output.empty()) BUDA_TRY(check_tensor_path(o.output));
  if (!o.target.empty() && o.target != kCpu)
    BUDA_TRY(plugin::check_name(host.plugins, host.plugins.targets, plugin::Kind::target, o.target));
  if (o.inputs.empty() && o.targets.empty())
    return usage_error("TR001", "there are no samples: --inputs gives the model's inputs, and --targets what the loss compares with");
  for (const auto* files : {&o.inputs, &o.targets, &o.validate, &o.validate_targets})
    for (const std::string& text : *files) BUDA_TRY(check_exists(text, host));
  return o.resume.empty() ? success() : check_exists(o.resume, host);
}

}  // namespace

std::string output_path(const Options& o) { return cli::product_path(o.output, o.model, ".trained.safetensors"); }

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "trainer";
  spec.summary = "train a model: run training steps over data";
  spec.description =
      "Each step takes as many samples as the model's batch has rows; what is left at the end of an epoch waits for the next one's order. "
      "Numbers of a step that depend on its number, such as the learning rate, are computed by the host. Parameters stay on the device "
      "from step to step.";
  spec.reads = "the model; inputs and targets; with --resume a checkpoint; the device descriptor; the target plugin.";
  spec.writes = "the checkpoint; with --log a line for each step; with --perf reports on time.";
  spec.example =
      "trainer digits.train.tti --inputs train.images.npz --targets train.labels.npz --epochs 45\n"
      "trainer digits.train.graph.json --inputs train.images.npz --targets train.labels.npz --validate digits.images.npz "
      "--validate-targets digits.labels.npz";
  spec.plugins = {plugin::Kind::target};
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  spec.check = [&o](cli::ToolHost& host) { return check(o, host); };
  spec.inputs = [&o] {
    using cli::FileKind;
    return std::vector<cli::InputFile>{{o.model, {FileKind::image, FileKind::tensor_graph}}};
  };
  spec.also_read = [&o] {
    std::vector<std::string> out;
    for (const auto* files : {&o.inputs, &o.targets, &o.validate, &o.validate_targets}) out.insert(out.end(), files->begin(), files->end());
    return out;  // --resume and -o may be one checkpoint, which goes on
  };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] { return std::vector<std::string>{output_path(o), o.log}; };
  spec.folders = [&o] { return std::vector<std::string>{o.perf}; };
  return spec;
}

}  // namespace buda::trainer
