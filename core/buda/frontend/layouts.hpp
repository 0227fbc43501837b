// SPDX-License-Identifier: Apache-2.0
// The two orders of an image's axes: formats of TensorFlow have channels last, our convolutions have them first.
//
// A convolution's result exists in both orders: [samples, channels, rows, columns] as it is computed, and behind a transpose as the file
// has it. What works on images, or on every element alone, takes the first; everything else the second. Transposes that nobody uses are
// erased.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

class Layouts {
 public:
  using Ref = graph::ValueRef;

  // The value with channels first, if it was computed so.
  std::optional<Ref> channels_first(Ref value) const;
  // The value with channels first; `b` names the transpose if one is needed.
  Ref channels_first(ops::Builder& b, Ref value);
  // The value as the file has it.
  Ref channels_last(ops::Builder& b, Ref value);

  void erase_unused(graph::Graph& graph) const;

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  static Key key(Ref value) { return {value.node.index(), value.port}; }

  std::map<Key, Ref> first_;  // by the value with channels last
  std::vector<graph::NodeId> transposes_;
};

}  // namespace buda::frontend

#pragma GCC visibility pop
