// SPDX-License-Identifier: Apache-2.0
// Writes the device ops that stand for one node of the tensor graph.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/lower/lowered.hpp>
#include <buda/passes/lower/task.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::passes {

// The element type of all values on the device; data formats say what it makes of them.
inline constexpr DType kDeviceType = DType::f32;

// What rules and their steps write to. New nodes have the origins and tags of the node that is lowered; those between are called after it,
// NODE.SUFFIX, the one that has its value has its name (empty suffix).
class OpBuilder {
 public:
  // All three must outlive the builder.
  OpBuilder(const LoweringTask& task, const graph::Node& node, graph::Graph& out) : task_(task), node_(node), out_(out) {}

  const LoweringTask& task() const { return task_; }
  const graph::Node& node() const { return node_; }
  const device::DeviceDescriptor& device() const { return *task_.context.device; }
  bool joins_batch() const { return task_.batch == Batch::joined; }
  // Whether an op may read the padding below the rows of the node's result.
  bool rows_are_read() const { return task_.rows_read[node_.id().index()] != 0; }

  Diagnostic refuse(std::string_view reason, std::string remedy) const {
    return cannot_lower(task_.from, node_, reason, std::move(remedy));
  }
  Result<Shape> axes(const Shape& model) const { return device_axes(task_, node_, model); }

  // A device op; its type is inferred.
  Result<graph::ValueRef> op(std::string_view suffix, std::string type, std::vector<graph::Edge> inputs, graph::AttrMap attrs = {});
  // A tensor that the lowering needs, in the element type of the device, or in its own (numbers of rows).
  Result<Lowered> constant(std::string_view suffix, const Tensor& tensor);
  Result<Lowered> constant_as_is(std::string_view suffix, const Tensor& tensor);
  // The node of a value of the device.
  const graph::Node& made(graph::ValueRef value) const { return out_.node(value.node); }
  void tag(graph::ValueRef value, const char* tag, std::string text) { out_.node(value.node).tags[tag] = std::move(text); }
  // Any node, with exactly this name, without types.
  graph::Node& add(std::string name, std::string_view op, std::vector<graph::Edge> inputs = {});
  // `wanted`, or with a number where a node of either graph has that name.
  std::string free_name(const std::string& wanted) const;

  // Marks on the node of a value for later passes (lowering_tags.hpp): that its padding is far away from its data, if so; that it must be
  // kept and computed in Float32.
  void mark_range(const Lowered& x);
  void mark_exact(const Lowered& x);

 private:
  const LoweringTask& task_;
  const graph::Node& node_;
  graph::Graph& out_;
};

// The range of a tensor's elements.
ValueRange range_of(const Tensor& t);

}  // namespace buda::passes
