// SPDX-License-Identifier: Apache-2.0
// From a model's graph to the graph of one training step: forward, loss, gradients, update.
//
// Trainable parameters become states (graph/loopback.hpp) whose first value is the parameter's, under the same name; beside them stand
// those of the optimizer. The step takes the model's inputs, the target and the scalars of the step (graph/training.hpp), and gives the
// model's outputs and the losses, whose mean the host takes.
#pragma once

#include <buda/autograd/differentiate.hpp>
#include <buda/autograd/loss.hpp>
#include <buda/autograd/update.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::autograd {

// step: one batch, all in one run. programs: gradients add up over any number of batches, in ops tagged as such (graph/training.hpp), and
// forward, backward and optimizer become programs of their own.
enum class StepForm : std::uint8_t { step, programs };

struct StepOptions {
  StepForm form = StepForm::step;
  Loss loss;
  std::optional<graph::Graph> loss_from_file;  // instead of `loss`: from (prediction, target) to one output
  Optimizer optimizer;
  std::optional<graph::Graph> optimizer_from_file;  // instead of it, but for its learning rate (update_file.hpp)
  Update update = Update::pairs;
  double clip_norm = 0;                          // gradients are scaled so that the norm of all of them is at most this; 0: not
  double clip_value = 0;                         // elements of gradients are clipped to this magnitude first; 0: not
  std::string prediction;                        // output that the loss compares; empty: the only one
  std::string trainable;                         // regular expression that the names of trainable parameters contain; empty: all
  std::string frozen;                            // and of parameters that stay as they are; empty: none
  std::optional<std::uint64_t> initialize = {};  // the seed of new first values (initialize.hpp); nothing: the model's
  DecomposeNodes decompose = {};                 // for ops that only their decomposition differentiates; empty: none is
  OutsideRules gradients = {};                   // of plugins, in place of ours
  // For a host that runs the phases one by one (form programs). No loss: each output of floating-point numbers has an input with its
  // gradient. Gradients of a batch, of trained parameters and of inputs, are outputs. A step takes the sum over its batches, not their
  // mean.
  bool loss_on_host = false, gives_gradients = false, sums_gradients = false;
};

struct TrainedParameter {
  std::string name;
  std::int64_t elements = 0;
  graph::ValueRef gradient;  // before it is clipped
};

struct TrainingStep {
  graph::Graph graph;
  std::vector<TrainedParameter> parameters;
  std::vector<std::string> unused;  // parameters that the loss does not depend on: they stay as they are
  std::int64_t state_elements = 0;  // of all states
  std::int64_t saved_elements = 0;  // of values of the forward phase that the backward phase reads
  // AG017: the loss takes probabilities (loss_domain.hpp), and nothing says that the prediction holds them. Then its output has the tag
  // "prediction bce" with the loss's name, and whoever trains looks at its numbers.
  std::optional<Diagnostic> doubt = {};
  std::string logits;  // the op before a softmax that the loss takes instead of its result; empty: none
};

// The graph is one of tensor level. AG001, AG003: differentiate.hpp. AG013: no output serves as prediction. AG014: no parameter is
// trainable. AG015: a regular expression that is none. AG016: a graph of a loss with other inputs and outputs.
Result<TrainingStep> training_step(graph::Graph graph, const StepOptions& options);

}  // namespace buda::autograd
