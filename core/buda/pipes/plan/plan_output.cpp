// SPDX-License-Identifier: Apache-2.0
// Checks what is written into queues, and routes it.
#include <buda/pipes/plan/plan_output.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/over_pcie.hpp>
#include <buda/pipes/plan/not_supported.hpp>
#include <buda/tiling/line_map.hpp>
#include <buda/tiling/tile_layout.hpp>

#include <string>
#include <utility>
#include <variant>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;
using tiling::LineMap;
using tiling::RouteError;
using tiling::TileLayout;

namespace {

Diagnostic output_error(const EpochPlan& plan, const Op& op, const Queue& q, const char* code, const std::string& message) {
  Diagnostic d =
      input_error(code, plan.netlist().loc(q.places.self), cat("queue '", q.name, "', written by op '", op.name, "': ", message));
  d.node = q.name;
  d.data = {{"producer", op.name}};
  return d;
}

// A queue of another chip.
Result<void> check_remote(const EpochPlan& plan, const OpPlan& p, const Queue& q) {
  if (q.target_device == p.chip) return success();
  const Op& op = *p.op;
  if ((!plan.device->eth.empty() && op.untilize_output) || op.gradient_op)
    return not_supported(plan.netlist(), op,
                         cat("writing queue '", q.name, "' of chip ", q.target_device, " from chip ", p.chip,
                             op.gradient_op ? " as a gradient" : " without tiles"),
                         -1, cat("keep the queue on chip ", p.chip, op.gradient_op ? "" : ", or write tiles, with untilize_output: false"));
  return check_ring(plan, op, q, p.chip);
}

Result<void> check_gradient(const EpochPlan& plan, const OpPlan& p, const QueuePlan& queue, const Queue& q) {
  const Op& op = *p.op;
  auto error = [&](const char* message) { return output_error(plan, op, q, "PP016", message); };
  if (!queue.use.prologue || !queue.use.epilogue) return error("the ram of a gradient op needs prologue: true and epilogue: true");
  if (q.kind != netlist::QueueKind::ram) return error("a gradient op accumulates in a queue of type ram");
  if (q.grid != op.grid || !(q.block == op.block)) return error("its blocks differ from those of the gradient op; they must be equal");
  if (p.output_queues.size() != 1) return error("a gradient op has exactly one output queue");
  return success();
}

Result<void> check_untilized(const EpochPlan& plan, const Op& op, const Queue& q, const TileLayout& layout) {
  if (q.shape() != layout.shape())
    return output_error(plan, op, q, "PP017", cat("it holds ", q.shape().text(), ", and the untilized output is ", layout.shape().text()));
  if (!q.input_tms.empty()) return output_error(plan, op, q, "PP017", "an untilized output cannot be manipulated");
  return success();
}

Result<EdgeRoutes> route_tiles(const EpochPlan& plan, const Op& op, const Queue& q, const TileLayout& layout) {
  auto made = LineMap::make(layout.shape(), {std::nullopt, q.input_tms, std::nullopt});
  if (const auto* error = std::get_if<netlist::MapError>(&made))
    return output_error(plan, op, q, "PP020", cat("manipulation ", error->index, ": ", error->reason));
  auto routed = tiling::route_edge(layout, std::get<LineMap>(made), tiling::tile_order_of(q));
  if (const auto* error = std::get_if<RouteError>(&routed)) return output_error(plan, op, q, "PP020", error->reason);
  EdgeRoutes out = std::get<EdgeRoutes>(std::move(routed));
  for (const PipeRoute& pipe : out.pipes) {
    if (pipe.destinations.size() > 1)
      return output_error(plan, op, q, "PP018",
                          "its buffers would be filled in round-robin order; each must be filled by a pipe of its own");
    const auto& runs = pipe.tiles.runs();
    for (const Run& run : runs)
      if (run.core != runs.front().core)
        return output_error(
            plan, op, q, "PP018",
            cat("buffer ", pipe.destinations.front(), " would be filled by several cores of the op; one core must fill each buffer"));
  }
  return out;
}

}  // namespace

Result<EdgeRoutes> route_output(const EpochPlan& plan, const QueuePlan& queue) {
  const Queue& q = plan.netlist().queues[queue.queue];
  const OpPlan& p = plan.ops[queue.writer];
  const Op& op = *p.op;
  BUDA_TRY(check_remote(plan, p, q));
  if (q.format != op.out_format)
    return output_error(plan, op, q, "PP015",
                        cat("it holds ", format_name(q.format), ", and the op's out_df is ", format_name(op.out_format)));
  if (!class_of(op).has_output) return output_error(plan, op, q, "PP016", "a drainer has no output");
  if (op.gradient_op) {
    BUDA_TRY(check_gradient(plan, p, queue, q));
    return EdgeRoutes{};
  }
  if (queue.use.prologue || queue.use.epilogue)
    return output_error(plan, op, q, "PP016", "what an op writes while it runs is neither prologue nor epilogue");
  const TileLayout layout = tiling::layout_of(op, p.graph->input_count);
  if (!op.untilize_output) return route_tiles(plan, op, q, layout);
  BUDA_TRY(check_untilized(plan, op, q, layout));
  return EdgeRoutes{};
}

}  // namespace buda::pipes
