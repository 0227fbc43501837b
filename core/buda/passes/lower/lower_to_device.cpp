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
// the whole graph is lowered with w joined to z, which costs pickers where z then must be reordered. Reshapes that only add or remove
// leading ones, and the like, vanish; those of model inputs and outputs are the host's; a transpose of r and c lies on the edge to a user
// that can have it there, and otherwise on the edge to a nop.
//
// Padding. A device op computes on padding as on data, so that padding stays zero only for as long as ops keep it so (0 + b is not, e^0 is
// not). For each value the lowering keeps track of what may stand in its padding (lowered.hpp) and adds a mask before an op that would mix
// other than harmless padding into data: products along k, maxima, sums.
//
// Broadcasts. Along z, r and c whole tiles are repeated on the edge. An axis of size 1 that must fill its tile too is copied through it:
// by the host where the value is known, by a product with a constant tile where it is not. Sums come out copied anyway (lower_reduce.cpp).
//
// What depends on parameters and constants alone is computed now, whatever the op; so a graph is lowered also where no other pass ran.
//
// Ops for the host (cpu-fallback) stay as they are; host_part.hpp shows how the two sides are joined.
#include <buda/passes/host/host_part.hpp>
#include <buda/passes/lower/lowering_rules.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/whole_graph/infer.hpp>

#include <map>

namespace buda::passes {
namespace {

// Whether some value has more than one matrix of slices.
bool has_batch(const graph::Graph& graph) {
  for (graph::NodeId id : graph.topological_order())
    for (const graph::ValueType& type : graph.node(id).outputs)
      if (auto four = ops::four_axes(type.shape); four && (*four)[0] != 1) return true;
  return false;
}

// Whether all values that the device works through have one batch, and known ones none: each step takes an entry of every input.
bool has_even_batch(const graph::Graph& lowered) {
  std::int64_t batch = 0;
  for (graph::NodeId id : lowered.ids()) {
    const graph::Node& n = lowered.node(id);
    if (n.outputs.empty() || lowered.use_count(id) == 0) continue;
    std::int64_t w = n.outputs[0].shape[0];
    if (n.has_value() ? w != 1 : batch != 0 && w != batch) return false;
    if (!n.has_value()) batch = w;
  }
  return true;
}

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

Result<graph::Graph> lowered_before_or_now(const graph::Graph& graph, PassContext& context) {
  report_f64(graph, context);
  if (!context.lowered_on_trial) return lower(graph, context);
  graph::Graph lowered = std::move(*context.lowered_on_trial);
  context.lowered_on_trial.reset();
  return lowered;
}

Result<graph::Graph> lowered_in_part(const graph::Graph& graph, PassContext& context) {
  HostPart part(graph);
  const bool idle = part.device_is_idle();
  graph::Graph device = part.take_device();
  if (idle) {
    device.level = graph::Level::device;
    return part.join(std::move(device));
  }
  BUDA_ASSIGN(graph::Graph lowered, lowered_before_or_now(device, context));
  return part.join(std::move(lowered));
}

Result<PassReport> lower_to_device(graph::Graph& graph, PassContext& context) {
  PassReport report{graph.size()};
  BUDA_ASSIGN(graph::Graph lowered, wants_host(graph) ? lowered_in_part(graph, context) : lowered_before_or_now(graph, context));
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

}  // namespace

namespace {

// A graph that was lowered with the batch apart, or with it joined where that is better.
graph::Graph with_even_batch(graph::Graph apart, const graph::Graph& graph, PassContext& context) {
  graph::erase_dead_nodes(apart);
  if (has_even_batch(apart)) return apart;
  auto joined = Lowering(graph, context, Batch::joined).run();
  return joined ? std::move(*joined) : std::move(apart);
}

}  // namespace

Result<graph::Graph> lower(const graph::Graph& graph, PassContext& context) {
  auto apart = Lowering(graph, context, Batch::apart).run();
  if (apart) return with_even_batch(std::move(*apart), graph, context);
  if (has_batch(graph)) return Lowering(graph, context, Batch::joined).run();
  return apart;
}

Trial lower_on_trial(const graph::Graph& graph, PassContext& context) {
  Lowering apart(graph, context, Batch::apart);
  Trial trial{apart.probe(), {}};
  if (trial.refused.empty()) {
    trial.lowered = with_even_batch(apart.take(), graph, context);
  } else if (has_batch(graph)) {
    Lowering joined(graph, context, Batch::joined);
    auto refused = joined.probe();
    if (refused.size() < trial.refused.size()) trial.refused = std::move(refused);
    if (trial.refused.empty()) trial.lowered = joined.take();
  }
  return trial;
}

const LoweringRule* find_lowering_rule(std::string_view op) {
  static const auto* by_op = [] {
    auto* map = new std::map<std::string_view, const LoweringRule*>;
    for (const auto* rules : {&eltwise_rules(), &matmul_rules(), &reduce_rules(), &movement_rules(), &selection_rules(), &sparse_rules()})
      for (const LoweringRule& rule : *rules) map->emplace(rule.op, &rule);
    return map;
  }();
  auto it = by_op->find(op);
  return it == by_op->end() ? nullptr : it->second;
}

const Pass kLowerToDevice = {.name = "lower-to-device",
                             .summary = "turn the graph into netlist ops on padded tiles, with broadcasts and transposes on edges",
                             .level = graph::Level::tensor,
                             .needs_device = true,
                             .run = lower_to_device};

}  // namespace buda::passes
