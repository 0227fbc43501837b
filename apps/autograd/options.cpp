// SPDX-License-Identifier: Apache-2.0
// Declaration of the options of autograd.
#include "apps/autograd/options.hpp"

#include "apps/autograd/run.hpp"

#include <buda/cli/product_name.hpp>
#include <buda/graph/file/graph_file.hpp>

namespace buda::autograd_tool {
namespace {

void declare(cli::OptionSet& set, Options& o) {
  set.positional("GRAPH", o.graph, "graph at tensor level, as the importer writes it; - for standard input");
  set.path("output", o.output, "FILE",
           "the graph of a step; default: the graph's name with .train.graph.json, in the current folder; - is standard output")
      .also("-o");
  set.text("loss", o.loss, "LOSS",
           "what is minimised: cross_entropy[:label_smoothing=X], nll, mse, l1, smooth_l1[:beta=X], huber[:delta=X], bce, "
           "bce_with_logits[:pos_weight=X], kl_div[:batchmean=1], or a graph file with the inputs prediction and target and one output");
  set.text(
      "optimizer", o.optimizer, "NAME[:KEY=X,...]",
      "sgd:lr,decay,momentum,nesterov; adam or adamw:lr,decay,beta1,beta2,epsilon; adagrad:lr,decay,epsilon,lr_decay,initial; "
      "rmsprop:lr,decay,momentum,epsilon,alpha,centered; lamb:lr,decay,beta1,beta2,epsilon,correction,least_ratio,most_ratio; "
      "lars:lr,decay,momentum,epsilon,coefficient; or FILE[:lr=X], a graph with the inputs parameter, gradient, rate, step and states, and "
      "the outputs NAME.next or NAME.change");
  set.real("clip-norm", o.clip_norm, "X", "scale all gradients so that their norm is at most X; 0: do not").at_least(0);
  set.real("clip-value", o.clip_value, "X", "clip the elements of gradients to -X to X; 0: do not").at_least(0);
  set.choice("update", o.update, {"pairs", "plain", "float32"},
             "how parameters and moments are kept: pairs: as two values whose sum they are, so that 16-bit formats learn from small steps; "
             "plain: as one; float32: as one in Float32, on boards that compute in it");
  set.choice(
      "form", o.form, {"step", "programs"},
      "step: one run takes one batch; programs: forward, backward and optimizer become programs of their own, and a step adds up the "
      "gradients of any number of batches");
  set.flag("initialize", o.initialize, "draw first values of weights anew, with the seed of --seed, instead of the model's");
  set.flag("check", o.check, "compare the gradients with differences of the loss, in F64 and for drawn inputs, before anything is written");
  set.text("prediction", o.prediction, "OUTPUT", "the output that the loss compares with the target; default: the only one");
  set.text("trainable", o.trainable, "REGEX", "train the parameters whose names contain a match; default: all");
  set.text("frozen", o.frozen, "REGEX", "do not train the parameters whose names contain a match");
}

}  // namespace

std::string output_path(const Options& o) { return cli::product_path(o.output, o.graph, ".train.graph.json"); }

cli::ToolSpec tool(Options& o) {
  cli::ToolSpec spec;
  spec.name = "autograd";
  spec.summary = "make the graph of a training step of a model's graph";
  spec.description =
      "Adds a loss, the gradients of all trainable parameters, and their update by an optimizer. Parameters become states: inputs that are "
      "outputs of the step before, with the model's weights as first value. The graph is one like any other: optimizer and balancer "
      "compile it, runner and trainer run it, the trainer also without compilation.";
  spec.reads = "the graph, and the files with its weights; the graph of a loss; decomposition plugins.";
  spec.writes = "the graph of a training step.";
  spec.example =
      "autograd digits.graph.json --loss cross_entropy --optimizer sgd:lr=0.1,momentum=0.9\n"
      "autograd encoder.graph.json --optimizer adam:lr=1e-4 --frozen embeddings -o encoder.train.graph.json";
  spec.plugins = {plugin::Kind::decomposition};
  spec.declare = [&o](cli::OptionSet& set) { declare(set, o); };
  spec.check = [&o](cli::ToolHost&) { return check(o); };
  spec.inputs = [&o] { return std::vector<cli::InputFile>{{o.graph, {cli::FileKind::tensor_graph}}}; };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  spec.products = [&o] {
    std::string path = output_path(o);
    if (path == io::kStdStream) return std::vector<std::string>{path};
    return std::vector<std::string>{path, graph::tensor_file_for(path)};
  };
  return spec;
}

}  // namespace buda::autograd_tool
