// SPDX-License-Identifier: Apache-2.0
// lower-to-device: from tensors of any rank to what a chip holds: 4-D values of whole tiles, netlist ops, manipulations on edges.
//
// before                                            after, at device level
//   x = input : F32 [64, 100]                         x = input : F32 [1, 1, 64, 128]
//   w = parameter : F32 [100, 10]                     w = parameter : F32 [1, 1, 128, 32]
//   b = parameter : F32 [10]                          b = parameter : F32 [1, 1, 32, 32]
//   y = matmul(x, w, b) : F32 [64, 10]                y = matmul(x, w, b {broadcast: {r: 2}}) bias=true : F32 [1, 1, 64, 32]
//   p = relu(y) : F32 [64, 10]                        p = nop(y) relu_en=true … : F32 [1, 1, 64, 32]
//
// Shapes. The last four axes become (w, z, r, c), more than four are merged into w, and r and c are filled up to tiles of 32 with zeros
// (ops/device/device_layout.hpp). The device works through w, the batch, one after the other: where an op lets the elements of a batch meet
// (a mean over samples, a transpose of the first axis, a broadcast along some of five axes), or where inputs have batches of several sizes,
// the whole graph is lowered with w joined to z, which costs gathers where z then must be reordered. Reshapes that only add or remove
// leading ones, and the like, vanish; those of model inputs and outputs are the host's; a transpose of r and c lies on the edge to a user
// that can have it there, and otherwise on the edge to a nop.
//
// Padding. A device op computes on padding as on data, so that padding stays zero only for as long as ops keep it so (0 + b is not, e^0 is
// not). For each value the lowering keeps track of what may stand in its padding (lowered.hpp) and adds a mask before an op that would mix
// other than harmless padding into data: products along k, maxima, sums.
//
// Broadcasts. Along z, r and c whole tiles are repeated on the edge. An axis of size 1 that must fill its tile too is copied through it:
// by the host where the value is known, by a product with a constant tile where it is not. Sums come out copied anyway (rules/reduce.cpp).
//
// What depends on parameters and constants alone is computed now, whatever the op; so a graph is lowered also where no other pass ran.
//
// Ops for the host (cpu-fallback) stay as they are; host_part.hpp shows how the two parts are joined.
#include <buda/passes/host/host_part.hpp>
#include <buda/passes/lower/lower_graph.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <optional>
#include <utility>

namespace buda::passes {
namespace {

// Said once, since every value of the model may be concerned.
void report_f64(const graph::Graph& graph, PassContext& context) {
  std::size_t count = 0;
  std::string first;
  for (graph::NodeId id : graph.topological_order()) {
    const graph::Node& n = graph.node(id);
    if (n.is_op() || n.outputs.empty() || n.outputs[0].dtype != DType::f64) continue;
    if (++count == 1) first = n.name();
  }
  if (count == 0) return;
  context.host.report(note("PA038", {},
                           cat("the model has ", count, count == 1 ? " tensor" : " tensors", " of F64 ('", first,
                               count == 1 ? "'" : "', ...", "); on the device they are rounded to F32, with which it computes")));
}

using Trial = std::optional<graph::Graph>;  // of the device's part

Result<graph::Graph> lowered_before_or_now(const graph::Graph& graph, PassContext& context, Trial trial) {
  report_f64(graph, context);
  if (trial) return std::move(*trial);
  return lower(graph, context);
}

Result<graph::Graph> lowered_in_part(const graph::Graph& graph, PassContext& context, Trial trial) {
  HostPart part(graph);
  const bool idle = part.device_is_idle();
  graph::Graph device = part.take_device();
  if (idle) {
    device.level = graph::Level::device;
    return part.join(std::move(device));
  }
  BUDA_ASSIGN(graph::Graph lowered, lowered_before_or_now(device, context, std::move(trial)));
  return part.join(std::move(lowered));
}

Result<PassReport> lower_to_device(graph::Graph& graph, PassContext& context, Trial trial) {
  PassReport report{graph.size()};
  BUDA_ASSIGN(graph::Graph lowered, wants_host(graph) ? lowered_in_part(graph, context, std::move(trial))
                                                      : lowered_before_or_now(graph, context, std::move(trial)));
  graph::erase_dead_nodes(lowered);
  // What is wrong with it now, the lowering made wrong.
  if (auto sound = ops::check(lowered, *context.ops); !sound) {
    Failure failure;
    for (Diagnostic d : sound.failure().diagnostics()) {
      d.fault = Fault::bug;
      d.message = cat("the lowered graph is not sound: ", d.message);
      failure.add(std::move(d));
    }
    return failure;
  }
  graph = std::move(lowered);
  return report;
}

Result<PassReport> lower_untried(graph::Graph& graph, PassContext& context) { return lower_to_device(graph, context, std::nullopt); }
Result<PassReport> lower_tried(graph::Graph& graph, PassContext& context, graph::Graph lowered) {
  return lower_to_device(graph, context, std::move(lowered));
}

}  // namespace

const Pass kLowerToDevice = {.name = "lower-to-device",
                             .summary = "lower the graph to netlist ops on padded tiles, with broadcasts and transposes on edges",
                             .level = graph::Level::tensor,
                             .needs_device = true,
                             .run = lower_untried,
                             .run_on_trial = lower_tried};

}  // namespace buda::passes
