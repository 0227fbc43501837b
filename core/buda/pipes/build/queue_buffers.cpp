// SPDX-License-Identifier: Apache-2.0
// Writes down the buffers of queues.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/build/queue_buffers.hpp>

#include <buda/pipes/build/block_keys.hpp>
#include <buda/pipes/build/queue_address.hpp>
#include <buda/pipes/interchip/ring.hpp>

#include <utility>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

namespace {

// What an op that reads rows, or looks them up, has to know of the queue.
void set_rows(const EpochPlan& plan, const QueuePlan& q, Buffer& b) {
  if (q.readers.empty()) return;
  const Queue& queue = plan.netlist().queues[q.queue];
  const OpPlan& reader = plan.ops[q.readers.front()];
  const bool looks_up = ops::looks_up_rows(reader.op->type);
  if (looks_up && !q.rows) {
    b.rows.embedding_index = true;
    b.rows.indices_per_tile = queue.tile_dim.rows * queue.tile_dim.cols;
    b.rows.indices_per_input = reader.op->attributes.num_indices;
  }
  if (!q.rows) return;
  const RowCut& cut = *q.rows;
  (looks_up ? b.rows.embedding_table : b.rows.hw_tilize) = true;
  b.rows.table_core_c_div = cut.across;
  b.rows.table_row_size_per_core = static_cast<std::int32_t>(cut.columns) * queue.block.ublock_ct;
  b.rows.table_row_size = queue.grid.cols * cut.across * b.rows.table_row_size_per_core;
  if (!looks_up) b.rows.tilize_mblock_n_loop_num_rows = static_cast<std::int32_t>(cut.rows_per_column);
  b.untilized.c = static_cast<std::int32_t>(cut.columns);
  b.untilized.tile_rows = queue.tile_dim.rows;
  b.untilized.tile_cols = queue.tile_dim.cols;
  b.tile_size = cut.piece_bytes;
  b.size_tiles = b.tiles_per_input = cut.buffer_pieces();
  b.replicate = cut.buffer_pieces() / q.granularity;
  b.epoch_tiles = std::int64_t{reader.graph->input_count} * q.granularity;
}

void set_tiles(const EpochPlan& plan, const QueuePlan& q, Buffer& b) {
  const Queue& queue = plan.netlist().queues[q.queue];
  const std::int64_t input_count = plan.ops[!q.readers.empty() ? q.readers.front() : q.writer].graph->input_count;
  b.tiles_per_input = b.size_tiles = queue.block.tiles();
  b.scatter_gather_num_tiles = q.granularity;
  b.epoch_tiles = input_count * queue.block.tiles();
  b.is_scatter = q.scattered;
  if (q.scattered && !q.rows) {
    b.replicate = queue.block.tiles() / q.granularity;
    b.epoch_tiles /= b.replicate;
    if (q.use.prologue) b.size_tiles /= b.replicate;
  }
  b.tile_size = stored_tile_bytes(*plan.index, queue, plan.device->tile_alignment);
}

Buffer queue_buffer(const PlacedEpoch& epoch, std::size_t number, std::size_t buffer, std::size_t reader, QueueAddress address) {
  const EpochPlan& plan = epoch.plan;
  const QueuePlan& q = plan.queues[number];
  const Queue& queue = plan.netlist().queues[q.queue];
  Buffer b;
  b.op = queue.name;
  b.type = q.use.prologue ? BufferType::dram_prolog : BufferType::dram_io;
  b.id = plan.index->queue_buffer(q.queue, buffer);
  b.chip = queue.target_device;
  set_tiles(plan, q, b);
  if (q.use.prologue) {
    b.id = epoch.ids.prologues[number][reader][buffer];
    b.core = prologue_worker(plan, q, buffer, reader);
    for (const InputPlan& input : plan.ops[q.readers[reader]].inputs)
      if (input.source.queue == q.queue && input.post_tm) b.prefetch_type = PrefetchType::post_tm;
  }
  bool ram = queue.kind == netlist::QueueKind::ram;
  b.dram_io_flag_is_remote = queue.location == netlist::QueueLocation::host || is_on_peer(plan, q) ? 1 : 0;
  b.dram_buf_flag = q.use.prologue;
  b.dram_io_flag = !q.use.prologue;
  b.dram_ram_flag = b.dram_io_skip_flow_ctrl = b.dram_io_allow_overwrite = ram;
  b.dram_chan = address.channel;
  b.dram_addr = address.address;
  b.dram_sub_chan = dram_port(plan, epoch.cores, q, buffer);
  b.q_slots = queue.entries;
  if (const Op* writer = plan.index->writer(queue)) {
    set_block(b, writer->block, writer->attributes.m_k);
    set_untilized(b, *writer);
  }
  set_rows(plan, q, b);
  return b;
}

}  // namespace

GridCoord prologue_worker(const EpochPlan& plan, const QueuePlan& q, std::size_t buffer, std::size_t reader) {
  const Queue& queue = plan.netlist().queues[q.queue];
  const OpPlan& p = plan.ops[q.readers[reader]];
  const Op& op = *p.op;
  auto cols = static_cast<std::size_t>(queue.grid.cols);
  auto row = static_cast<std::int32_t>(buffer / cols) % op.grid.rows;
  auto col = static_cast<std::int32_t>(buffer % cols) % op.grid.cols;
  if (ops::sums_products(op.type)) {
    std::size_t input = 0;
    while (input < p.inputs.size() && p.inputs[input].source.queue != q.queue) ++input;
    if (input == (op.grid_transpose ? 0u : 1u)) row = op.grid.rows - 1 - row;
  }
  return worker_of(op, row, col);
}

Result<std::vector<Buffer>> queue_buffers(const PlacedEpoch& epoch, std::size_t number) {
  const EpochPlan& plan = epoch.plan;
  const QueuePlan& q = plan.queues[number];
  const Queue& queue = plan.netlist().queues[q.queue];
  std::vector<Buffer> out;
  std::size_t copies = q.use.prologue ? epoch.ids.prologues[number].size() : 1;
  for (std::size_t reader = 0; reader < copies; ++reader)
    for (std::size_t b = 0; b < queue.buffers.size(); ++b) {
      BUDA_ASSIGN(QueueAddress address, queue_address(plan, queue, b));
      if (is_on_peer(plan, q))
        address.address =
            peer_address(plan.index->chips(), *plan.device, *plan.cluster, plan.user_chip(q), queue.target_device, address.address)
                .value_or(0);
      out.push_back(queue_buffer(epoch, number, b, reader, address));
    }
  return out;
}

}  // namespace buda::pipes
