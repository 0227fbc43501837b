// SPDX-License-Identifier: Apache-2.0
// How the nodes of a graph and their results are referred to.
#pragma once

#include <buda/base/strong_id.hpp>

#include <compare>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::graph {

using NodeId = StrongId<struct NodeTag>;

// One result of a node. Nearly all ops have a single one, port 0.
struct ValueRef {
  NodeId node;
  std::uint32_t port = 0;

  ValueRef() = default;
  ValueRef(NodeId n, std::uint32_t p = 0) : node(n), port(p) {}  // NOLINT: a node stands for its first result
  bool valid() const { return node.valid(); }
  friend auto operator<=>(const ValueRef&, const ValueRef&) = default;
};

// A place where a value is used: input number `input` of `node`.
struct Use {
  NodeId node;
  std::uint32_t input = 0;
  friend auto operator<=>(const Use&, const Use&) = default;
};

}  // namespace buda::graph

#pragma GCC visibility pop
