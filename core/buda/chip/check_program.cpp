// SPDX-License-Identifier: Apache-2.0
// What a feeder on the host does for an op and the movers of a chip do not, yet.
#include <buda/chip/device.hpp>

#include <buda/arith/graph_plan.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/tables/op_layout.hpp>
#include <buda/kernels/text/turned_inputs.hpp>
#include <buda/movers/lower.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <limits>
#include <optional>
#include <set>

namespace buda::chip {
namespace {

using netlist::Netlist;
using netlist::Op;
using netlist::Queue;

std::optional<std::string> missing(const arith::OpPlan& plan) {
  const Op& op = *plan.op;
  if (ops::runs_on_ethernet(op.type)) return "it copies between chips, and movers connect one chip only";
  if (kernels::takes_rows(op)) return "it makes tiles of rows of numbers, which movers do not bring yet";
  if (ops::looks_up_rows(op.type)) return "it looks up rows of a table, which movers do not bring yet";
  if (op.untilize_output && is_integer(op.out_format)) return "its output leaves as rows of integers, which the host does not read yet";
  if (plan.work->tile_dim != TileDim{}) return cat("its tiles have ", plan.work->tile_dim.rows, 'x', plan.work->tile_dim.cols, " numbers");
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (op.inputs[i].maps.transposes() && !kernels::can_turn(op, i))
      return cat("the tiles of input ", i, " are transposed on their way, and its kernel does not turn them");
    if (plan.inputs[i].convert != DataFormat::invalid) return cat("input ", i, " arrives in another format than it takes");
    if (plan.inputs[i].tiles != TileDim{}) return cat("input ", i, " arrives in tiles of another size than it takes");
  }
  return std::nullopt;
}

template <class Node>
Diagnostic refused(const Netlist& netlist, const Node& node, std::string message) {
  Diagnostic d =
      input_error("CP001", node.places.self.line == 0 ? SourceLoc{netlist.file} : netlist.loc(node.places.self), std::move(message));
  d.node = node.name;
  d.hint = "without target.ttsim.chip, the op runs by itself, and the host feeds it";
  return d;
}

}  // namespace

Result<void> check_program(const runtime::Program& program) {
  const Netlist& netlist = program.netlist;
  BUDA_ASSIGN(const arith::Plans plans, arith::plan_graphs(netlist, std::numeric_limits<std::int64_t>::max()));
  Failure failure;
  std::set<std::string> untilized;
  for (const auto& [graph, plan] : plans.graphs)
    for (const arith::OpPlan& op : plan.ops)
      if (op.op->untilize_output) untilized.insert(op.op->name);
  for (const Queue& queue : netlist.queues)
    if (untilized.count(queue.input) != 0 && queue.buffers.size() != 1)
      failure.add(refused(netlist, queue, cat("queue '", queue.name, "' holds rows of numbers in ", queue.buffers.size(), " buffers")));
    else if (queue.layout != netlist::QueueLayout::tilized && untilized.count(queue.input) == 0)
      failure.add(refused(netlist, queue, cat("queue '", queue.name, "' holds rows of numbers, which movers do not bring yet")));
  std::set<std::string> wrong;
  for (const auto& [graph, plan] : plans.graphs)
    for (const arith::OpPlan& op : plan.ops)
      if (const auto why = missing(op)) {
        wrong.insert(op.op->name);
        failure.add(refused(netlist, *op.op, cat("op '", op.op->name, "': ", *why)));
      }
  // An op is refused once.
  for (const runtime::EpochStreams& epoch : program.epochs) {
    auto tables = movers::lower(*epoch.blob, {});
    if (tables) continue;
    for (Diagnostic& d : tables.failure().diagnostics())
      if (wrong.insert(d.node).second) failure.add(std::move(d));
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::chip
