// Whose buffer each buffer of a graph is, and which pipes fill it.
#include <buda/pipes/check/checker.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/ring.hpp>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

// As the chip sees it that uses the queue in this epoch.
std::uint64_t Checker::address_of(const Queue& queue, std::size_t buffer) const {
  const auto& a = queue.buffers[buffer];
  if (queue.location == netlist::QueueLocation::dram) {
    auto user = user_chip_.find(queue.name);
    if (user == user_chip_.end() || user->second == queue.target_device || !device_.eth.empty()) return a.address;
    return peer_address(index_.chips(), device_, cluster_, user->second, queue.target_device, a.address).value_or(a.address);
  }
  return device_.host.base + static_cast<std::uint64_t>(a.channel) * device_.host.channel_bytes + a.address;
}

// Nothing tells the cores of an ethernet_datacopy apart but their order, and the channels if they are given.
void Checker::own_ethernet_buffer(const Buffer& b, const Op& op) {
  const std::int64_t core = ethernet_buffers_seen_[{&op, b.type}]++;
  const auto& channels = op.attributes.egress_channels;
  const auto channel = static_cast<std::size_t>(b.ethernet_chan.value_or(-1));
  const bool is_there = channel < device_.eth.size() && b.core == GridCoord{device_.eth[channel].y, device_.eth[channel].x};
  const bool is_meant = channels.empty() || (static_cast<std::size_t>(core) < channels.size() &&
                                             channels[static_cast<std::size_t>(core)] == b.ethernet_chan.value_or(-1));
  if (!is_there || !is_meant || b.chip != op.attributes.dest_device || core >= op.grid.volume())
    return error("PC001", b.op,
                 cat("buffer_", b.id, " of op '", b.op, "' is on core [", b.core.row, ", ", b.core.col, "], ethernet channel ",
                     b.ethernet_chan.value_or(-1), ", of chip ", b.chip, ", where its core ", core, " is not"));
  if (b.type == BufferType::unpacker) {
    kernel_.emplace(std::tuple{&op, core, std::int32_t{0}}, &b);
  } else if (b.type == BufferType::packer) {
    packers_.emplace(std::pair{&op, core}, &b);
    owners_[b.id] = {Owner::Kind::op, &op, kNone, core};
  }
}

void Checker::own_op_buffer(const Buffer& b) {
  if (b.ethernet_chan)
    if (const Op* op = index_.op(b.op).op; op != nullptr && op_class(op->type) == netlist::OpClass::ethernet)
      return own_ethernet_buffer(b, *op);
  auto it = core_at_.find({b.chip, b.core.row, b.core.col});
  if (it == core_at_.end() || it->second.first->name != b.op) {
    error("PC001", b.op,
          cat("buffer_", b.id, " of op '", b.op, "' is in core [", b.core.row, ", ", b.core.col, "] of chip ", b.chip,
              it == core_at_.end() ? cat(", where no op is") : cat(", where op '", it->second.first->name, "' is")));
    return;
  }
  auto [op, core] = it->second;
  bool fresh = true;
  if (b.type == BufferType::unpacker) {
    fresh = kernel_.emplace(std::tuple{op, core, b.operand}, &b).second;
  } else if (b.type == BufferType::packer) {
    fresh = packers_.emplace(std::pair{op, core}, &b).second;
    owners_[b.id] = {Owner::Kind::op, op, kNone, core};
  }
  if (!fresh) error("PC002", b.op, cat("op '", b.op, "', core ", core, ": there are two buffers for operand ", b.operand));
}

