// SPDX-License-Identifier: Apache-2.0
// Copying, moving and destroying a node, which need its value.
#include <buda/graph/node.hpp>

#include <buda/graph/values/value.hpp>

namespace buda::graph {

NodeKind kind_of_op(std::string_view op) {
  if (op == kInputOp) return NodeKind::input;
  if (op == kParameterOp) return NodeKind::parameter;
  if (op == kConstantOp) return NodeKind::constant;
  if (op == kOutputOp) return NodeKind::output;
  return NodeKind::op;
}

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

}  // namespace buda::graph
