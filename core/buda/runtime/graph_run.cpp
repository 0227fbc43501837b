// The evaluator of ops, batch by batch.
#include <buda/runtime/graph_run.hpp>

#include <buda/graph/placement.hpp>
#include <buda/ops/device_layout.hpp>
#include <buda/ops/evaluate.hpp>
#include <buda/ops/evaluate_formats.hpp>
#include <buda/ops/infer.hpp>

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
      if (!node.outputs.empty()) ports.inputs.push_back(port(graph, node, node.outputs[0].dtype, node.outputs[0].shape));
    }
    for (auto id : graph.outputs()) {
      const Node& node = graph.node(id);
      if (node.inputs().empty()) continue;
      if (auto type = graph.type(node.inputs()[0])) ports.outputs.push_back(port(graph, node, type->dtype, type->shape));
    }
  }
  Ports ports;

 private:
  Port port(const Graph& graph, const Node& node, DType dtype, const Shape& shape) {
    names_.push_back({});
    names_.back().name = node.name();
    Port out;
    out.tensor = &names_.back();
    bool device = graph::level_of(graph, node) == graph::Level::device;
    out.dtype = device ? ops::border_type(node, dtype) : dtype;
    out.shape = device ? model_shape(node, shape) : shape;
    return out;
  }
  std::deque<netlist::PlanTensor> names_;
};

}  // namespace

Result<GraphRun> run_graph(Graph graph, const NamedTensors& inputs, Host& host, Arithmetic arithmetic) {
  BUDA_TRY(ops::infer_types(graph));
  BUDA_TRY(ops::check(graph));
  GraphPorts io(graph);
  GraphRun out;
  BUDA_ASSIGN(out.batches, plan_batches(io.ports, inputs));
  NamedTensors given;
  for (const auto& port : io.ports.inputs) {
    BUDA_ASSIGN(auto tensor, with_dtype(port, inputs.at(port.tensor->name)));
    given.emplace(port.tensor->name, std::move(tensor));
  }
  ops::EvaluateOptions options;
  options.threads = host.threads;
  const auto evaluate = arithmetic == Arithmetic::exact ? &ops::evaluate_graph_in_formats : &ops::evaluate_graph;
  if (out.batches.rows == 0) {
    BUDA_ASSIGN(out.outputs, evaluate(graph, given, options));
    return out;
  }
  std::map<std::string, std::vector<Tensor>> parts;
  for (std::int64_t b = 0; b < out.batches.count; ++b) {
    host.progress("running", static_cast<std::size_t>(b), static_cast<std::size_t>(out.batches.count));
    NamedTensors batch;
    for (const auto& [name, tensor] : given) {
      BUDA_ASSIGN(auto rows, rows_of(tensor, b * out.batches.batch, out.batches.batch));
      batch.emplace(name, std::move(rows));
    }
    BUDA_ASSIGN(auto outputs, evaluate(graph, batch, options));
    for (auto& [name, tensor] : outputs) parts[name].push_back(std::move(tensor));
  }
  for (auto& [name, tensors] : parts) {
    BUDA_ASSIGN(auto whole, joined(tensors, out.batches.rows));
    out.outputs.emplace(name, std::move(whole));
  }
  return out;
}

}  // namespace buda::runtime
