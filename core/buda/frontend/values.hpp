// SPDX-License-Identifier: Apache-2.0
// The values of a model by name: computed by a node, pushed by the user, or known while importing.
#pragma once

#include <buda/base/boxed.hpp>
#include <buda/frontend/known_values.hpp>
#include <buda/frontend/narrow_type.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/tensor/fwd.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

// A name that a graph can bear: names of ours are UTF-8, which readers of models do not always guarantee.
std::string graph_name(const std::string& model_name);

enum class Role { weight, constant };

// A value: one of the graph, or a tensor, or a sequence of values (which lives while importing, and is not a value of the graph), or (when the
// node that was to compute it could not be imported) none of them. Subgraphs and functions know a value by names of their own, so names
// share it.
struct ModelValue {
  std::string name;  // under which it was defined first
  graph::ValueRef ref;
  Boxed<Tensor> tensor;
  Role role = Role::constant;
  std::string origin;
  std::shared_ptr<const std::vector<std::shared_ptr<ModelValue>>> sequence = {};
  const NarrowType* narrow = nullptr;  // the element type that the model gives it, where that is narrower than the one it has here
};
using Operand = std::shared_ptr<ModelValue>;

Operand computed_value(std::string name, graph::ValueRef ref);
Operand known_value(std::string name, Tensor tensor, Role role, std::string origin);
Operand sequence_value(std::string name, std::vector<Operand> elements);

// Where values become nodes: the graph being built and what is known of it. One for all scopes.
struct ValueStore {
  explicit ValueStore(graph::Graph& g, std::string model_file);

  // The value as one of the graph; a known tensor becomes a parameter or constant node now: the shape of a Reshape or the axes of a Squeeze
  // never do and so leave no trace. Invalid for a failed value.
  graph::ValueRef ref(const Operand& value);
  // The tensor, if it does not depend on the model's inputs.
  const Tensor* tensor(const Operand& value);

  graph::Graph* graph;
  std::string file;
  KnownValues known;
};

// The names of one graph, subgraph or function body. A subgraph sees those of the graph around it.
class Values {
 public:
  explicit Values(ValueStore& store, const Values* outer = nullptr) : store_(&store), outer_(outer) {}

  void define(const std::string& name, Operand value) { values_[name] = std::move(value); }
  void define(const std::string& name, graph::ValueRef computed) { define(name, computed_value(name, computed)); }
  void define(const std::string& name, Tensor tensor, Role role, std::string origin);
  // The node that was to compute it could not be imported.
  void define_failed(const std::string& name) { define(name, graph::ValueRef()); }

  bool defined_here(const std::string& name) const { return values_.find(name) != values_.end(); }
  // Null for a name that is not known here or outside.
  Operand find(const std::string& name) const;
  ValueStore& store() const { return *store_; }

 private:
  ValueStore* store_;
  const Values* outer_;
  std::map<std::string, Operand> values_;
};

// Neither a value of the graph nor a tensor nor a sequence.
bool failed(const Operand& value);

}  // namespace buda::frontend

#pragma GCC visibility pop
