// The values of an ONNX graph by name: computed by a node, pushed by the user, or known while importing.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/builder.hpp>
#include <buda/tensor/tensor.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace buda::onnx_frontend {

// A name that a graph can bear: names of ours are UTF-8, and protobuf does not see to that.
std::string graph_name(const std::string& onnx_name);

// A tensor that is known while importing becomes a node of the graph only when something uses it as data: the shape of a Reshape or the
// axes of a Squeeze leave no trace.
class Values {
 public:
  Values(graph::Graph& graph, std::string file) : graph_(&graph), file_(std::move(file)) {}

  enum class Role { weight, constant };

  void define(const std::string& name, graph::ValueRef computed);
  void define(const std::string& name, Tensor tensor, Role role, std::string origin);
  // `name` is another name of the value `of`, which must be defined.
  void alias(const std::string& name, const std::string& of);
  // The node that was to compute it could not be imported.
  void define_failed(const std::string& name);

  bool defined(const std::string& name) const { return values_.find(name) != values_.end(); }
  bool failed(const std::string& name) const;

  // The tensor, if it is known.
  const Tensor* tensor(const std::string& name) const;
  // The value as one of the graph; a known tensor becomes a parameter or constant node. Invalid for failed and undefined values.
  graph::ValueRef ref(const std::string& name);

 private:
  struct Value {
    std::string name;  // under which it was defined first
    graph::ValueRef ref;
    std::optional<Tensor> tensor;
    Role role = Role::constant;
    std::string origin;
  };

  graph::Graph* graph_;
  std::string file_;
  std::map<std::string, std::shared_ptr<Value>> values_;
};

}  // namespace buda::onnx_frontend
