// The buffers of an epoch.
#include <buda/pipes/build/graph_builder.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/ring.hpp>

namespace buda::pipes {

using netlist::Op;
using netlist::OpClass;
using netlist::Queue;

namespace {

// What a buffer of an op has in common with the others of its core.
Buffer in_core(const OpPlan& p, BufferType type, GridCoord worker) {
  Buffer b;
  b.op = p.op->name;
  b.type = type;
  b.chip = p.chip;
  b.core = worker;
  return b;
}

void set_block(Buffer& b, const netlist::BlockShape& block, std::int32_t k) {
  b.ublock_rt = block.ublock_rt;
  b.ublock_ct = block.ublock_ct;
  b.mblock_m = block.mblock_m;
  b.mblock_n = block.mblock_n;
  b.mblock_k = k;
}

void set_untilized(Buffer& b, const Op* op) {
  if (op == nullptr || !op->untilize_output) return;
  const auto& block = op->block;
  auto& u = b.untilized;
  u.on = true;
  u.r = block.mblock_m * block.ublock_rt;
  u.c = block.mblock_n * block.ublock_ct;
  u.z = block.t;
  u.full_r = op->grid.rows * u.r;
  u.full_c = op->grid.cols * u.c;
  u.tile_rows = op->tile_dim.rows;
  u.tile_cols = op->tile_dim.cols;
}

}  // namespace

// Copies of a prologue queue's buffers, one set per reading op; the first set has the queue's own ids.
void GraphBuilder::number_prologues() {
  for (QueuePlan& q : plan_.queues) {
    if (!q.use.prologue) continue;
    std::size_t buffers = netlist().queues[q.queue].buffers.size();
    for (std::size_t reader = 0; reader < q.readers.size(); ++reader) {
      std::vector<Id> ids;
      for (std::size_t b = 0; b < buffers; ++b) ids.push_back(reader == 0 ? plan_.index->queue_buffer(q.queue, b) : new_id());
      q.prologue_buffers.push_back(std::move(ids));
    }
  }
}

Result<void> GraphBuilder::add_op(std::size_t o) {
  OpPlan& p = plan_.ops[o];
  const Op& op = *p.op;
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    if (p.inputs[i].chunks == 0) continue;
    for (std::int64_t s = 0; s < p.inputs[i].chunks * op.grid.cols; ++s) p.inputs[i].relays.push_back(new_id());
    add_relays(p, i);
  }
  bool writes = !op.gradient_op && op_class(op.type) != OpClass::drainer;
  for (std::size_t core = 0; core < static_cast<std::size_t>(op.grid.volume()); ++core) {
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      p.inputs[i].buffers.push_back(new_id());
      add_input(p, core, i);
    }
    if (writes) p.output_buffers.push_back(new_id());
    std::vector<Id> intermediates;
    for (std::size_t i = 0; i < p.intermediates.size(); ++i) intermediates.push_back(new_id());
    if (writes) add_output(p, core, intermediates.empty() ? 0 : intermediates.front());
    for (std::size_t i = 0; i < intermediates.size(); ++i) BUDA_TRY(add_intermediate(p, core, p.intermediates[i], intermediates[i]));
  }
  for (const InputPlan& input : p.inputs)
    if (input.source.is_queue()) BUDA_TRY(add_queue(plan_.queue_plan(input.source.queue)));
  for (std::size_t q : p.output_queues)
    if (!op.gradient_op) BUDA_TRY(add_queue(plan_.queue_plan(q)));
  return success();
}

void GraphBuilder::add_relays(const OpPlan& p, std::size_t number) {
  const InputPlan& input = p.inputs[number];
  for (std::size_t s = 0; s < input.relays.size(); ++s) {
    Buffer b = in_core(p, BufferType::prolog_relay, worker_of(*p.op, s));
    b.operand = kPrologChunkOperand;
    b.id = input.relays[s];
    b.epoch_tiles = b.size_tiles = b.scatter_gather_num_tiles = input.chunk_tiles;
    b.tile_size = input.sizes.tile_bytes;
    b.is_post_tm_relay_buf = true;
    graph_.buffers.push_back(std::move(b));
  }
}

