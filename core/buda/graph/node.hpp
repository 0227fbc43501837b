// SPDX-License-Identifier: Apache-2.0
// Nodes of the graph, the edges between them, and where they came from.
#pragma once

#include <buda/base/boxed.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/graph/attribute.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/graph/tm.hpp>
#include <buda/graph/value_type.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

// An input of a node: a value, and what happens to it on the way (from left to right; device level only).
struct Edge {
  ValueRef source;
  std::vector<Tm> tms;

  Edge() = default;
  Edge(ValueRef s, std::vector<Tm> t = {}) : source(s), tms(std::move(t)) {}  // NOLINT: a value is an edge without manipulations
  Edge(NodeId n) : source(n) {}                                               // NOLINT
  friend bool operator==(const Edge&, const Edge&) = default;
};

// A node of the user's model that a node stems from. `file` is a name without folders, so that products do not depend on where files are.
struct Origin {
  std::string file;
  std::string node;
  friend auto operator<=>(const Origin&, const Origin&) = default;
};

// input: what the user pushes; parameter: a weight; constant: a value of the model's code; output: what the user pops. Everything else is
// an op. The four names are ops without a definition.
enum class NodeKind : std::uint8_t { input, parameter, constant, output, op };

inline constexpr std::string_view kInputOp = "input";
inline constexpr std::string_view kParameterOp = "parameter";
inline constexpr std::string_view kConstantOp = "constant";
inline constexpr std::string_view kOutputOp = "output";

NodeKind kind_of_op(std::string_view op);

// What the graph has an index of (name, op, inputs) is changed through Graph; the rest is open.
class Node {
 public:
  // Out of line, since most who walk a graph do not look into values (value.hpp).
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  NodeId id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& op() const { return op_; }
  NodeKind kind() const { return kind_; }
  bool is_op() const { return kind_ == NodeKind::op; }
  // Parameters and constants: they have a value.
  bool has_value() const { return kind_ == NodeKind::parameter || kind_ == NodeKind::constant; }
  const std::vector<Edge>& inputs() const { return inputs_; }

 private:
  // What nearly every walk over a graph reads comes first, on neighbouring lines of the cache.
  friend class Graph;
  NodeId id_;
  NodeKind kind_ = NodeKind::op;
  std::string op_;
  std::vector<Edge> inputs_;
  std::vector<Use> uses_;  // of any port, in no order

 public:
  std::vector<ValueType> outputs;  // types of the results, one per port; none for an output
  AttrMap attrs;
  Precision precision;

 private:
  std::string name_;
  std::vector<std::uint32_t> use_slots_;  // for each input: where its Use stands among those of the producer

 public:
  std::vector<Origin> origins;              // in order, without repetitions
  std::map<std::string, std::string> tags;  // marks for passes and for the user's rules
  Boxed<Value> value;                       // of a parameter or constant; of an input: its first value, where it is a state
  SourceLoc loc;                            // in the file from which this graph was read
};

}  // namespace buda::graph

#pragma GCC visibility pop
