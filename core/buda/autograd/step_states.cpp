// SPDX-License-Identifier: Apache-2.0
// Inputs, loops and tags.
#include <buda/autograd/step_states.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>

namespace buda::autograd {

using graph::Node;
using graph::NodeId;
using graph::ValueRef;
using graph::ValueType;

namespace {

// The sum of a pair is rounded on purpose, which a fused op would not do (passes/fuse/fusing.hpp).
constexpr const char* kDontFuse = "dont_fuse";
// Values that keep all bits, in Float32 where the device has it (passes/lower/lowering_tags.hpp).
constexpr const char* kExact = "exact";

}  // namespace

ValueRef StepStates::input(const std::string& name, const ValueType& type, const std::string& training) {
  const NodeId id = graph_->add(graph_->fresh_name(name), std::string(graph::kInputOp));
  graph_->node(id).outputs = {type};
  graph_->node(id).tags[graph::kTraining] = training;
  return id;
}

ValueRef StepStates::zeros(const std::string& name, const ValueType& type, const std::string& training) {
  const ValueRef made = input(name, type, training);
  mark_exact(graph_->node(made.node));
  if (auto first = Tensor::zeros(type.dtype, type.shape)) graph_->node(made.node).value = graph::Value(std::move(*first));
  return made;
}

ValueRef StepStates::scalar(const StepScalar& scalar, DType dtype) {
  const std::string text = scalar.text();
  auto [found, is_new] = scalars_.emplace(cat(text, ' ', dtype_name(dtype)), ValueRef());
  if (is_new) {
    const std::string name = cat("step.", text.substr(0, text.find(' ')));
    found->second = input(name, {dtype, Shape{}, std::nullopt}, cat(graph::kTrainingScalar, ' ', text));
  }
  return found->second;
}

Term StepStates::moment(ops::Builder& b, const Node& parameter, std::string_view state) {
  return {b, zeros(cat(parameter.name(), '.', state), parameter.outputs[0], graph::kTrainingMoment)};
}

Term StepStates::moved(ops::Builder& b, const Term& state, const std::function<Term(const Term&)>& move) {
  if (!state.valid()) return {};
  const std::string name = graph_->node(state.value().node).name();
  elements_ += state.shape().volume().value_or(0);
  if (update_ != Update::pairs) {
    const Term next = move(state);
    loop(state, next);
    return next;
  }
  elements_ += state.shape().volume().value_or(0);
  const Term low(b, zeros(cat(name, ".low"), *graph_->type(state.value()), graph::kTrainingLow));
  const Term y = move(low);
  const Term next = state + y;
  if (next.valid()) graph_->node(next.value().node).tags[kDontFuse] = "";
  const Term taken = next - state;
  const Term rest = y - taken;
  loop(state, next);
  loop(low, rest);
  return next;
}

void StepStates::loop(const Term& state, const Term& next) {
  if (!next.valid()) return;
  Node& input = graph_->node(state.value().node);
  const std::string output = cat(input.name(), ".next");
  const NodeId id = graph_->add(graph_->find_output(output).valid() ? graph_->fresh_name(output) : output, std::string(graph::kOutputOp),
                                {graph::Edge(next.value())});
  graph_->node(id).origins = input.origins;
  input.tags[graph::kLoopback] = graph_->node(id).name();
}

ValueRef StepStates::sum_over_batches(ValueRef value, const std::string& name, NodeId parameter) {
  const ValueType type = *graph_->type(value);
  const NodeId sum = graph_->add(graph_->fresh_name(name), "buffer", {graph::Edge(value)});
  Node& n = graph_->node(sum);
  n.outputs = {type};
  n.origins = graph_->node(parameter).origins;
  n.tags = {{graph::kTraining, graph::kTrainingGradient}, {graph::kPhase, graph::kPhaseBackward}, {kDontFuse, ""}};
  return sum;
}

Result<ValueRef> StepStates::mean_over_batches(ValueRef value, const std::string& name, NodeId parameter) {
  const ValueType type = *graph_->type(value);
  const ValueRef sum = sum_over_batches(value, name, parameter);
  const std::size_t first = graph_->id_bound();
  graph::GraphEditor editor(*graph_, parameter);
  ops::Builder b(editor);
  const ValueRef mean = (Term(b, sum) * Term(b, scalar({ScalarKind::share}, type.dtype))).value();
  BUDA_TRY(b.status());
  tag_phase(first, graph::kPhaseOptimizer);
  return mean;
}

void StepStates::tag_phase(std::size_t first, const char* phase) {
  const bool is_exact = update_ == Update::float32 && phase == std::string_view(graph::kPhaseOptimizer);
  for (NodeId id : graph_->ids()) {
    Node& n = graph_->node(id);
    if (id.index() < first || !n.is_op()) continue;
    n.tags[graph::kPhase] = phase;
    if (is_exact) n.tags[kExact] = "";
  }
}

void StepStates::mark_exact(Node& state) const {
  if (update_ == Update::float32) state.tags[kExact] = "";
}

}  // namespace buda::autograd
