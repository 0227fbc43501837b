// SPDX-License-Identifier: Apache-2.0
// quantized-models: computes with the real numbers that the integers of a quantised model stand for, without rounding between ops.
//
// before                                        after
//   q = quantize(x, 0.1, 3) : I8 [1, 64]          y = clip(x) max=12.4 min=-13.1
//   y = dequantize(q, 0.1, 3)
//
//   c = subtract(cast(q), 3) : I32 [1, 64]        p = matmul(x, w * factor), with w in F32
//   p = matmul(c, cast(w)) : I32 [1, 10]          y = clip(p) max=127 min=-128
//   y = requantize(p, factor) : I8 [1, 10]            or, with QuantizedModels::int8, y = int8_matmul(x, w, bias, factor)
//
// Chips compute with floating-point numbers, and round these to their formats; rounding to integers besides takes ops of Float32 that not
// all have. Each rounding that is left out is at most half a step of the quantisation. Where an op needs the integers themselves, and at
// outputs of the model, they are made by the host. With QuantizedModels::host these ops are left as they are, and run on the host.
#include <buda/passes/quantized/int8_products.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>
#include <buda/passes/simplify/candidates.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

class Dequantizer {
 public:
  Dequantizer(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        order_(graph.topological_order()),
        known_(graph.id_bound(), 0),
        is_real_(graph.id_bound(), 0),
        quantized_(graph.id_bound(), 0),
        wanted_(graph.id_bound(), 0),
        rounds_(graph.id_bound(), 0),
        real_(graph.id_bound()) {
    for (NodeId id : order_) classify(id);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) want_inputs(*it);
    if (context_.quantized != QuantizedModels::int8) return;
    if (context_.device != nullptr && multiplies_int8(*context_.device)) products_.emplace(graph_, order_, known_, context_.host.threads);
  }

  Result<PassReport> on_host() {
    for (NodeId id : order_) {
      Node& n = graph_.node(id);
      bool part = (is_real_[id.index()] != 0 && wanted_[id.index()] != 0) || leaves(n);
      if (!part || known_[id.index()] != 0 || graph::on_host(n)) continue;
      graph::put_on_host(n);
      ++report_.rewrites;
    }
    return report_;
  }

