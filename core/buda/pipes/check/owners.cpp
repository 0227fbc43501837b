// SPDX-License-Identifier: Apache-2.0
// Identifies buffers.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/check/owners.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/ring.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

namespace {

constexpr std::size_t kNoQueue = NetlistIndex::kNone;

// The chip whose ops read or write a queue.
std::optional<std::int32_t> user_chip(const CheckedEpoch& epoch, const Queue& queue) {
  std::optional<std::int32_t> out;
  for (const auto* graph : epoch.epoch.graphs)
    for (const Op& op : graph->ops) {
      const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const auto& input) { return input.name == queue.name; });
      if (reads || queue.input == op.name) out = graph->target_device;
    }
  return out;
}

class OwnerFinder {
 public:
  OwnerFinder(const CheckedEpoch& epoch, Findings& findings) : epoch_(epoch), findings_(findings) {}
  Owners run();

 private:
  void place_cores();
  void own_op_buffer(const Buffer& b);
  void own_ethernet_buffer(const Buffer& b, const Op& op);
  void own_queue_buffer(const Buffer& b);
  void check_queue_buffer(const Buffer& b, const Queue& queue, bool prologue);
  const std::vector<std::uint64_t>& addresses_of(std::size_t queue);

  const CheckedEpoch& epoch_;
  Findings& findings_;
  Owners out_;
  std::map<std::size_t, std::vector<std::uint64_t>> addresses_;  // by queue
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> queue_buffers_seen_;
  std::map<std::pair<const Op*, BufferType>, std::int64_t> ethernet_buffers_seen_;
};

void OwnerFinder::place_cores() {
  for (const auto* graph : epoch_.epoch.graphs)
    for (const Op& op : graph->ops)
      for (std::int64_t core = 0; core < op.grid.volume() && !ops::runs_on_ethernet(op.type); ++core) {
        GridCoord w = worker_at(op, core);
        out_.core_at.emplace(std::tuple{graph->target_device, w.row, w.col}, std::pair{&op, core});
      }
}

// Nothing tells the cores of an ethernet_datacopy apart but their order, and the channels if they are given.
void OwnerFinder::own_ethernet_buffer(const Buffer& b, const Op& op) {
  const auto& eth = epoch_.device.eth;
  const std::int64_t core = ethernet_buffers_seen_[{&op, b.type}]++;
  const auto& channels = op.attributes.egress_channels;
  const auto channel = static_cast<std::size_t>(b.ethernet_chan.value_or(-1));
  const bool is_there = channel < eth.size() && b.core == GridCoord{eth[channel].y, eth[channel].x};
  const bool is_meant = channels.empty() || (static_cast<std::size_t>(core) < channels.size() &&
                                             channels[static_cast<std::size_t>(core)] == b.ethernet_chan.value_or(-1));
  if (!is_there || !is_meant || b.chip != op.attributes.dest_device || core >= op.grid.volume())
    return findings_.error("PC001", b.op,
                           cat("buffer_", b.id, " of op '", b.op, "' is on core [", b.core.row, ", ", b.core.col, "], ethernet channel ",
                               b.ethernet_chan.value_or(-1), ", of chip ", b.chip, ", where its core ", core, " is not"));
  if (b.type == BufferType::unpacker) {
    out_.inputs.emplace(std::tuple{&op, core, std::int32_t{0}}, &b);
  } else if (b.type == BufferType::packer) {
    out_.outputs.emplace(std::pair{&op, core}, &b);
    out_.of_buffer[b.id] = {Owner::Kind::op, &op, kNoQueue, core};
  }
}

void OwnerFinder::own_op_buffer(const Buffer& b) {
  if (b.ethernet_chan)
    if (const Op* op = epoch_.index.op(b.op).op; op != nullptr && ops::runs_on_ethernet(op->type)) return own_ethernet_buffer(b, *op);
  auto it = out_.core_at.find({b.chip, b.core.row, b.core.col});
  if (it == out_.core_at.end() || it->second.first->name != b.op)
    return findings_.error("PC001", b.op,
                           cat("buffer_", b.id, " of op '", b.op, "' is in core [", b.core.row, ", ", b.core.col, "] of chip ", b.chip,
                               it == out_.core_at.end() ? cat(", where no op is") : cat(", where op '", it->second.first->name, "' is")));
  auto [op, core] = it->second;
  bool fresh = true;
  if (b.type == BufferType::unpacker) {
    fresh = out_.inputs.emplace(std::tuple{op, core, b.operand}, &b).second;
  } else if (b.type == BufferType::packer) {
    fresh = out_.outputs.emplace(std::pair{op, core}, &b).second;
    out_.of_buffer[b.id] = {Owner::Kind::op, op, kNoQueue, core};
  }
  if (!fresh) findings_.error("PC002", b.op, cat("op '", b.op, "', core ", core, ": there are two buffers for operand ", b.operand));
}

