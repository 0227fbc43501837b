// SPDX-License-Identifier: Apache-2.0
// The evaluator: nodes in topological order, each result freed after its last use.
#include <buda/ops/whole_graph/evaluate.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/whole_graph/evaluate_formats.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace buda::ops {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

Failure of_node(const Node& node, Failure failure) {
  for (auto& d : failure.diagnostics()) {
    d.message = cat(node.kind() == NodeKind::output ? "output '" : "node '", node.name(), "' (", node.op(), "): ", d.message);
    d.node = node.name();
    if (d.loc.file.empty()) d.loc = node.loc;
  }
  return failure;
}

// The first number that became infinite, or, of integers, another one on the way to a narrower type.
std::optional<std::string> number_lost(const Tensor& from, const Tensor& to) {
  if (is_float(from.dtype()) && dtype_size(from.dtype()) > dtype_size(to.dtype())) {
    Tensor wide = from.cast(DType::f64), narrow = to.cast(DType::f64);
    for (std::size_t i = 0; i < wide.size(); ++i)
      if (std::isfinite(wide.as<double>()[i]) && !std::isfinite(narrow.as<double>()[i])) return cat(wide.as<double>()[i]);
  }
  if (is_integer(from.dtype()) && dtype_size(from.dtype()) >= dtype_size(to.dtype())) {
    Tensor whole = from.cast(DType::i64), back = to.cast(DType::i64);
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (whole.as<std::int64_t>()[i] != back.as<std::int64_t>()[i]) return cat(whole.as<std::int64_t>()[i]);
  }
  return std::nullopt;
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, const NamedTensors& inputs, const EvaluateOptions& options, bool exact)
      : graph_(graph), inputs_(inputs), options_(options), exact_(exact), results_(graph.id_bound()), uses_left_(graph.id_bound(), 0) {}

  Result<NamedTensors> run() {
    BUDA_TRY(check(graph_, options_.registry == nullptr ? standard_ops() : *options_.registry));
    BUDA_TRY(check_inputs());
    count_uses();
    BUDA_TRY(check_arithmetic());
    for (NodeId id : graph_.topological_order())
      if (uses_left_[id.index()] != 0 || graph_.node(id).kind() == NodeKind::output) BUDA_TRY(step(graph_.node(id)));
    return std::move(outputs_);
  }

 private:
  // In a mixed graph some nodes are the host's, which computes in the model's types (graph/placement.hpp).
  bool is_device(const Node& node) const { return graph::level_of(graph_, node) == Level::device; }
  // Other values of the device are stored in their format as they come in.
  bool computes(const Node& node) const { return node.is_op() && is_device(node) && node.op() != graph::kToDevice; }

  // What the user must push: one tensor for each input, and no other.
  Result<void> check_inputs() {
    Failure failure;
    std::vector<std::string> names;
    for (NodeId id : graph_.inputs()) {
      const Node& node = graph_.node(id);
      names.push_back(node.name());
      ValueType wanted = node.outputs[0];
      if (is_device(node)) wanted = {border_type(node, wanted.dtype), border_shapes(node, wanted.shape).model, std::nullopt};
      auto it = inputs_.find(node.name());
      std::string problem;
      if (it == inputs_.end()) {
        problem = cat("the input '", node.name(), "' (", wanted.text(), ") is missing");
      } else if (it->second.dtype() != wanted.dtype || it->second.shape() != wanted.shape) {
        problem = cat("the input '", node.name(), "' is ", wanted.text(), "; given is ", it->second.describe());
      }
      if (problem.empty()) continue;
      Diagnostic d = input_error("OP007", {}, std::move(problem));
      d.node = node.name();
      failure.add(std::move(d));
    }
    for (const auto& [name, tensor] : inputs_) {
      NodeId id = graph_.find(name);
      if (id.valid() && graph_.node(id).kind() == NodeKind::input) continue;
      Diagnostic d = input_error("OP007", {}, cat("the graph has no input '", name, "'"));
      auto near = nearest_word(name, names);
      d.hint = near ? cat("did you mean '", *near, "'?") : cat("its inputs: ", join(names, ", "));
      failure.add(std::move(d));
    }
    if (!failure.empty()) return failure;
    return success();
  }

  Result<void> check_arithmetic() const {
    if (!exact_) return success();
    if (graph_.level != Level::device)
      return input_error("OP061", {}, cat("graph '", graph_.name, "' is at tensor level, where values have no data formats"));
    for (NodeId id : graph_.topological_order())
      if (uses_left_[id.index()] != 0 && is_device(graph_.node(id))) BUDA_TRY(check_formats(graph_.node(id)));
    return success();
  }

  // Uses that outputs depend on; a node without any is not computed.
  void count_uses() {
    std::vector<NodeId> order = graph_.topological_order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& node = graph_.node(*it);
      if (node.kind() != NodeKind::output && uses_left_[it->index()] == 0) continue;
      for (const auto& edge : node.inputs()) ++uses_left_[edge.source.node.index()];
    }
  }

  Result<void> step(const Node& node) {
    std::vector<Tensor> inputs;
    for (const auto& edge : node.inputs()) inputs.push_back(results_[edge.source.node.index()][edge.source.port]);
    for (const auto& edge : node.inputs())
      if (--uses_left_[edge.source.node.index()] == 0) results_[edge.source.node.index()].clear();
    auto results = node.kind() == NodeKind::input ? pushed(node)
                   : exact_ && computes(node)     ? in_formats(node, inputs)
                                                  : evaluate_node(node, graph::level_of(graph_, node), inputs, options_);
    if (!results) return std::move(results).failure();
    if (exact_ && is_device(node) && !computes(node) && node.kind() != NodeKind::output)
      for (Tensor& result : *results) {
        BUDA_ASSIGN(result, as_pushed(result, *node.outputs[0].format));
      }
    if (exact_ && node.kind() == NodeKind::output)
      for (Tensor& result : *results) result = result.cast(graph_.type(node.inputs()[0].source)->dtype);
    if (options_.disturb && node.is_op()) options_.disturb(node, *results);
    if (options_.observe) options_.observe(node, *results);
    if (node.kind() == NodeKind::output) {
      outputs_.emplace(node.name(), std::move(results->front()));
    } else {
      results_[node.id().index()] = std::move(*results);
    }
    return success();
  }

  Result<std::vector<Tensor>> pushed(const Node& node) {
    Tensor tensor = inputs_.at(node.name());
    if (is_device(node)) {
      auto padded = padded_input(node, tensor);
      if (!padded) return of_node(node, std::move(padded).failure());
      tensor = std::move(*padded);
    }
    return std::vector<Tensor>{std::move(tensor)};
  }

  Result<std::vector<Tensor>> in_formats(const Node& node, std::span<const Tensor> inputs) {
    std::vector<Tensor> arriving;
    std::vector<DataFormat> formats;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const graph::Edge& edge = node.inputs()[i];
      formats.push_back(*graph_.type(edge.source)->format);
      auto tensor = apply_tms(inputs[i], edge.tms);
      // What is padded with has the format of the rest.
      bool pads =
          std::any_of(edge.tms.begin(), edge.tms.end(), [](const graph::Tm& tm) { return tm.kind == graph::TmKind::pad && tm.value != 0; });
      if (tensor && pads) tensor = as_stored(*tensor, formats.back());
      if (!tensor) return of_node(node, std::move(tensor).failure());
      arriving.push_back(std::move(*tensor));
    }
    const Registry& registry = options_.registry == nullptr ? standard_ops() : *options_.registry;
    BUDA_ASSIGN(const OpDef* def, registry.require(Level::device, node.op()));
    auto results = evaluate_in_formats(*def, node, arriving, formats, std::max(options_.threads, 1u));
    if (!results) return of_node(node, std::move(results).failure());
    return results;
  }

  static Result<Tensor> padded_input(const Node& node, const Tensor& tensor) {
    const Shape& device = node.outputs[0].shape;
    Tensor narrow = tensor.cast(node.outputs[0].dtype);
    if (auto lost = number_lost(tensor, narrow)) {
      Diagnostic d = input_error("OP007", {},
                                 cat("the input '", node.name(), "' (", dtype_name(tensor.dtype()), ") holds ", *lost, ", which ",
                                     dtype_name(narrow.dtype()), ", with which the device computes, cannot hold"));
      d.node = node.name();
      d.hint = "scale the model's inputs, or run its graph before lowering";
      return d;
    }
    BUDA_ASSIGN(Tensor seen, into_view(narrow, border_shapes(node, device)));
    return to_device(seen, device);
  }

  const Graph& graph_;
  const NamedTensors& inputs_;
  const EvaluateOptions& options_;
  bool exact_;                                // in the formats of the nodes
  std::vector<std::vector<Tensor>> results_;  // by id
  std::vector<std::uint32_t> uses_left_;      // by id
  NamedTensors outputs_;
};

