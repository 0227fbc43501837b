// SPDX-License-Identifier: Apache-2.0
// The evaluator of ops, batch by batch.
#include <buda/runtime/reference/bfloat16_values.hpp>
#include <buda/runtime/reference/graph_run.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/mixed_rows.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/rows/mixed_rows.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/evaluate_formats.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/runtime/inputs/state.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <deque>

namespace buda::runtime {
namespace {

using graph::Graph;
using graph::Node;

Shape model_shape(const Node& node, const Shape& otherwise) {
  auto it = node.attrs.find(std::string(ops::kModelShape));
  const auto* dims = it == node.attrs.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&it->second);
  return dims == nullptr ? otherwise : Shape(*dims);
}

// Inputs and outputs of a graph, as if they were those of a plan.
class GraphPorts {
 public:
  explicit GraphPorts(const Graph& graph) {
    for (auto id : graph.inputs()) {
      const Node& node = graph.node(id);
      if (node.outputs.empty()) continue;
      ports.inputs.push_back(port(graph, node, node.outputs[0].dtype, node.outputs[0].shape));
      ports.inputs.back().is_read = graph.use_count(id) != 0;
    }
    for (auto id : graph.outputs()) {
      const Node& node = graph.node(id);
      if (node.inputs().empty()) continue;
      if (auto type = graph.type(node.inputs()[0])) ports.outputs.push_back(port(graph, node, type->dtype, type->shape));
    }
  }
  // Inputs that are outputs of the step before.
  void add_states(const std::vector<graph::Loopback>& loopbacks, const Graph& graph) {
    auto port_of = [](const std::vector<Port>& all, const Node& node) {
      return *std::find_if(all.begin(), all.end(), [&](const Port& p) { return p.tensor->name == node.name(); });
    };
    for (const graph::Loopback& l : loopbacks)
      ports.states.push_back(
          {port_of(ports.inputs, graph.node(l.input)), port_of(ports.outputs, graph.node(l.output)), first(graph.node(l.input))});
  }
  Ports ports;

 private:
  static std::optional<Tensor> first(const Node& input) { return input.value ? std::optional(input.value->tensor) : std::nullopt; }
  Port port(const Graph& graph, const Node& node, DType dtype, const Shape& shape) {
    names_.push_back({});
    names_.back().name = node.name();
    names_.back().fixed_value = graph::fixed_value_of(node);
    names_.back().value_range = graph::value_range_of(node);
    names_.back().index_of = graph::index_reader_of(node);
    names_.back().rows_mixed_by = graph::rows_mixed_by(node);
    Port out;
    out.tensor = &names_.back();
    bool device = graph::level_of(graph, node) == graph::Level::device;
    out.dtype = device ? ops::border_type(node, dtype) : dtype;
    out.shape = device ? model_shape(node, shape) : shape;
    return out;
  }
  std::deque<host_plan::PlanTensor> names_;
};

}  // namespace

Result<GraphRun> run_graph(Graph graph, const NamedTensors& inputs, Host& host, Arithmetic arithmetic) {
  BUDA_TRY(ops::infer_types(graph));
  BUDA_TRY(ops::check(graph));
  ops::EvaluateOptions options;
  options.threads = host.threads;
  const bool in_bfloat16 = arithmetic == Arithmetic::bfloat16;
  if (in_bfloat16) {
    BUDA_TRY(round_weights_to_bfloat16(graph));
    round_results_to_bfloat16(options);
  }
  ops::mark_mixed_rows(graph);
  GraphPorts io(graph);
  BUDA_ASSIGN(auto loopbacks, graph::loopbacks(graph));
  io.add_states(loopbacks, graph);
  GraphRun out;
  BUDA_ASSIGN(out.batches, plan_batches(io.ports, inputs));
  NamedTensors given, states, unread;  // the evaluator wants all inputs, also those that nothing reads
  for (const StatePort& state : io.ports.states) {
    BUDA_ASSIGN(auto tensor, first_state(state, inputs, host));
    states.emplace(state.input.tensor->name, std::move(tensor));
  }
  for (const auto& port : io.ports.inputs) {
    if (io.ports.is_state(port.tensor->name)) continue;
    if (!port.is_read) {
      BUDA_ASSIGN(auto nothing, Tensor::zeros(port.dtype, port.shape));
      unread.emplace(port.tensor->name, std::move(nothing));
      continue;
    }
    BUDA_ASSIGN(auto tensor, with_dtype(port, inputs.at(port.tensor->name)));
    given.emplace(port.tensor->name, std::move(tensor));
  }
  if (in_bfloat16) {
    round_to_bfloat16(given);
    round_to_bfloat16(states);
  }
  const auto evaluate = arithmetic == Arithmetic::exact ? &ops::evaluate_graph_in_formats : &ops::evaluate_graph;
  if (out.batches.rows == 0) {
    given.merge(states);
    given.merge(unread);
    BUDA_ASSIGN(out.outputs, evaluate(graph, given, options));
    return out;
  }
  std::map<std::string, std::vector<Tensor>> parts;
  for (std::int64_t b = 0; b < out.batches.count; ++b) {
    host.progress("running", static_cast<std::size_t>(b), static_cast<std::size_t>(out.batches.count));
    NamedTensors batch = states;
    batch.insert(unread.begin(), unread.end());
    for (const auto& [name, tensor] : given) {
      BUDA_ASSIGN(auto rows, rows_of(tensor, b * out.batches.batch, out.batches.batch));
      batch.emplace(name, std::move(rows));
    }
    BUDA_ASSIGN(auto outputs, evaluate(graph, batch, options));
    for (const StatePort& state : io.ports.states) states.insert_or_assign(state.input.tensor->name, outputs.at(state.output.tensor->name));
    for (auto& [name, tensor] : outputs) {
      if (io.ports.gives_state(name)) {
        out.outputs.insert_or_assign(name, std::move(tensor));
      } else {
        parts[name].push_back(std::move(tensor));
      }
    }
  }
  for (auto& [name, tensors] : parts) {
    BUDA_ASSIGN(auto whole, joined(tensors, out.batches.rows));
    out.outputs.emplace(name, std::move(whole));
  }
  return out;
}

}  // namespace buda::runtime
