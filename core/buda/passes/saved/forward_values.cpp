// SPDX-License-Identifier: Apache-2.0
// Collects values by walking the graph once.
#include <buda/passes/saved/forward_values.hpp>

#include <buda/base/checked.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/data_movement.hpp>

#include <algorithm>
#include <map>

namespace buda::passes {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

namespace {

// Operations for each element of a result up to which an op is repeated without much ado: formulas of one element have less, sums and
// products more.
constexpr double kMaxOperations = 64;
constexpr std::int64_t kTileDatums = TileDim{}.datums();

bool is_forward(const Node& n) {
  const auto tag = n.tags.find(graph::kPhase);
  return n.is_op() && (tag == n.tags.end() || tag->second == graph::kPhaseLoss);
}

class Collector {
 public:
  Collector(const Graph& graph, const PassContext& context) : graph_(graph), context_(context) {}

  std::vector<ForwardValue> run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& n = graph_.node(id);
      if (n.kind() == graph::NodeKind::output) continue;
      if (!n.is_op())
        add(n, 0).is_there = true;
      else if (is_forward(n))
        for (std::uint32_t port = 0; port < n.outputs.size(); ++port) add_result(n, port);
      else if (is_backward(n))
        for (const graph::Edge& edge : n.inputs())
          if (const auto found = places_.find(edge.source); found != places_.end()) out_[found->second].is_read_backward = true;
    }
    return std::move(out_);
  }

 private:
  ForwardValue& add(const Node& n, std::uint32_t port) {
    const ValueRef value(n.id(), port);
    places_[value] = out_.size();
    out_.push_back({.value = value});
    return out_.back();
  }

  void add_result(const Node& n, std::uint32_t port) {
    const std::size_t at = out_.size();
    ForwardValue& v = add(n, port);
    v.bytes = bytes_of(n.outputs[port], is_rearrangement(n));
    v.may_repeat = n.outputs.size() == 1 && !graph::on_host(n) && n.op() != "dropout";
    v.is_product = takes_many_operations(n);
    for (const graph::Edge& edge : n.inputs())
      if (const auto found = places_.find(edge.source); found != places_.end()) {
        v.operands.push_back(found->second);
        out_[found->second].readers.push_back(at);
      }
  }

  bool takes_many_operations(const Node& n) const {
    const ops::OpDef* def = context_.ops->find(graph_.level, n.op());
    // A selection moves rows, whatever it costs.
    if (def == nullptr || def->flops == nullptr || n.op() == "sparse_matmul") return false;
    std::vector<ops::ValueType> inputs;
    for (const graph::Edge& edge : n.inputs()) inputs.push_back(*graph_.type(edge.source));
    const auto elements = static_cast<double>(n.outputs[0].shape.volume().value_or(0));
    return ops::flops(*def, inputs, n.outputs, n.attrs) > kMaxOperations * elements;
  }

  // In whole tiles. What is moved is read from where it lies, whatever the tiles of its shape would hold.
  std::int64_t bytes_of(const graph::ValueType& type, bool is_moved) const {
    const auto tiled = ops::tiled_shape(type.shape);
    std::int64_t elements = tiled ? tiled->volume().value_or(0) : 0;
    if (is_moved) elements = std::min(elements, ceil_div(type.shape.volume().value_or(0), kTileDatums) * kTileDatums);
    const DataFormat standard = context_.formats.standard.value_or(type.dtype == DType::f16 ? DataFormat::float16 : DataFormat::float16_b);
    return elements / kTileDatums * tile_bytes(type.format.value_or(standard));
  }

  const Graph& graph_;
  const PassContext& context_;
  std::vector<ForwardValue> out_;
  std::map<ValueRef, std::size_t> places_;
};

}  // namespace

bool is_backward(const Node& n) {
  const auto tag = n.tags.find(graph::kPhase);
  return n.is_op() && tag != n.tags.end() && tag->second == graph::kPhaseBackward;
}

std::vector<ForwardValue> forward_values(const Graph& graph, const PassContext& context) { return Collector(graph, context).run(); }

}  // namespace buda::passes