void Checker::own_queue_buffer(const Buffer& b) {
  std::size_t q = index_.queue(b.op);
  if (q == kNone) {
    error("PC003", b.op, cat("buffer_", b.id, " is of queue '", b.op, "', which the netlist does not have"));
    return;
  }
  const Queue& queue = netlist().queues[q];
  std::vector<std::size_t> here;
  for (std::size_t i = 0; i < queue.buffers.size(); ++i)
    if (queue.buffers[i].channel == b.dram_chan && address_of(queue, i) == b.dram_addr && queue.target_device == b.chip) here.push_back(i);
  if (!here.empty()) {
    // Buffers that share an address are told apart by their order.
    std::size_t i = here[queue_buffers_seen_[{q, here.front()}]++ % here.size()];
    bool prologue = epoch_.use_of(queue.name).prologue;
    if (prologue != (b.type == BufferType::dram_prolog) || prologue != b.dram_buf_flag || prologue == b.dram_io_flag)
      error("PC004", b.op,
            cat("buffer_", b.id, " of queue '", b.op, "' is ", prologue ? "" : "not ",
                "to be read before the epoch, and is marked otherwise"));
    const bool in_pieces = b.rows.hw_tilize || b.rows.embedding_table;  // which check_rows() looks at
    if (b.is_scatter && !in_pieces && b.window_tiles() != queue.block.tiles())
      error("PC005", b.op,
            cat("buffer_", b.id, " of queue '", b.op, "' has ", b.replicate, " blocks of ", b.scatter_gather_num_tiles,
                " tiles; an entry has ", queue.block.tiles()));
    if (b.q_slots != queue.entries)
      error("PC006", b.op, cat("buffer_", b.id, " of queue '", b.op, "' has ", b.q_slots, " slots, not ", queue.entries));
    owners_[b.id] = {prologue ? Owner::Kind::prologue : Owner::Kind::queue, nullptr, q, static_cast<std::int64_t>(i)};
    return;
  }
  error(
      "PC003", b.op,
      cat("buffer_", b.id, ": queue '", b.op, "' has no buffer at address ", b.dram_addr, " of channel ", b.dram_chan, ", chip ", b.chip));
}

void Checker::find_owners() {
  for (const auto* graph : epoch_.graphs)
    for (const Op& op : graph->ops) {
      for (std::size_t q : index_.queues_written_by(op.name)) user_chip_[netlist().queues[q].name] = graph->target_device;
      for (const auto& input : op.inputs) user_chip_[input.name] = graph->target_device;
      for (std::int64_t core = 0; core < op.grid.volume() && op_class(op.type) != netlist::OpClass::ethernet; ++core) {
        GridCoord w = worker_at(op, core);
        core_at_.emplace(std::tuple{graph->target_device, w.row, w.col}, std::pair{&op, core});
      }
    }
  if (const Buffer* twice = buffers_.duplicate()) error("PC002", twice->op, cat("there are two buffers ", twice->id));
  for (const Buffer& b : graph_.buffers) {
    switch (b.type) {
      case BufferType::unpacker:
      case BufferType::packer:
      case BufferType::intermediate:
      case BufferType::gradient_op:
        own_op_buffer(b);
        break;
      case BufferType::dram_io:
      case BufferType::dram_prolog:
      case BufferType::dram_epilog:
        own_queue_buffer(b);
        break;
      case BufferType::relay:
      case BufferType::ethernet_relay:
      case BufferType::prolog_relay:
        owners_[b.id] = {Owner::Kind::relay, nullptr, kNone, 0};
        break;
      case BufferType::unknown:
        owners_[b.id] = {b.is_padding ? Owner::Kind::padding : Owner::Kind::none, nullptr, kNone, 0};
        break;
    }
  }
}

void Checker::collect_feeds() {
  for (std::size_t p = 0; p < graph_.pipes.size(); ++p)
    for (std::size_t g = 0; g < graph_.pipes[p].outputs.size(); ++g)
      for (Id id : graph_.pipes[p].outputs[g]) {
        const Buffer* b = buffers_.find(id);
        if (b == nullptr || b->id != id) {
          error("PC007", "", cat("pipe_", graph_.pipes[p].id, " leads to ", id, ", which is no buffer"));
          continue;
        }
        bool takes = b->type == BufferType::unpacker || b->type == BufferType::dram_io || owners_[id].kind == Owner::Kind::relay;
        if (!takes)
          error("PC007", b->op, cat("pipe_", graph_.pipes[p].id, " leads to buffer_", id, " of '", b->op, "', which takes nothing"));
        feeds_[id].push_back({p, g});
      }
}

}  // namespace buda::pipes