void GraphBuilder::add_input(const OpPlan& p, std::size_t core, std::size_t number) {
  const InputPlan& input = p.inputs[number];
  Buffer b = in_core(p, BufferType::unpacker, place_of_core(p, core));
  b.operand = static_cast<std::int32_t>(number);
  b.id = input.buffers[core];
  b.epoch_tiles = input.sizes.epoch_tiles;
  b.tiles_per_input = input.sizes.epoch_tiles / p.graph->input_count;
  b.size_tiles = input.sizes.size;
  b.scatter_gather_num_tiles = input.sizes.block;
  b.tile_size = input.sizes.tile_bytes;
  b.tile_clear_granularity = input.sizes.clear;
  b.overlay_blob_size = p.op->overlay_size > 0 ? p.op->overlay_size : 0;
  if (EpochPlan::is_ethernet(p)) put_on_ethernet(p, core, b);
  if (input.rows) {
    auto cols = static_cast<std::size_t>(p.op->grid.cols);
    auto offset = input.rows->offset_bytes(static_cast<std::int32_t>(core / cols), static_cast<std::int32_t>(core % cols));
    b.rows.tilize_row_col_offset = static_cast<std::int32_t>(offset);
  }
  if (op_class(p.op->type) == OpClass::embedding) (number == 0 ? b.embedding_op_data_input : b.embedding_op_index_input) = true;
  graph_.buffers.push_back(std::move(b));
}

void GraphBuilder::add_output(const OpPlan& p, std::size_t core, Id intermediate) {
  const OutputBuffer& s = p.output;
  Buffer b = in_core(p, BufferType::packer, place_of_core(p, core));
  b.operand = kOutputOperand;
  b.id = p.output_buffers[core];
  b.epoch_tiles = s.epoch_tiles;
  b.tiles_per_input = s.tiles_per_input;
  b.size_tiles = s.size;
  b.scatter_gather_num_tiles = s.block;
  b.is_scatter = s.scattered;
  b.replicate = s.replicate;
  b.tile_size = s.tile_bytes;
  if (tiling::shares_output(*p.op)) b.buffer_space_shared = intermediate;
  if (EpochPlan::is_ethernet(p)) {
    b.buffer_space_shared = p.inputs.front().buffers[core];
    put_on_ethernet(p, core, b);
  }
  set_block(b, p.op->block, tiling::passes_over_output(*p.op));
  set_untilized(b, p.op);
  graph_.buffers.push_back(std::move(b));
}

Result<void> GraphBuilder::add_intermediate(const OpPlan& p, std::size_t core, const IntermediateBuffer& s, Id id) {
  const Op& op = *p.op;
  Buffer b = in_core(p, op.gradient_op ? BufferType::gradient_op : BufferType::intermediate, worker_of(op, core));
  b.operand = s.operand;
  b.id = id;
  b.epoch_tiles = s.epoch_tiles;
  b.size_tiles = s.size;
  b.scatter_gather_num_tiles = s.block;
  b.tile_size = s.tile_bytes;
  set_block(b, op.block, tiling::passes_over_output(op) + (op.gradient_op ? 1 : 0));
  if (op.gradient_op && !p.output_queues.empty()) {
    // The ram is the intermediate buffer: read before the epoch, written back after it.
    const Queue& q = netlist().queues[p.output_queues.front()];
    BUDA_ASSIGN(Place place, place_of(q, core));
    b.dram_ram_flag = b.dram_io_skip_flow_ctrl = b.dram_io_allow_overwrite = true;
    b.dram_buf_flag = b.write_dram_buf_flag = true;
    b.dram_chan = place.channel;
    b.dram_addr = place.address;
    b.q_slots = q.entries;
  }
  graph_.buffers.push_back(std::move(b));
  return success();
}

