// SPDX-License-Identifier: Apache-2.0
// Checks, other shapes, and changes instead of next values.
#include <buda/autograd/update_file.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <string_view>

namespace buda::autograd {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

constexpr std::string_view kNext = ".next", kChange = ".change";

Diagnostic wrong(const Graph& file, std::string what) {
  Diagnostic d = input_error("AG018", {}, cat("the optimizer '", file.name, "' ", what));
  d.notes.push_back({{},
                     "it takes parameter, gradient, states, and where needed rate and step, and gives NAME.next or NAME.change of the "
                     "parameter and of each state"});
  return d;
}

bool is_number_of_step(const std::string& name) { return name == kFileRate || name == kFileStep; }

// "momentum.next" of "momentum".
std::string state_of(const std::string& output) {
  for (const std::string_view ending : {kNext, kChange})
    if (output.ends_with(ending)) return output.substr(0, output.size() - ending.size());
  return "";
}

// Elements of the parameter's type, and of its shape but for numbers of the step.
Result<void> reshape_inputs(Graph& graph, const graph::ValueType& parameter) {
  for (NodeId id : graph.ids()) {
    Node& n = graph.node(id);
    if (n.is_op()) {
      n.outputs.clear();
    } else if (n.value) {
      if (is_float(n.outputs[0].dtype)) {
        n.value = graph::Value(n.value->tensor.cast(parameter.dtype));
        n.outputs[0].dtype = parameter.dtype;
      }
    } else if (n.kind() == graph::NodeKind::input) {
      n.outputs[0] = is_number_of_step(n.name()) ? graph::ValueType{parameter.dtype, Shape{}, std::nullopt} : parameter;
    }
  }
  return ops::infer_types(graph);
}

// The output is the state plus or minus what it then is.
bool take_change(Graph& graph, NodeId output, NodeId state, FileMove& move) {
  const Node& last = graph.node(graph.node(output).inputs()[0].source.node);
  const bool is_sum = last.op() == "add", is_difference = last.op() == "subtract";
  if (!is_sum && !is_difference) return false;
  const bool is_first = last.inputs()[0].source == ValueRef(state), is_second = last.inputs()[1].source == ValueRef(state);
  if (!is_first && !(is_sum && is_second)) return false;
  move.negative = is_difference;
  const graph::Edge other = last.inputs()[is_first ? 1 : 0];
  graph.set_input(output, 0, other);
  return true;
}

void subtract_state(Graph& graph, NodeId output, NodeId state) {
  const graph::Edge next = graph.node(output).inputs()[0];
  const NodeId change = graph.add(graph.fresh_name("change"), "subtract", {next, graph::Edge(ValueRef(state))});
  graph.node(change).outputs = {graph.node(state).outputs[0]};
  graph.set_input(output, 0, graph::Edge(ValueRef(change)));
}

}  // namespace

Result<FileUpdate> update_from_file(const Graph& file, const graph::ValueType& parameter) {
  FileUpdate out{file, {}};
  Graph& graph = out.graph;
  if (graph.level != graph::Level::tensor) return wrong(file, "is a graph at device level");
  for (const char* needed : {kFileParameter, kFileGradient})
    if (const NodeId id = graph.find(needed); !id.valid() || graph.node(id).kind() != graph::NodeKind::input)
      return wrong(file, cat("has no input '", needed, "'"));
  if (auto inferred = reshape_inputs(graph, parameter); !inferred) {
    Failure failure = std::move(inferred).failure();
    failure.add(wrong(file, cat("does not serve a parameter of the shape ", parameter.shape.text())));
    return failure;
  }
  for (NodeId output : graph.outputs()) {
    const std::string name = graph.node(output).name(), state = state_of(name);
    const NodeId input = graph.find(state);
    const bool is_state =
        input.valid() && graph.node(input).kind() == graph::NodeKind::input && !is_number_of_step(state) && state != kFileGradient;
    if (state.empty() || !is_state) return wrong(file, cat("has the output '", name, "', which is no state's"));
    const auto type = graph.type(graph.node(output).inputs()[0]);
    if (!type || type->shape != parameter.shape)
      return wrong(file, cat("gives '", name, "' as ", type ? type->shape.text() : "nothing", " for a parameter of the shape ",
                             parameter.shape.text()));
    FileMove move{state, false};
    if (name.ends_with(kNext) && !take_change(graph, output, input, move)) subtract_state(graph, output, input);
    const bool is_known = std::any_of(out.moves.begin(), out.moves.end(), [&](const FileMove& m) { return m.state == state; });
    if (is_known) return wrong(file, cat("gives '", state, "' twice"));
    out.moves.push_back(std::move(move));
  }
  for (NodeId id : graph.inputs()) {
    const std::string& name = graph.node(id).name();
    const bool is_moved = std::any_of(out.moves.begin(), out.moves.end(), [&](const FileMove& m) { return m.state == name; });
    if (!is_moved && !is_number_of_step(name) && name != kFileGradient)
      return wrong(file, cat("does not say what becomes of '", name, "'"));
  }
  return out;
}

}  // namespace buda::autograd
