// SPDX-License-Identifier: Apache-2.0
// small-tiles: values of a few rows are kept in tiles of as many.
//
// before                                            after, with 3 samples at a time
//   x = input : F32 [1, 1, 32, 64]                    x = input tile_rows=4
//   y = matmul(x, w, b) : F32 [1, 1, 32, 96]          y = matmul(x, w, b) tile_rows=4
//   z = exp(y)                                        z = exp(y) tile_rows=4
//
// A tile holds 32 rows whether there are data in them or not: a decoder that works on one token, or a classifier on one image, moves and
// computes 31 rows of padding for each of data. How many rows matter is known from the end: an output is read as far as the model's shape
// reaches, and an op that works row by row reads as many rows of its inputs as are read of its result. What mixes rows (the second factor
// of a product, a transpose, a reduction along r, stacks and slices of rows) reads all 32.
//
// Ops that work row by row have one height of tile for their result and inputs, so values that they join form classes, with the largest
// height that one of them needs. A class stays as it is when one of its values has several tiles along r, or one of its ops is none that
// chips do on small tiles: elementwise ops and dense products. (Fused ops are none; so ops with this tag are not fused.) For devices with
// the feature small_tiles.
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/tile_rows.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/layout/node_classes.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::Tm;
using graph::TmDim;
using graph::TmKind;

std::string_view family_of(const Node& n) {
  const ops::OpDef* def = ops::standard_ops().find(graph::Level::device, n.op());
  return def == nullptr ? std::string_view() : def->family;
}

// Whether row i of the result depends on row i of this input alone (and on inputs that are read as a whole). Tilizers make whole tiles.
bool goes_by_rows(const Node& n, std::size_t input) {
  std::string_view family = family_of(n);
  if (family == "eltwise_binary" || family == "eltwise_unary") return n.op() != "tilizer";
  // All rows of the bias and the scales of integers count, which would have to be as small.
  return family == "matmul" && input == 0 && !ops::is_sparse_product(n) && !multiplies_integers(n);
}

bool leaves_rows(const std::vector<Tm>& tms) {
  return std::all_of(tms.begin(), tms.end(), [](const Tm& tm) {
    return tm.kind == TmKind::hslice || tm.kind == TmKind::hstack || (tm.kind == TmKind::broadcast && tm.dim != TmDim::r);
  });
}

class TileChooser {
 public:
  TileChooser(Graph& graph, RewriteCounter& counter)
      : graph_(graph),
        counter_(counter),
        order_(graph.topological_order()),
        read_(graph.id_bound(), 0),
        whole_(graph.id_bound(), 0),
        classes_(graph.id_bound()) {}

  Result<PassReport> run() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) look_at(graph_.node(*it));
    BUDA_ASSIGN(auto loopbacks, graph::loopbacks(graph_));
    for (const graph::Loopback& l : loopbacks) classes_.join(l.input, graph_.node(l.output).inputs()[0].source.node);
    for (const auto& [root, members] : classes_.classes(values_)) shrink(members);
    return report_;
  }

 private:
  void look_at(const Node& n) {
    if (n.kind() == NodeKind::output || n.op() == graph::kToHost) {
      read_by_host(n);
      return;
    }
    if (graph::on_host(n)) return;
    values_.push_back(n.id());
    if (n.outputs.size() != 1 || n.outputs[0].shape.rank() != 4 || n.outputs[0].shape[2] != graph::kTileSide) whole_[n.id().index()] = 1;
    if (!n.is_op() || n.op() == graph::kToDevice) return;
    // An op that does not go by rows of its first input is none for small tiles.
    if (!goes_by_rows(n, 0)) whole_[n.id().index()] = 1;
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      const Edge& edge = n.inputs()[i];
      const std::size_t from = edge.source.node.index();
      if (goes_by_rows(n, i) && leaves_rows(edge.tms)) {
        read_[from] = std::max(read_[from], read_[n.id().index()]);
        classes_.join(n.id(), edge.source.node);
      } else {
        whole_[from] = 1;
        if (goes_by_rows(n, i)) whole_[n.id().index()] = 1;
      }
    }
  }

  void read_by_host(const Node& n) {
    const Edge& edge = n.inputs()[0];
    const Node& source = graph_.node(edge.source.node);
    if (graph::on_host(source)) return;
    auto view = ops::four_axes(ops::border_shapes(n, source.outputs[0].shape).view);
    if (!view || !edge.tms.empty()) {
      whole_[source.id().index()] = 1;
    } else {
      read_[source.id().index()] = std::max(read_[source.id().index()], (*view)[2]);
    }
  }

  void shrink(const std::vector<NodeId>& members) {
    std::int64_t rows = 1;
    bool any_op = false;
    for (NodeId id : members) {
      if (whole_[id.index()] != 0) return;
      rows = std::max(rows, read_[id.index()]);
      any_op = any_op || graph_.node(id).is_op();
    }
    auto height = std::find_if(graph::kSmallTileRows.begin(), graph::kSmallTileRows.end(), [&](std::int64_t h) { return h >= rows; });
    if (height == graph::kSmallTileRows.end() || !any_op || !counter_.allow(kSmallTiles.name, graph_.node(members.front()))) return;
    for (NodeId id : members) {
      std::string& tag = graph_.node(id).tags[graph::kTileRows];
      if (tag == cat(*height)) continue;
      tag = cat(*height);
      ++report_.rewrites;
    }
  }

  Graph& graph_;
  RewriteCounter& counter_;
  std::vector<NodeId> order_, values_;
  std::vector<std::int64_t> read_;  // by id: rows of each tile that somebody reads
  std::vector<char> whole_;         // by id: the value needs whole tiles
  NodeClasses classes_;
  PassReport report_;
};

Result<PassReport> small_tiles(Graph& graph, PassContext& context) {
  if (!context.device->features.small_tiles) return PassReport{};
  return TileChooser(graph, context.rewrites).run();
}

}  // namespace

const Pass kSmallTiles = {.name = "small-tiles",
                          .summary = "keep values of up to 16 rows in tiles of 1, 2, 4, 8 or 16 rows",
                          .level = graph::Level::device,
                          .needs_device = true,
                          .run = small_tiles};

}  // namespace buda::passes
