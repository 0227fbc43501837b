// SPDX-License-Identifier: Apache-2.0
// Routes an input, and sizes its buffer.
#include <buda/pipes/plan/plan_input.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/plan/not_supported.hpp>
#include <buda/pipes/plan/prologue.hpp>
#include <buda/pipes/plan/source_rules.hpp>
#include <buda/tiling/line_map.hpp>
#include <buda/tiling/tile_layout.hpp>

#include <string>
#include <utility>
#include <variant>

namespace buda::pipes {

using netlist::Field;
using netlist::Op;
using tiling::LineMap;
using tiling::OrderError;
using tiling::RouteError;
using tiling::TileLayout;

namespace {

Diagnostic edge_error(const EpochPlan& plan, const Op& op, std::size_t input, const RouteError& error) {
  SourceLoc loc = plan.netlist().loc(op.places.of(Field::tms, static_cast<int>(input)));
  std::string message = cat("op '", op.name, "', input ", input, " from '", op.inputs[input].name, "': ", error.reason);
  Diagnostic d = input_error("PP020", std::move(loc), std::move(message));
  if (error.too_large) d.fault = Fault::fit;
  d.node = op.name;
  d.data = {{"producer", op.inputs[input].name}, {"input", cat(input)}};
  return d;
}

Diagnostic order_error(const EpochPlan& plan, const Op& op, std::size_t input, const OrderError& error) {
  if (error.kind == OrderError::Kind::unsupported) return not_supported(plan.netlist(), op, error.reason, static_cast<int>(input));
  const bool unread = error.kind == OrderError::Kind::unread;
  Diagnostic d =
      input_error(unread ? "PP002" : "PP003", plan.netlist().loc(op.places.of(unread ? Field::inputs : Field::attributes)),
                  unread ? cat("op '", op.name, "': ", error.reason) : cat("op '", op.name, "', input ", input, ": ", error.reason));
  d.node = op.name;
  if (!unread) d.hint = "attributes m_k and u_kt give the inner dimension in blocks and tiles; both must be at least 1";
  return d;
}

// The manipulations of an edge, from the tiles of its source on.
Result<LineMap> map_of(const EpochPlan& plan, const Op& op, std::size_t input, const TileLayout& source) {
  const auto& maps = op.inputs[input].maps;
  auto made = LineMap::make(source.shape(), maps);
  if (const auto* error = std::get_if<netlist::MapError>(&made)) {
    auto count = static_cast<int>(maps.tms.size());
    std::string which = error->index < 0 ? "unpad"
                        : error->index >= count
                            ? "pad"
                            : cat("manipulation ", error->index, " (", maps.tms[static_cast<std::size_t>(error->index)].text(), ")");
    return edge_error(plan, op, input, {cat(which, ": ", error->reason)});
  }
  return std::get<LineMap>(std::move(made));
}

double pad_value_of(const netlist::EdgeMaps& maps) {
  double out = 0;
  for (const auto& tm : maps.tms)
    if (tm.kind == netlist::TmKind::pad) out = tm.pad_value;
  return maps.pad ? maps.pad->value : out;
}

Result<InputPlan> plan_rows(const EpochPlan& plan, const OpPlan& p, std::size_t i, InputPlan input) {
  const Op& op = *p.op;
  const netlist::Queue& q = plan.netlist().queues[input.source.queue];
  const TileLayout layout = tiling::layout_of(q);
  auto cut = tiling::cut_rows(layout, q.tile_dim, op);
  if (const auto* reason = std::get_if<std::string>(&cut)) return edge_error(plan, op, i, {*reason});
  input.rows = std::get<RowCut>(cut);
  if (const auto& other = plan.queue_plan(input.source.queue).rows; other && !(*other == *input.rows))
    return edge_error(plan, op, i, {"another op takes the rows of this queue in a different order"});
  input.order.grid = op.grid;
  input.routes = tiling::route_rows(*input.rows, layout, op.grid);
  input.sizes = tiling::input_buffer(context_of(plan, p), i, *input.rows, q.tile_dim);
  return input;
}

Result<InputPlan> plan_tiles(const EpochPlan& plan, const OpPlan& p, std::size_t i, InputPlan input) {
  const Op& op = *p.op;
  TileLayout layout;
  TileDim dim;
  if (input.source.is_queue()) {
    const netlist::Queue& q = plan.netlist().queues[input.source.queue];
    layout = tiling::layout_of(q);
    dim = q.tile_dim;
    input.prologue = plan.queue_plan(input.source.queue).use.prologue;
  } else {
    const Op& producer = *plan.ops[input.source.op].op;
    layout = tiling::layout_of(producer, p.graph->input_count);
    dim = producer.tile_dim;
  }
  BUDA_ASSIGN(const LineMap map, map_of(plan, op, i, layout));
  const tiling::OpContext context = context_of(plan, p);
  auto order = tiling::tile_order_of(op, context.fused, i, map.shape());
  if (const auto* error = std::get_if<OrderError>(&order)) return order_error(plan, op, i, *error);
  input.order = std::get<TileOrder>(order);
  BUDA_ASSIGN(input.multicast, multicast_of(plan.netlist(), op, i, input.order.axis));
  auto routed = tiling::route_edge(layout, map, input.order);
  if (const auto* error = std::get_if<RouteError>(&routed)) return edge_error(plan, op, i, *error);
  input.routes = std::get<EdgeRoutes>(std::move(routed));
  input.pad_value = pad_value_of(op.inputs[i].maps);
  input.sizes = tiling::input_buffer(context, i, input.order, dim, layout.block.tiles());
  if (is_index_list(op, i) && input.source.is_queue())
    input.sizes.tile_bytes = stored_tile_bytes(*plan.index, plan.netlist().queues[input.source.queue], plan.device->tile_alignment);
  return with_prologue(plan, op, i, std::move(input));
}

}  // namespace

Result<InputPlan> plan_input(const EpochPlan& plan, const OpPlan& p, std::size_t i) {
  BUDA_TRY(check_source(plan, p, i));
  InputPlan input;
  input.source = p.inputs[i].source;
  input.from_chip = source_chip(plan, input.source, p.chip);
  if (!tiling::takes_rows(*p.op, i)) return plan_tiles(plan, p, i, std::move(input));
  BUDA_ASSIGN(input.multicast, multicast_of(plan.netlist(), *p.op, i, input.order.axis));
  return plan_rows(plan, p, i, std::move(input));
}

}  // namespace buda::pipes