// Channels of host memory follow one another from the address at which the chip sees the first.
Result<GraphBuilder::Place> GraphBuilder::place_of(const Queue& queue, std::size_t buffer) const {
  const netlist::BufferAddress& a = queue.buffers[buffer];
  if (queue.location == netlist::QueueLocation::dram) {
    if (a.channel < 0 || static_cast<std::size_t>(a.channel) >= device().dram.channels.size() ||
        device().dram.channels[static_cast<std::size_t>(a.channel)].ports.empty()) {
      Diagnostic d =
          does_not_fit("PP030", queue.name, "dram channels", static_cast<std::uint64_t>(a.channel) + 1, device().dram.channels.size(),
                       cat("queue '", queue.name, "', buffer ", buffer, ": '", device().name, "' has DRAM channels 0 to ",
                           static_cast<std::int64_t>(device().dram.channels.size()) - 1, ", not ", a.channel),
                       "");
      d.loc = netlist().loc(queue.places.of(netlist::Field::buffers));
      return d;
    }
    for (const auto* ports : {&queue.read_ports, &queue.write_ports}) {
      auto count = static_cast<std::int64_t>(device().dram.channels[static_cast<std::size_t>(a.channel)].ports.size());
      if (buffer >= ports->size() || ((*ports)[buffer] >= 0 && (*ports)[buffer] < count)) continue;
      Diagnostic d = input_error("PP033", netlist().loc(queue.places.of(netlist::Field::ports)),
                                 cat("queue '", queue.name, "', buffer ", buffer, ": channel ", a.channel, " of '", device().name,
                                     "' has ports 0 to ", count - 1, ", not ", (*ports)[buffer]));
      d.node = queue.name;
      return d;
    }
    return Place{a.channel, a.address};
  }
  if (a.channel < 0 || a.channel >= device().host.channels || a.address >= device().host.channel_bytes) {
    Diagnostic d = does_not_fit("PP031", queue.name, "host memory", a.address + 1, device().host.channel_bytes,
                                cat("queue '", queue.name, "', buffer ", buffer, ": '", device().name, "' sees ", device().host.channels,
                                    " channels of host memory of ", bytes_text(device().host.channel_bytes), " each; this is channel ",
                                    a.channel, ", address ", a.address),
                                "");
    d.loc = netlist().loc(queue.places.of(netlist::Field::buffers));
    return d;
  }
  return Place{a.channel, device().host.base + static_cast<std::uint64_t>(a.channel) * device().host.channel_bytes + a.address};
}

Result<void> GraphBuilder::add_queue(QueuePlan& q) {
  if (!queue_added_.emplace(q.queue, true).second) return success();
  const Queue& queue = netlist().queues[q.queue];
  std::size_t sets = q.use.prologue ? q.prologue_buffers.size() : 1;
  for (std::size_t reader = 0; reader < sets; ++reader)
    for (std::size_t b = 0; b < queue.buffers.size(); ++b) {
      BUDA_ASSIGN(Place place, place_of(queue, b));
      if (is_on_peer(q))
        place.address = peer_address(plan_.index->chips(), device(), *plan_.cluster, plan_.user_chip(q), queue.target_device, place.address)
                            .value_or(0);
      add_queue_buffer(q, b, reader, place);
    }
  return success();
}

// Used on another chip without ethernet between.
bool GraphBuilder::is_on_peer(const QueuePlan& q) const {
  const Queue& queue = netlist().queues[q.queue];
  return device().eth.empty() && queue.location == netlist::QueueLocation::dram && queue.target_device != plan_.user_chip(q);
}

// The core that keeps a copy of a queue's buffer: the one at the same place of the grid, which is wrapped around where it is smaller. For
// the operand that is multicast along network 1 rows are counted from the far end, where such multicasts begin.
GridCoord GraphBuilder::prologue_worker(const QueuePlan& q, std::size_t buffer, std::size_t reader) const {
  const Queue& queue = netlist().queues[q.queue];
  const OpPlan& p = plan_.ops[q.readers[reader]];
  const Op& op = *p.op;
  auto cols = static_cast<std::size_t>(queue.grid.cols);
  auto row = static_cast<std::int32_t>(buffer / cols) % op.grid.rows;
  auto col = static_cast<std::int32_t>(buffer % cols) % op.grid.cols;
  OpClass kind = op_class(op.type);
  if (kind == OpClass::matmul || kind == OpClass::depthwise) {
    std::size_t input = 0;
    while (input < p.inputs.size() && p.inputs[input].source.queue != q.queue) ++input;
    if (input == (op.grid_transpose ? 0u : 1u)) row = op.grid.rows - 1 - row;
  }
  return worker_of(op, row, col);
}

