// SPDX-License-Identifier: Apache-2.0
// infer-types: gives a type to every value that has none.
//
// before                                        after
//   x = input : F32 [1, 64]                       x = input : F32 [1, 64]
//   w = parameter : F32 [64, 10]                  w = parameter : F32 [64, 10]
//   y = matmul(x, w)                              y = matmul(x, w) : F32 [1, 10]
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/infer.hpp>

namespace buda::passes {
namespace {

Result<PassReport> infer_types(graph::Graph& graph, PassContext& context) {
  PassReport report;
  for (graph::NodeId id : graph.ids())
    if (graph.node(id).outputs.empty() && graph.node(id).kind() != graph::NodeKind::output) ++report.rewrites;
  if (report.changed()) BUDA_TRY(ops::infer_types(graph, *context.ops));
  return report;
}

}  // namespace

const Pass kInferTypes = {.name = "infer-types", .summary = "infer the types of all values", .level = std::nullopt, .run = infer_types};

}  // namespace buda::passes