  Result<PassReport> run() {
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      const Int8Product* product = products_ ? products_->sums(id) : nullptr;
      if (is_real_[id.index()] != 0 && wanted_[id.index()] != 0) {
        BUDA_TRY(product != nullptr ? make_sums(id, *product) : make_real(id));
      } else if (product != nullptr && is_float(n.outputs[0].dtype)) {
        BUDA_TRY(make_sums(id, *product));
      } else if (leaves(n)) {
        BUDA_TRY(leave(id));
      } else if (rounds_[id.index()] == 0) {
        BUDA_TRY(store_inputs(id));
      }
    }
    if (report_.rewrites == 0 && stored_.empty()) return report_;
    graph::erase_dead_nodes(graph_);
    report_.rewrites = static_cast<std::size_t>(std::ranges::count_if(order_, [&](NodeId id) { return !graph_.contains(id); }));
    for (auto& [id, name] : names_)
      if (graph_.contains(id)) graph_.rename(id, std::move(name));
    report_.note = cat("real numbers take the place of ", report_.rewrites, " nodes of quantised integers");
    if (context_.quantized == QuantizedModels::int8) tell_of_products();
    return report_;
  }

 private:
  // Whether a value is a constant, has a real number, and is quantised: by itself, or because what it is made of is.
  void classify(NodeId id) {
    const Node& n = graph_.node(id);
    auto all = [&](const std::vector<char>& table) {
      return std::ranges::all_of(n.inputs(), [&](const Edge& e) { return table[e.source.node.index()] != 0; });
    };
    auto any = [&](const std::vector<char>& table) {
      return std::ranges::any_of(n.inputs(), [&](const Edge& e) { return table[e.source.node.index()] != 0; });
    };
    known_[id.index()] = n.has_value() || (n.is_op() && !n.inputs().empty() && all(known_)) ? 1 : 0;
    if (graph::on_host(n) || !has_real_value(graph_, n)) return;
    bool is_source = n.op() == "quantize" || n.op() == "requantize";
    // What is quantised at compile time is rounded as it was meant.
    if (is_source && known_[id.index()] != 0) return;
    is_real_[id.index()] = 1;
    quantized_[id.index()] = is_source || any(quantized_) ? 1 : 0;
  }

  bool is_quantized(const Edge& edge) const { return quantized_[edge.source.node.index()] != 0; }

  bool leaves(const Node& n) const {
    if (graph::on_host(n) || known_[n.id().index()] != 0 || !leaves_integers(graph_, n)) return false;
    return n.op() == "dequantize" || is_quantized(n.inputs()[0]);
  }

  void want_inputs(NodeId id) {
    const Node& n = graph_.node(id);
    if (quantized_[id.index()] != 0) wanted_[id.index()] = 1;
    if (n.op() == "quantize" || (wanted_[id.index()] == 0 && !leaves(n))) return;
    for (const Edge& edge : n.inputs())
      if (is_real_[edge.source.node.index()] != 0) wanted_[edge.source.node.index()] = 1;
    if (n.op() != "divide") return;
    // A quotient that is rounded reads the sum behind the rounding, whose nodes stay as they are.
    NodeId moved = n.inputs()[0].source.node;
    rounds_[moved.index()] = 1;
    for (const Edge& part : graph_.node(moved).inputs()) {
      rounds_[part.source.node.index()] = 1;
      for (const Edge& edge : graph_.node(part.source.node).inputs())
        if (is_real_[edge.source.node.index()] != 0) wanted_[edge.source.node.index()] = 1;
    }
  }

  RealInputs inputs(NodeId id) {
    return {[this](const Edge& edge) { return real(edge); }, [this](const Edge& edge) { return known_[edge.source.node.index()] != 0; },
            products_ && products_->reads(id)};
  }

  // Of values without a rule: the integer, converted.
  RealValue real(const Edge& edge) {
    NodeId id = edge.source.node;
    auto& value = real_[id.index()];
    if (value) return *value;
    graph::GraphEditor editor(graph_, id);
    RealValue made;
    if (const Tensor* tensor = value_of(graph_, edge)) {
      NodeId constant = editor.add_constant("real", tensor->cast(DType::f32));
      if (graph_.node(id).kind() == graph::NodeKind::parameter) graph_.set_op(constant, std::string(graph::kParameterOp));
      made.x = Edge(ValueRef(constant));
    } else {
      graph::ValueType type = *graph_.type(edge.source);
      type.dtype = DType::f32;
      made.x = Edge(ValueRef(editor.add("real", "cast", {edge}, {type}, {{"dtype", std::string("F32")}})));
    }
    // Of nodes with several results only one is asked for again and again.
    if (graph_.node(id).outputs.size() == 1) value = made;
    return made;
  }

  Result<void> make_real(NodeId id) {
    graph::GraphEditor editor(graph_, id);
    ops::Builder b(editor);
    RealValue made = real_value(b, graph_.node(id), inputs(id));
    BUDA_TRY(b.status());
    real_[id.index()] = made;
    return success();
  }

  // Sums of a product in Int8: of integers, or of the numbers that a dequantize gives.
  Result<void> make_sums(NodeId id, const Int8Product& product) {
    graph::GraphEditor editor(graph_, id);
    ops::Builder b(editor);
    Edge sums = int8_sums(b, product, real(product.integers), context_.host.threads);
    BUDA_TRY(b.status());
    if (is_integer(graph_.node(id).outputs[0].dtype)) {
      real_[id.index()] = RealValue{.x = sums};
      return success();
    }
    graph_.replace_uses(ValueRef(id), sums.source);
    names_.emplace_back(sums.source.node, graph_.node(id).name());
    ++report_.rewrites;
    return success();
  }

  Result<void> leave(NodeId id) {
    graph::GraphEditor editor(graph_, id);
    ops::Builder b(editor);
    Edge made = dequantized(b, graph_.node(id), inputs(id));
    BUDA_TRY(b.status());
    graph_.replace_uses(ValueRef(id), made.source);
    if (graph_.node(made.source.node).is_op()) names_.emplace_back(made.source.node, graph_.node(id).name());
    ++report_.rewrites;
    return success();
  }

  // Ops without a real number read the integers, which come from the host; those of a quantize as it is.
  Result<void> store_inputs(NodeId id) {
    for (std::uint32_t i = 0; i < graph_.node(id).inputs().size(); ++i) {
      Edge edge = graph_.node(id).inputs()[i];
      NodeId source = edge.source.node;
      if (source.index() >= quantized_.size() || quantized_[source.index()] == 0) continue;
      if (graph_.node(source).op() == "quantize") {
        to_host(source);
        continue;
      }
      DType type = graph_.node(source).outputs[0].dtype;
      if (dtype_size(type) > 4) continue;
      auto& stored = stored_.try_emplace(source).first->second;
      if (!stored) {
        graph::GraphEditor editor(graph_, source);
        ops::Builder b(editor);
        stored = quantized(b, *real_[source.index()], type);
        BUDA_TRY(b.status());
        to_host(stored->node);
      }
      edge.source = *stored;
      graph_.set_input(id, i, edge);
    }
    return success();
  }

  void tell_of_products() {
    if (products_) {
      report_.note += cat("; ", products_->note());
      context_.host.report(note("PA039", {}, cat(products_->any() ? "" : "--quantized has no effect: ", products_->note())));
      return;
    }
    Diagnostic d = warning("PA037", {},
                           cat(context_.device == nullptr ? std::string("no device is chosen")
                                                          : cat("device '", context_.device->name, "' does not multiply integers"),
                               ": products of quantised models are computed with real numbers"));
    d.hint = "--quantized dequantize asks for that";
    context_.host.report(d);
  }

  void to_host(NodeId id) {
    if (context_.fallback.enabled) graph::put_on_host(graph_.node(id));
  }

  Graph& graph_;
  PassContext& context_;
  PassReport report_;
  std::vector<NodeId> order_;
  std::vector<char> known_, is_real_, quantized_, wanted_, rounds_;  // by id
  std::vector<std::optional<RealValue>> real_;                       // likewise
  std::optional<Int8Products> products_;
  std::map<NodeId, std::optional<ValueRef>> stored_;
  std::vector<std::pair<NodeId, std::string>> names_;  // of the nodes that are replaced
};

Result<PassReport> quantized_models(Graph& graph, PassContext& context) {
  if (ops_of_types(graph, {"quantize", "requantize", "dequantize"}).empty()) return PassReport{};
  Dequantizer dequantizer(graph, context);
  return context.quantized == QuantizedModels::host ? dequantizer.on_host() : dequantizer.run();
}

}  // namespace

const Pass kQuantizedModels = {.name = "quantized-models",
                               .summary = "compute with the real numbers that the integers of a quantised model stand for",
                               .level = graph::Level::tensor,
                               .keeps_results = false,
                               .run = quantized_models};

}  // namespace buda::passes
