// SPDX-License-Identifier: Apache-2.0
// fuse-relu: a ReLU is done by the packer of the op before it.
//
// before                                            after
//   y = matmul(x, w) : F32 [1, 1, 64, 32]             r = matmul(x, w) relu_en=true relu_mode="min" relu_threshold=0
//   r = nop(y) relu_en=true relu_mode="min" …
//
// The op before must have no other user, no ReLU of its own, and nothing may happen on the edge between. It takes the ReLU's name, since it
// now gives that value.
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/graph/tags/placement.hpp>
#include <buda/passes/fuse/fusing.hpp>

#include <algorithm>
#include <array>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

bool fuses_relu(const Node& n) {
  auto it = n.attrs.find("relu_en");
  return it != n.attrs.end() && it->second == graph::Attr(true);
}

// Ops that pack what they computed; those that only gather tiles, give indices, or take values from the host are left alone.
bool packs_results(const std::string& op) {
  static constexpr std::array kOthers = {std::string_view("reduce"),
                                         std::string_view("splice"),
                                         std::string_view("embedding"),
                                         std::string_view("tilizer"),
                                         std::string_view("topk"),
                                         std::string_view("ethernet_datacopy"),
                                         graph::kToDevice};
  return std::find(kOthers.begin(), kOthers.end(), op) == kOthers.end();
}

Result<PassReport> fuse_relu(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : graph.topological_order()) {
    if (!graph.contains(id)) continue;
    const Node& relu = graph.node(id);
    if ((relu.op() != "nop" && relu.op() != "datacopy") || !fuses_relu(relu) || !relu.inputs()[0].tms.empty() || !may_fuse(relu)) continue;
    NodeId before_id = relu.inputs()[0].source.node;
    Node& before = graph.node(before_id);
    if (!before.is_op() || !packs_results(before.op()) || fuses_relu(before) || !only_feeds(graph, before, relu) || !may_fuse(before))
      continue;
    if (!context.rewrites.allow(kFuseRelu.name, relu)) continue;
    for (const auto& [name, value] : relu.attrs)
      if (name.starts_with("relu_")) before.attrs.insert_or_assign(name, value);
    before.outputs = relu.outputs;
    take_over_marks(graph, before_id, id);
    std::string name = relu.name();
    graph.replace_uses(id, before_id);
    graph.erase(id);
    graph.rename(before_id, std::move(name));
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kFuseRelu = {
    .name = "fuse-relu", .summary = "execute a ReLU in the packer of the preceding op", .level = graph::Level::device, .run = fuse_relu};

}  // namespace buda::passes
