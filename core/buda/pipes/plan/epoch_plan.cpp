// SPDX-License-Identifier: Apache-2.0
// Lookups in a plan.
#include <buda/pipes/plan/epoch_plan.hpp>

#include <buda/tensor/data_format.hpp>

#include <utility>

namespace buda::pipes {

GridCoord worker_of(const netlist::Op& op, std::int32_t row, std::int32_t col) {
  if (op.grid_transpose) std::swap(row, col);
  return {op.grid_loc.row + row, op.grid_loc.col + col};
}

const netlist::FusedOp* fused_op_of(const netlist::Netlist& netlist, const netlist::Op& op) {
  for (const auto& f : netlist.fused_ops)
    if (f.id == op.attributes.fused_op_id) return &f;
  return nullptr;
}

tiling::OpContext context_of(const EpochPlan& plan, const OpPlan& p) {
  return {*p.op, fused_op_of(plan.netlist(), *p.op), p.graph->input_count, plan.device->tile_alignment};
}

std::int32_t stored_tile_bytes(const NetlistIndex& index, const netlist::Queue& queue, std::int32_t alignment) {
  const netlist::Op* writer = index.writer(queue);
  bool bare = queue.layout == netlist::QueueLayout::flat || (writer != nullptr && writer->untilize_output);
  return bare ? tile_datum_bytes(queue.format, queue.tile_dim) + tile_exponent_bytes(queue.format, queue.tile_dim)
              : tile_bytes(queue.format, queue.tile_dim, alignment);
}

}  // namespace buda::pipes
