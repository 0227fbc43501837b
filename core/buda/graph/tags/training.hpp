// SPDX-License-Identifier: Apache-2.0
// What inputs and outputs of a training step's graph are for. A tag says it, which goes on to the host plan:
//
//   target         = input : F32 [64, 10]     training="target"
//   step.rate      = input : F32 [1, 1]       training="scalar rate lr=0.1"
//   fc1.weight     = input : F32 [128, 64]    training="parameter"       loopback=fc1.weight.next, with its first value
//   fc1.weight.low = input : F32 [128, 64]    training="low"             what the parameter is smaller than the exact sum of its updates
//   loss           = output(...)              training="loss"            of each sample or element: the loss is their mean
//   y.gradient     = input : F32 [64, 10]     training="output-gradient y"     where the host computes the loss
//   w.gradient     = output(...)              training="parameter-gradient w"  of a batch; of inputs "input-gradient x"
//   drop.mask      = input : F32 [64, 128]    training="mask 0.1"        0 with this probability, else 1 / (1 - 0.1); 1 if not learning
//   bn.learns      = input : F32 [64, 1]      training="learns"          1; 0 where nothing is learned
//   bn.mean.batch  = output(...)              training="statistic 0.1 bn.mean"   towards which a step moves a parameter by this part
#pragma once

#include <buda/graph/fwd.hpp>

#include <string>

namespace buda::graph {

inline constexpr const char* kTraining = "training";
inline constexpr const char* kTrainingTarget = "target";
inline constexpr const char* kTrainingScalar = "scalar";  // and, behind a space, how the host computes it (autograd/step_scalar.hpp)
inline constexpr const char* kTrainingParameter = "parameter";
inline constexpr const char* kTrainingLow = "low";
inline constexpr const char* kTrainingMoment = "moment";
inline constexpr const char* kTrainingLoss = "loss";
inline constexpr const char* kTrainingMask = "mask";  // and, behind a space, with which probability an element is 0
inline constexpr const char* kTrainingLearns = "learns";
inline constexpr const char* kTrainingStatistic = "statistic";  // of an output: with its part and the parameter; of an input: a state
// And, behind a space, the loss that takes probabilities or their logarithms, where nothing says that the prediction holds these.
inline constexpr const char* kTrainingPrediction = "prediction";
// And, behind a space, whose gradient it is. The backward phase takes the first, and gives the others.
inline constexpr const char* kTrainingOutputGradient = "output-gradient";
inline constexpr const char* kTrainingParameterGradient = "parameter-gradient";
inline constexpr const char* kTrainingInputGradient = "input-gradient";
// Of an op: its results add up over the batches of a step. A graph with such ops runs in phases: forward and loss, backward, optimizer.
inline constexpr const char* kTrainingGradient = "gradient";

// The tag's text; empty without one.
std::string training_of(const Node& node);

bool adds_up_gradients(const Node& op);
// Has it ops that add up gradients?
bool runs_in_phases(const Graph& graph);

// Which phase of a step an op belongs to: a tag of the nodes that are not the model's.
inline constexpr const char* kPhase = "phase";
inline constexpr const char* kPhaseLoss = "loss";
inline constexpr const char* kPhaseBackward = "backward";
inline constexpr const char* kPhaseOptimizer = "optimizer";

bool is_of_optimizer(const Node& node);

}  // namespace buda::graph
