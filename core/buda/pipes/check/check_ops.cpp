// SPDX-License-Identifier: Apache-2.0
// Goes through the operands of an op.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/check/check_ops.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/pipes/check/check_queues.hpp>
#include <buda/pipes/check/check_rows.hpp>
#include <buda/pipes/check/compare.hpp>
#include <buda/pipes/check/expected.hpp>
#include <buda/tiling/tile_order.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

namespace {

// Bytes of a tile as it arrives. Numbers of rows may lie in a flat queue, without headers.
std::int32_t arriving_tile_bytes(const CheckedEpoch& epoch, const netlist::OpInput& in, const Queue* queue) {
  const TileDim dim = queue != nullptr ? queue->tile_dim : epoch.index.op(in.name).op->tile_dim;
  return queue != nullptr && queue->layout == netlist::QueueLayout::flat ? tile_datum_bytes(in.format, dim)
                                                                         : tile_bytes(in.format, dim, epoch.device.tile_alignment);
}

void check_input(const Checked& checked, const Op& op, const netlist::Graph& graph, std::size_t input, Findings& findings) {
  const CheckedEpoch& epoch = checked.epoch;
  const auto& in = op.inputs[input];
  const std::size_t q = epoch.index.queue(in.name);
  const Queue* queue = q == NetlistIndex::kNone ? nullptr : &epoch.netlist().queues[q];
  const Op* producer = queue == nullptr ? epoch.index.op(in.name).op : nullptr;
  if (queue == nullptr && producer == nullptr) return;  // diagnosed when the epoch was planned
  const bool lists_rows = ops::is_row_number(op.type, input);
  if (queue != nullptr && queue->layout == netlist::QueueLayout::flat && !lists_rows)
    return check_rows(checked, op, graph, *queue, findings);
  const std::int32_t bytes = arriving_tile_bytes(epoch, in, queue);
  for (std::int64_t core = 0; core < op.grid.volume(); ++core) {
    const std::string what = cat("op '", op.name, "', input ", input, ", core [", core / op.grid.cols, ", ", core % op.grid.cols, "]");
    const Buffer* target = checked.owners.input(op, core, input);
    if (target == nullptr) {
      findings.error("PC018", op.name, cat(what, ": there is no buffer"));
      continue;
    }
    if (target->tile_size != bytes) findings.error("PC016", op.name, cat(what, ": tiles have ", bytes, " bytes, not ", target->tile_size));
    const auto expected = expected_input(epoch, op, input, core, graph.input_count, what, findings);
    if (!expected) return;
    if (graph.input_count % expected->inputs != 0)
      findings.error("PC020", op.name,
                     cat(what, ": the ", graph.input_count, " inputs of the epoch do not fill the buffers of op '", producer->name, "'"));
    if (compare(checked, what, op.name, *target, *expected, graph.input_count, findings))
      check_kernel_buffer(op, graph, input, *target, static_cast<std::int64_t>(expected->tiles.size()), findings);
  }
}

void check_output(const Checked& checked, const Op& op, const netlist::Graph& graph, std::int64_t core, Findings& findings) {
  if (op.gradient_op || !ops::has_output(op.type)) return;
  const Buffer* b = checked.owners.output(op, core);
  const std::string what = cat("op '", op.name, "', output of core [", core / op.grid.cols, ", ", core % op.grid.cols, "]");
  if (b == nullptr) return findings.error("PC018", op.name, cat(what, ": there is no buffer"));
  std::int64_t window = window_of(op, graph.input_count),
               half = std::int64_t{op.buf_size_mb > 1 ? op.buf_size_mb / 2 : 1} * op.block.mblock_tiles();
  if (b->is_scatter ? b->window_tiles() != window : b->window_tiles() != half)
    findings.error("PC005", op.name,
                   cat(what, ": pipes take ", b->window_tiles(), " tiles of it at a time, not ", b->is_scatter ? window : half));
  std::int64_t all = b->size_tiles * (b->is_scatter ? b->replicate : 1);
  std::int64_t min = op.untilize_output ? std::int64_t{op.block.mblock_n} * op.block.ublock_rt * op.block.ublock_ct : window;
  if (all < min) findings.error("PC016", op.name, cat(what, ": the buffer has ", all, " tiles; pipes take ", min, " at once"));
  std::int64_t epoch = b->epoch_tiles * (b->is_scatter ? b->replicate : 1);
  if (epoch != graph.input_count * op.block.tiles())
    findings.error("PC016", op.name, cat(what, ": epoch_tiles means ", epoch, " tiles in all, not ", graph.input_count * op.block.tiles()));
}

}  // namespace

void check_kernel_buffer(const Op& op, const netlist::Graph& graph, std::size_t input, const Buffer& b, std::int64_t delivered,
                         Findings& findings) {
  auto bad = [&](std::string_view key, std::int64_t found, std::int64_t wanted, std::string_view relation) {
    findings.error(
        "PC016", op.name,
        cat("op '", op.name, "', input ", input, ", buffer_", b.id, ": ", key, " is ", found, "; it should be ", relation, wanted));
  };
  bool counted_otherwise = ops::splices(op.type) || (op.attributes.identity && input == 1);
  if (!counted_otherwise && b.epoch_tiles != delivered * graph.input_count)
    bad("epoch_tiles", b.epoch_tiles, delivered * graph.input_count, "");
  if (b.tile_clear_granularity < 1) bad("tile_clear_granularity", b.tile_clear_granularity, 1, "at least ");
  if (b.size_tiles < b.tile_clear_granularity) bad("size_tiles", b.size_tiles, b.tile_clear_granularity, "at least ");
  if (b.tile_clear_granularity > 0 && b.size_tiles % b.tile_clear_granularity != 0)
    bad("size_tiles", b.size_tiles, b.tile_clear_granularity, "a multiple of ");
}

void check_op(const Checked& checked, const Op& op, const netlist::Graph& graph, Findings& findings) {
  std::size_t inputs = std::min(op.inputs.size(), expected_inputs(op).max);
  for (std::size_t i = 0; i < inputs; ++i) check_input(checked, op, graph, i, findings);
  for (std::int64_t core = 0; core < op.grid.volume(); ++core) check_output(checked, op, graph, core, findings);
  if (op.gradient_op) return check_gradient(checked, op, findings);
  for (std::size_t q : checked.epoch.index.queues_written_by(op.name)) check_queue(checked, q, findings);
}

}  // namespace buda::pipes
