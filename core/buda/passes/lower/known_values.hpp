// SPDX-License-Identifier: Apache-2.0
// Values whose contents are known when a graph is lowered: parameters, constants, and what ops make of these.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node.hpp>
#include <buda/graph/values/value_table.hpp>
#include <buda/passes/lower/task.hpp>

#include <deque>

namespace buda::passes {

struct KnownValue {
  const graph::Value* value = nullptr;
  graph::NodeKind kind = graph::NodeKind::constant;  // parameter, where a parameter is among what it is computed from
  graph::NodeId from;                                // the node that it is, or the op that gave it
};

class KnownValues {
 public:
  explicit KnownValues(const graph::Graph& graph);
  KnownValues(KnownValues&&) noexcept;
  ~KnownValues();

  // Null where a value is known only when the model runs.
  const KnownValue* find(graph::ValueRef value) const { return table_.find(value); }
  bool contains(graph::ValueRef value) const { return table_.contains(value); }
  // Whether all inputs of a node are known.
  bool has_inputs_of(const graph::Node& n) const;

  // A parameter or constant of the graph, which must outlive this.
  void add(const graph::Node& source);
  // The results of an op whose inputs are known: evaluates it.
  Result<void> fold(const graph::Node& n, const PassContext& context);

 private:
  graph::ValueTable<KnownValue> table_;
  std::deque<graph::Value> folded_;
};

}  // namespace buda::passes
