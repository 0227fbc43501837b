// SPDX-License-Identifier: Apache-2.0
// tilize-on-device: the model's inputs are cut into tiles by an op of the device instead of by the host.
//
// before                                          after
//   x = input : F32 [1, 1, 64, 128]                 x = input : F32 [1, 1, 64, 128]         rows as they are, in a flat queue
//   y = matmul(x, w)                                x.tilizer = tilizer(x)
//                                                   y = matmul(x.tilizer, w)
//
// An input that is an output of the step before stays: it is in tiles already. All users of an input read from one tilizer; what they want
// done on their edges stays there, since a tilizer does nothing but tiles. Does something only with --enable-device-tilize.
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::NodeId;

constexpr const char* kTilizer = "tilizer";

// What comes from the host while the model runs.
bool comes_from_host(const Graph& graph, const graph::Node& n) {
  const bool is_input = n.kind() == graph::NodeKind::input && !graph::on_host(graph, n) && !n.tags.contains(graph::kLoopback);
  // Indices of rows are read as they are, not in tiles.
  return (is_input || n.op() == graph::kToDevice) && is_float(n.outputs[0].dtype);
}

Result<PassReport> tilize_on_device(Graph& graph, PassContext& context) {
  PassReport report;
  if (!context.device_tilizes) return report;
  for (NodeId id : graph.ids()) {
    if (!comes_from_host(graph, graph.node(id))) continue;
    std::vector<graph::Use> uses = graph.users(id);
    std::erase_if(uses, [&](const graph::Use& use) { return graph.node(use.node).op() == kTilizer; });
    if (uses.empty()) continue;
    NodeId tilizer = graph.add(graph.fresh_name(cat(graph.node(id).name(), '.', kTilizer)), kTilizer, {id});
    graph::Node& made = graph.node(tilizer);
    made.outputs = {graph.node(id).outputs[0]};
    made.origins = graph.node(id).origins;
    made.loc = graph.node(id).loc;
    for (const graph::Use& use : uses) {
      graph::Edge edge = graph.node(use.node).inputs()[use.input];
      edge.source = tilizer;
      graph.set_input(use.node, use.input, std::move(edge));
    }
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kTilizeOnDevice = {.name = "tilize-on-device",
                              .summary = "convert the model's inputs to tiles on the device",
                              .level = graph::Level::device,
                              .run = tilize_on_device};

}  // namespace buda::passes