std::int32_t GraphBuilder::sub_channel(const QueuePlan& q, const Queue& queue, std::size_t buffer, Place place) const {
  if (queue.location != netlist::QueueLocation::dram) return 0;
  const auto& ports = q.readers.empty() ? queue.write_ports : queue.read_ports;
  if (buffer < ports.size()) return ports[buffer];
  const auto& channel = device().dram.channels[static_cast<std::size_t>(place.channel)];
  const OpPlan& p = plan_.ops[!q.readers.empty() ? q.readers.front() : q.writer];
  return nearest_port(channel, noc_of_core(p, 0), device().noc);
}

// What an op that takes rows, or looks them up, has to know of the queue.
void GraphBuilder::set_rows(Buffer& b, const QueuePlan& q) const {
  if (q.readers.empty()) return;
  const Queue& queue = netlist().queues[q.queue];
  const Op& op = *plan_.ops[q.readers.front()].op;
  const bool looks_up = op_class(op.type) == OpClass::embedding;
  if (looks_up && !q.rows) {
    b.rows.embedding_index = true;
    b.rows.indices_per_tile = queue.tile_dim.rows * queue.tile_dim.cols;
    b.rows.indices_per_input = op.attributes.num_indices;
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
  b.epoch_tiles = std::int64_t{plan_.ops[q.readers.front()].graph->input_count} * q.granularity;
}

void GraphBuilder::add_queue_buffer(const QueuePlan& q, std::size_t number, std::size_t reader, Place place) {
  const Queue& queue = netlist().queues[q.queue];
  const Op* writer = plan_.index->writer(queue);
  std::int64_t input_count = plan_.ops[!q.readers.empty() ? q.readers.front() : q.writer].graph->input_count;
  Buffer b;
  b.op = queue.name;
  b.type = q.use.prologue ? BufferType::dram_prolog : BufferType::dram_io;
  b.id = plan_.index->queue_buffer(q.queue, number);
  b.chip = queue.target_device;
  b.tiles_per_input = b.size_tiles = queue.block.tiles();
  b.scatter_gather_num_tiles = q.granularity;
  b.epoch_tiles = input_count * queue.block.tiles();
  b.is_scatter = q.scattered;
  if (q.scattered && !q.rows) {
    b.replicate = queue.block.tiles() / q.granularity;
    b.epoch_tiles /= b.replicate;
    if (q.use.prologue) b.size_tiles /= b.replicate;
  }
  b.tile_size = stored_tile_bytes(*plan_.index, queue, device().tile_alignment);
  if (q.use.prologue) {
    b.id = q.prologue_buffers[reader][number];
    b.core = prologue_worker(q, number, reader);
    for (const InputPlan& input : plan_.ops[q.readers[reader]].inputs)
      if (input.source.queue == q.queue && input.post_tm) b.prefetch_type = PrefetchType::post_tm;
  }
  bool ram = queue.kind == netlist::QueueKind::ram;
  b.dram_io_flag_is_remote = queue.location == netlist::QueueLocation::host || is_on_peer(q) ? 1 : 0;
  b.dram_buf_flag = q.use.prologue;
  b.dram_io_flag = !q.use.prologue;
  b.dram_ram_flag = b.dram_io_skip_flow_ctrl = b.dram_io_allow_overwrite = ram;
  b.dram_chan = place.channel;
  b.dram_addr = place.address;
  b.dram_sub_chan = sub_channel(q, queue, number, place);
  b.q_slots = queue.entries;
  if (writer != nullptr) set_block(b, writer->block, writer->attributes.m_k);
  set_untilized(b, writer);
  set_rows(b, q);
  graph_.buffers.push_back(std::move(b));
}

}  // namespace buda::pipes
