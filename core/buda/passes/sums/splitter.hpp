// SPDX-License-Identifier: Apache-2.0
// What the rewriting of one sum makes: ops, constants, and edges to parts of values.
#pragma once

#include <buda/passes/pipeline/graph_names.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/values/tile_count.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::passes {

inline constexpr std::int64_t kSide = graph::kTileSide;

// Rewrites one product.
class Splitter {
 public:
  Splitter(Graph& graph, NodeId id) : graph_(graph), editor_(graph, id), id_(id) {}

  // An op of the parts, of the type that follows from its inputs.
  NodeId op(std::string_view suffix, const std::string& type, std::vector<Edge> inputs, graph::AttrMap attrs, Shape shape) {
    return editor_.add(suffix, type, std::move(inputs), {ValueType{graph_.node(id_).outputs[0].dtype, std::move(shape), std::nullopt}},
                       std::move(attrs));
  }
  Edge constant(std::string_view suffix, Shape shape, std::vector<float> numbers) {
    return constant(suffix, Tensor(std::move(shape), std::move(numbers)));
  }
  // Of a matrix.
  Edge constant(std::string_view suffix, Tensor tensor) {
    const NodeId made = editor_.add_constant(suffix, std::move(tensor));
    Shape& shape = graph_.node(made).outputs[0].shape;
    if (shape.rank() == 2) shape = {1, 1, graph::tiled_side(shape[0]), graph::tiled_side(shape[1])};
    return Edge(made);
  }
  Shape shape(const Edge& edge) const { return graph_.type(edge)->shape; }
  void replace_by(NodeId last) { editor_.replace(id_, last); }

 private:
  Graph& graph_;
  GraphEditor editor_;
  NodeId id_;
};

// The edge with whole tiles of zeros at the end of c (r). Nothing may follow a pad on an edge, so a copy takes it over.
Edge filled_up(Splitter& s, Edge edge, bool along_c, std::int64_t more);
// The same in so many slices.
Edge sliced(Splitter& s, Edge edge, bool along_c, std::int64_t tiles, std::int64_t parts);
// Parts of at most so many tiles: where that needs no tiles of zeros a few more parts than the fewest.
std::int64_t parts_of(std::int64_t tiles, std::int64_t most);
Edge repeated(Edge edge, TmDim dim, std::int64_t n);
std::vector<float> unit_matrix(std::int64_t side);

}  // namespace buda::passes