Result<std::vector<Tensor>> evaluated(const Node& node, Level level, std::span<const Tensor> inputs, const EvaluateOptions& options) {
  if (node.has_value()) {
    if (!node.value) return input_error("GR006", {}, cat("the ", node.op(), " has no value"));
    if (level == Level::tensor || node.outputs.empty()) return std::vector<Tensor>{node.value->tensor};
    BUDA_ASSIGN(Tensor padded, to_device(node.value->tensor.cast(node.outputs[0].dtype), node.outputs[0].shape));
    return std::vector<Tensor>{std::move(padded)};
  }
  std::vector<Tensor> arriving;
  for (std::size_t i = 0; i < node.inputs().size() && i < inputs.size(); ++i) {
    BUDA_ASSIGN(Tensor tensor, apply_tms(inputs[i], node.inputs()[i].tms));
    arriving.push_back(std::move(tensor));
  }
  if (node.kind() == NodeKind::output && arriving.size() == 1) {
    if (level == Level::tensor) return arriving;
    BorderShapes shapes = border_shapes(node, arriving[0].shape());
    BUDA_ASSIGN(Tensor cut, from_device(arriving[0], shapes.view));
    BUDA_ASSIGN(cut, out_of_view(cut, shapes));
    return std::vector<Tensor>{in_model_type(cut, border_type(node, cut.dtype()))};
  }
  const Registry& registry = options.registry == nullptr ? standard_ops() : *options.registry;
  BUDA_ASSIGN(const OpDef* def, registry.require(level, node.op()));
  return evaluate(*def, arriving, node.attrs, options.threads);
}

}  // namespace

Result<std::vector<Tensor>> evaluate_node(const Node& node, Level level, std::span<const Tensor> inputs, const EvaluateOptions& options) {
  auto results = evaluated(node, level, inputs, options);
  if (!results) return of_node(node, std::move(results).failure());
  return results;
}

Result<NamedTensors> evaluate_graph(const Graph& graph, const NamedTensors& inputs, const EvaluateOptions& options) {
  return Evaluator(graph, inputs, options, false).run();
}

Result<NamedTensors> evaluate_graph_in_formats(const Graph& graph, const NamedTensors& inputs, const EvaluateOptions& options) {
  return Evaluator(graph, inputs, options, true).run();
}

}  // namespace buda::ops
