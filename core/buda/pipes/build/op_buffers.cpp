// SPDX-License-Identifier: Apache-2.0
// Writes down the buffers of a kernel.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/build/op_buffers.hpp>

#include <buda/pipes/build/block_keys.hpp>
#include <buda/pipes/build/queue_address.hpp>

#include <utility>

namespace buda::pipes {

using netlist::Op;

namespace {

// What a buffer of an op has in common with the others of its core.
Buffer in_core(const OpPlan& p, BufferType type, GridCoord core) {
  Buffer b;
  b.op = p.op->name;
  b.type = type;
  b.chip = p.chip;
  b.core = core;
  return b;
}

Buffer share_buffer(const OpPlan& p, const InputPlan& input, std::size_t share, Id id) {
  Buffer b = in_core(p, BufferType::prolog_relay, worker_of(*p.op, share));
  b.operand = kPrologChunkOperand;
  b.id = id;
  b.epoch_tiles = b.size_tiles = b.scatter_gather_num_tiles = input.chunk_tiles;
  b.tile_size = input.sizes.tile_bytes;
  b.is_post_tm_relay_buf = true;
  return b;
}

Buffer input_buffer(const PlacedEpoch& epoch, std::size_t op, std::size_t number, std::size_t core) {
  const OpPlan& p = epoch.plan.ops[op];
  const InputPlan& input = p.inputs[number];
  Buffer b = in_core(p, BufferType::unpacker, epoch.cores.core(op, core));
  b.operand = static_cast<std::int32_t>(number);
  b.id = epoch.ids.ops[op].inputs[number][core];
  b.epoch_tiles = input.sizes.epoch_tiles;
  b.tiles_per_input = input.sizes.epoch_tiles / p.graph->input_count;
  b.size_tiles = input.sizes.size;
  b.scatter_gather_num_tiles = input.sizes.block;
  b.tile_size = input.sizes.tile_bytes;
  b.tile_clear_granularity = input.sizes.clear;
  b.overlay_blob_size = p.op->overlay_size > 0 ? p.op->overlay_size : 0;
  if (const EthernetCore* at = epoch.cores.ethernet(op, core)) {
    b.ethernet_chan = at->channel();
    b.operand += at->operands;
  }
  if (input.rows) {
    auto cols = static_cast<std::size_t>(p.op->grid.cols);
    auto offset = input.rows->offset_bytes(static_cast<std::int32_t>(core / cols), static_cast<std::int32_t>(core % cols));
    b.rows.tilize_row_col_offset = static_cast<std::int32_t>(offset);
  }
  if (ops::looks_up_rows(p.op->type)) (number == 0 ? b.embedding_op_data_input : b.embedding_op_index_input) = true;
  return b;
}

// On an Ethernet core it is the memory of the input; else perhaps that of the first intermediate.
Buffer output_buffer(const PlacedEpoch& epoch, std::size_t op, std::size_t core) {
  const OpPlan& p = epoch.plan.ops[op];
  const OpBufferIds& ids = epoch.ids.ops[op];
  const OutputBuffer& s = p.output;
  Buffer b = in_core(p, BufferType::packer, epoch.cores.core(op, core));
  b.operand = kOutputOperand;
  b.id = ids.outputs[core];
  b.epoch_tiles = s.epoch_tiles;
  b.tiles_per_input = s.tiles_per_input;
  b.size_tiles = s.size;
  b.scatter_gather_num_tiles = s.block;
  b.is_scatter = s.scattered;
  b.replicate = s.replicate;
  b.tile_size = s.tile_bytes;
  if (tiling::shares_output(*p.op)) b.buffer_space_shared = ids.intermediates[core].empty() ? 0 : ids.intermediates[core].front();
  if (const EthernetCore* at = epoch.cores.ethernet(op, core)) {
    b.buffer_space_shared = ids.inputs.front()[core];
    b.ethernet_chan = at->channel();
    b.operand += at->operands;
  }
  set_block(b, p.op->block, tiling::passes_over_output(*p.op));
  set_untilized(b, *p.op);
  return b;
}

Result<Buffer> intermediate_buffer(const PlacedEpoch& epoch, std::size_t o, std::size_t number, std::size_t core) {
  const OpPlan& p = epoch.plan.ops[o];
  const Op& op = *p.op;
  const IntermediateBuffer& s = p.intermediates[number];
  Buffer b = in_core(p, op.gradient_op ? BufferType::gradient_op : BufferType::intermediate, worker_of(op, core));
  b.operand = s.operand;
  b.id = epoch.ids.ops[o].intermediates[core][number];
  b.epoch_tiles = s.epoch_tiles;
  b.size_tiles = s.size;
  b.scatter_gather_num_tiles = s.block;
  b.tile_size = s.tile_bytes;
  set_block(b, op.block, tiling::passes_over_output(op) + (op.gradient_op ? 1 : 0));
  if (op.gradient_op && !p.output_queues.empty()) {
    // The ram is the intermediate buffer: read before the epoch, written back after it.
    const netlist::Queue& q = epoch.plan.netlist().queues[p.output_queues.front()];
    BUDA_ASSIGN(const QueueAddress address, queue_address(epoch.plan, q, core));
    b.dram_ram_flag = b.dram_io_skip_flow_ctrl = b.dram_io_allow_overwrite = true;
    b.dram_buf_flag = b.write_dram_buf_flag = true;
    b.dram_chan = address.channel;
    b.dram_addr = address.address;
    b.q_slots = q.entries;
  }
  return b;
}

}  // namespace

Result<std::vector<Buffer>> op_buffers(const PlacedEpoch& epoch, std::size_t op) {
  const OpPlan& p = epoch.plan.ops[op];
  const OpBufferIds& ids = epoch.ids.ops[op];
  std::vector<Buffer> out;
  for (std::size_t i = 0; i < p.inputs.size(); ++i)
    for (std::size_t s = 0; s < ids.shares[i].size(); ++s) out.push_back(share_buffer(p, p.inputs[i], s, ids.shares[i][s]));
  for (std::size_t core = 0; core < static_cast<std::size_t>(p.op->grid.volume()); ++core) {
    for (std::size_t i = 0; i < p.inputs.size(); ++i) out.push_back(input_buffer(epoch, op, i, core));
    if (has_outputs(*p.op)) out.push_back(output_buffer(epoch, op, core));
    for (std::size_t i = 0; i < p.intermediates.size(); ++i) {
      BUDA_ASSIGN(Buffer b, intermediate_buffer(epoch, op, i, core));
      out.push_back(std::move(b));
    }
  }
  return out;
}

}  // namespace buda::pipes
