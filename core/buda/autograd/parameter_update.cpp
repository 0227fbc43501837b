// SPDX-License-Identifier: Apache-2.0
// Built-in updates, and those of a file.
#include <buda/autograd/parameter_update.hpp>

#include <buda/autograd/splice.hpp>
#include <buda/autograd/update_file.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::autograd {

using graph::NodeId;
using graph::ValueRef;

namespace {

void by_formula(StepStates& states, ops::Builder& b, const Term& parameter, const Term& gradient, const Optimizer& optimizer) {
  const graph::Node& n = states.graph().node(parameter.value().node);
  UpdateContext context;
  std::map<std::string, Term, std::less<>> moments;
  context.state = [&](std::string_view state) {
    auto [found, is_new] = moments.emplace(std::string(state), Term());
    if (is_new) found->second = states.moment(b, n, state);
    return found->second;
  };
  context.add = [&](std::string_view state, const Term& change) {
    return states.moved(b, context.state(state), [&](const Term& from) { return from + change; });
  };
  context.scalar = [&](const StepScalar& scalar) { return Term(b, states.scalar(scalar, n.outputs[0].dtype)); };
  const Term step = step_of(optimizer, parameter, gradient, context);
  if (step.valid()) states.moved(b, parameter, [&](const Term& from) { return from - step; });
}

Result<void> by_file(StepStates& states, ops::Builder& b, const Term& parameter, ValueRef gradient, const ParameterRule& rule) {
  const graph::Node& n = states.graph().node(parameter.value().node);
  BUDA_ASSIGN(const FileUpdate file, update_from_file(*rule.file, n.outputs[0]));
  std::map<std::string, Term> moving;
  for (const FileMove& move : file.moves) moving[move.state] = move.state == kFileParameter ? parameter : states.moment(b, n, move.state);
  std::vector<ValueRef> inputs;
  for (NodeId id : file.graph.inputs()) {
    const std::string& name = file.graph.node(id).name();
    const auto state = moving.find(name);
    StepScalar rate{ScalarKind::rate, rule.optimizer.lr};
    if (name == kFileStep) rate = StepScalar{ScalarKind::step};
    inputs.push_back(state != moving.end()   ? state->second.value()
                     : name == kFileGradient ? gradient
                                             : states.scalar(rate, n.outputs[0].dtype));
  }
  const std::vector<ValueRef> changes = splice(states.graph(), file.graph, inputs, cat("update.", n.name(), '.'));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Term change(b, changes[i]);
    const bool is_negative = file.moves[i].negative;
    states.moved(b, moving[file.moves[i].state], [&](const Term& from) { return is_negative ? from - change : from + change; });
  }
  return success();
}

}  // namespace

Result<void> update_parameter(StepStates& states, ops::Builder& b, NodeId parameter, ValueRef gradient, const ParameterRule& rule) {
  if (rule.file != nullptr) return by_file(states, b, Term(b, parameter), gradient, rule);
  by_formula(states, b, Term(b, parameter), Term(b, gradient), rule.optimizer);
  return success();
}

}  // namespace buda::autograd