const std::vector<std::uint64_t>& OwnerFinder::addresses_of(std::size_t q) {
  auto [it, fresh] = addresses_.try_emplace(q);
  const Queue& queue = epoch_.netlist().queues[q];
  for (std::size_t i = 0; fresh && i < queue.buffers.size(); ++i) it->second.push_back(address_of(epoch_, queue, i));
  return it->second;
}

void OwnerFinder::check_queue_buffer(const Buffer& b, const Queue& queue, bool prologue) {
  if (prologue != (b.type == BufferType::dram_prolog) || prologue != b.dram_buf_flag || prologue == b.dram_io_flag)
    findings_.error(
        "PC004", b.op,
        cat("buffer_", b.id, " of queue '", b.op, "' is ", prologue ? "" : "not ", "to be read before the epoch, and is marked otherwise"));
  const bool in_pieces = b.rows.hw_tilize || b.rows.embedding_table;  // which check_rows() looks at
  if (b.is_scatter && !in_pieces && b.window_tiles() != queue.block.tiles())
    findings_.error("PC005", b.op,
                    cat("buffer_", b.id, " of queue '", b.op, "' has ", b.replicate, " blocks of ", b.scatter_gather_num_tiles,
                        " tiles; an entry has ", queue.block.tiles()));
  if (b.q_slots != queue.entries)
    findings_.error("PC006", b.op, cat("buffer_", b.id, " of queue '", b.op, "' has ", b.q_slots, " slots, not ", queue.entries));
}

void OwnerFinder::own_queue_buffer(const Buffer& b) {
  std::size_t q = epoch_.index.queue(b.op);
  if (q == kNoQueue)
    return findings_.error("PC003", b.op, cat("buffer_", b.id, " is of queue '", b.op, "', which the netlist does not have"));
  const Queue& queue = epoch_.netlist().queues[q];
  const std::vector<std::uint64_t>& addresses = addresses_of(q);
  std::vector<std::size_t> here;
  for (std::size_t i = 0; i < queue.buffers.size(); ++i)
    if (queue.buffers[i].channel == b.dram_chan && addresses[i] == b.dram_addr && queue.target_device == b.chip) here.push_back(i);
  if (here.empty())
    return findings_.error("PC003", b.op,
                           cat("buffer_", b.id, ": queue '", b.op, "' has no buffer at address ", b.dram_addr, " of channel ", b.dram_chan,
                               ", chip ", b.chip));
  // Buffers that share an address are told apart by their order.
  std::size_t i = here[queue_buffers_seen_[{q, here.front()}]++ % here.size()];
  const bool prologue = epoch_.epoch.use_of(queue.name).prologue;
  check_queue_buffer(b, queue, prologue);
  out_.of_buffer[b.id] = {prologue ? Owner::Kind::prologue : Owner::Kind::queue, nullptr, q, static_cast<std::int64_t>(i)};
}

Owners OwnerFinder::run() {
  place_cores();
  if (const Buffer* twice = epoch_.buffers.duplicate()) findings_.error("PC002", twice->op, cat("there are two buffers ", twice->id));
  for (const Buffer& b : epoch_.graph.buffers) {
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
        out_.of_buffer[b.id] = {Owner::Kind::relay, nullptr, kNoQueue, 0};
        break;
      case BufferType::unknown:
        out_.of_buffer[b.id] = {b.is_padding ? Owner::Kind::padding : Owner::Kind::none, nullptr, kNoQueue, 0};
        break;
    }
  }
  return std::move(out_);
}

}  // namespace

std::uint64_t address_of(const CheckedEpoch& epoch, const Queue& queue, std::size_t buffer) {
  const auto& a = queue.buffers[buffer];
  const auto& host = epoch.device.host;
  if (queue.location != netlist::QueueLocation::dram)
    return host.base + static_cast<std::uint64_t>(a.channel) * host.channel_bytes + a.address;
  if (!epoch.device.eth.empty()) return a.address;
  const auto user = user_chip(epoch, queue);
  if (!user || *user == queue.target_device) return a.address;
  return peer_address(epoch.index.chips(), epoch.device, epoch.cluster, *user, queue.target_device, a.address).value_or(a.address);
}

Owners find_owners(const CheckedEpoch& epoch, Findings& findings) { return OwnerFinder(epoch, findings).run(); }

}  // namespace buda::pipes
