// SPDX-License-Identifier: Apache-2.0
// Texts of the files beside pipegen.yaml.
#include <buda/pipes/reports/reports.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <charconv>
#include <set>
#include <tuple>

namespace buda::pipes {

using netlist::Queue;

namespace {

std::string hex(std::uint64_t value) {
  char buffer[24];
  return "0x" + std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr);
}

// A core as the runtime counts: chip, then NoC column and row. Sorted as these.
using RoutingCore = std::tuple<std::int32_t, std::int32_t, std::int32_t>;

RoutingCore routing_core(const device::DeviceDescriptor& device, std::int32_t chip, GridCoord core) {
  if (!device.grid().contains(core)) return {chip, core.col, core.row};
  device::NocCoord at = device.noc_of_worker(core);
  return {chip, at.x, at.y};
}

using QueueCores = std::map<std::pair<std::size_t, std::size_t>, std::set<RoutingCore>>;  // by queue and buffer

std::string queue_cores_text(const NetlistIndex& index, const QueueCores& cores, std::string_view role) {
  std::string out;
  std::size_t number = 0;
  std::size_t last = NetlistIndex::kNone;
  for (const auto& [key, set] : cores) {
    const Queue& q = index.netlist().queues[key.first];
    if (key.first != last) out += cat(io::yaml_scalar(q.name), ":\n");
    last = key.first;
    const auto& a = q.buffers[key.second];
    out += cat("  ", key.second, ":\n    name: ", io::yaml_scalar(q.name), "\n    channel: ", a.channel,
               "\n    queue_target_device: ", q.target_device, "\n    addr: ", hex(a.address), "\n    ", role, ":\n");
    for (const auto& [chip, x, y] : set)
      out += cat("      ", number++, ":\n        chip_id: ", chip, "\n        x: ", x, "\n        y: ", y, '\n');
  }
  return out;
}

// The queue buffer that a buffer of the file is, or is a copy of: by its address.
class QueueFinder {
 public:
  QueueFinder(const NetlistIndex& index, const PipeGraph& graph) : buffers_(graph.buffers) {
    for (std::size_t q = 0; q < index.netlist().queues.size(); ++q)
      for (std::size_t b = 0; b < index.netlist().queues[q].buffers.size(); ++b) by_id_[index.queue_buffer(q, b)] = {q, b};
    // Copies for further readers come in the order of the originals, so a queue's buffers are found by channel and address.
    for (const Buffer& b : graph.buffers)
      if (by_id_.count(b.id) != 0) by_place_[{b.op, b.dram_chan, b.dram_addr}] = by_id_[b.id];
  }
  const std::pair<std::size_t, std::size_t>* find(Id block) const {
    const Buffer* b = buffers_.find(block);
    if (b == nullptr || !b->is_queue() || b->is_padding) return nullptr;
    auto it = by_place_.find({b->op, b->dram_chan, b->dram_addr});
    return it == by_place_.end() ? nullptr : &it->second;
  }
  const BufferIndex& buffers() const { return buffers_; }

 private:
  BufferIndex buffers_;
  std::map<Id, std::pair<std::size_t, std::size_t>> by_id_;
  std::map<std::tuple<std::string, std::int32_t, std::uint64_t>, std::pair<std::size_t, std::size_t>> by_place_;
};

}  // namespace

std::string netlist_queues_text(const NetlistIndex& index, const device::DeviceDescriptor& device) {
  std::string out = "graph_name: queues_graph\n";
  for (std::size_t q = 0; q < index.netlist().queues.size(); ++q) {
    const Queue& queue = index.netlist().queues[q];
    for (std::size_t b = 0; b < queue.buffers.size(); ++b) {
      Id id = index.queue_buffer(q, b);
      auto cols = static_cast<std::size_t>(queue.grid.cols);
      std::uint64_t address = queue.buffers[b].address;
      if (queue.location == netlist::QueueLocation::host) address += device.host.base;
      out += cat("---\nbuffer_", id, ":\n  uniqid: ", id, "\n  id: 0\n  core_coordinates: [", b / cols, ", ", b % cols,
                 "]\n  size_tiles: ", queue.block.mblock_tiles(), "\n  tile_size: ", stored_tile_bytes(index, queue, device.tile_alignment),
                 "\n  dram_chan: ", queue.buffers[b].channel, "\n  dram_addr: ", hex(address), "\n  q_slots: ", queue.entries,
                 "\n  md_op_name: ", io::yaml_scalar(queue.name), '\n');
    }
  }
  return out;
}

std::string padding_table_text(const PaddingTable& padding) {
  if (padding.entries().empty()) return "[]\n";
  std::string out;
  for (const auto& e : padding.entries()) {
    std::string value = to_text(e.value);
    if (value == "inf" || value == "-inf" || value == "nan") value.insert(value.size() - 3, ".");
    out += cat("- address: ", e.address, "\n  data_format: ", static_cast<int>(format_code(e.format)), "\n  padding_value: ", value,
               "\n  size_tiles: ", PaddingTable::kTiles, '\n');
  }
  return out;
}

std::string queue_to_consumer_text(const NetlistIndex& index, const device::DeviceDescriptor& device, const PipeGraph& graph) {
  QueueFinder finder(index, graph);
  QueueCores cores;
  for (const Pipe& p : graph.pipes)
    for (Id block : p.inputs)
      if (const auto* queue = finder.find(block))
        for (const CoreCoord& c : p.mcast_core) cores[*queue].insert(routing_core(device, c.chip, c.core));
  return queue_cores_text(index, cores, "consumers");
}

std::string queue_to_producer_text(const NetlistIndex& index, const device::DeviceDescriptor& device, const PipeGraph& graph) {
  QueueFinder finder(index, graph);
  QueueCores cores;
  for (const Pipe& p : graph.pipes)
    for (const auto& group : p.outputs)
      for (Id id : group) {
        const auto* queue = finder.find(id);
        if (queue == nullptr) continue;
        for (Id block : p.inputs)
          if (const Buffer* b = finder.buffers().find(block)) cores[*queue].insert(routing_core(device, b->chip, b->core));
      }
  // Rams of gradient ops have no pipes: each core writes its own buffer.
  for (const Buffer& b : graph.buffers) {
    if (b.type != BufferType::gradient_op) continue;
    for (std::size_t q : index.queues_written_by(b.op))
      for (std::size_t i = 0; i < index.netlist().queues[q].buffers.size(); ++i) {
        const auto& a = index.netlist().queues[q].buffers[i];
        if (a.channel == b.dram_chan && a.address == b.dram_addr) cores[{q, i}].insert(routing_core(device, b.chip, b.core));
      }
  }
  return queue_cores_text(index, cores, "producers");
}

namespace {

using CorePipes = std::map<RoutingCore, std::set<Id>>;

void add_operand(std::string& out, const NetlistIndex& index, const std::string& name, const CorePipes& pipes) {
  out += cat("      - name: ", io::yaml_scalar(name), "\n        type: ", index.queue(name) != NetlistIndex::kNone ? "queue" : "op",
             "\n        pipes:\n");
  for (const auto& [core, ids] : pipes) {
    const auto& [chip, x, y] = core;
    out += cat("          ", chip, '-', y, '-', x, ":\n");
    for (Id id : ids) out += cat("            - ", id, '\n');
  }
}

// What fills relay buffers, and where it goes on from there.
class RelayPipes {
 public:
  RelayPipes(const PipeGraph& graph, const BufferIndex& buffers) : buffers_(buffers) {
    for (const Pipe& p : graph.pipes) {
      for (const auto& group : p.outputs)
        for (Id id : group)
          if (const Buffer* b = buffers_.find(id); b != nullptr && is_relay(*b)) into_[b->id].push_back(&p);
      for (Id block : p.inputs)
        if (const Buffer* b = buffers_.find(block); b != nullptr && is_relay(*b)) out_of_.emplace(b->id, &p);
    }
  }
  const std::vector<const Pipe*>& into(const Buffer& relay) const {
    static const std::vector<const Pipe*> none;
    auto it = into_.find(relay.id);
    return it == into_.end() ? none : it->second;
  }
  // The first buffer that a pipe reaches, through all relays from chip to chip; null if it reaches none.
  const Buffer* end_of(const Pipe& pipe) const {
    const Pipe* p = &pipe;
    for (std::size_t steps = 0; steps <= out_of_.size(); ++steps) {
      const Buffer* b = buffers_.find(p->outputs.front().front());
      if (b == nullptr || !is_relay(*b) || b->type == BufferType::prolog_relay) return b;
      auto next = out_of_.find(b->id);
      if (next == out_of_.end()) return nullptr;
      p = next->second;
    }
    return nullptr;
  }

 private:
  static bool is_relay(const Buffer& b) {
    return b.type == BufferType::relay || b.type == BufferType::ethernet_relay || b.type == BufferType::prolog_relay;
  }
  const BufferIndex& buffers_;
  std::map<Id, std::vector<const Pipe*>> into_;
  std::map<Id, const Pipe*> out_of_;
};

}  // namespace

std::string op_to_pipe_text(const NetlistIndex& index, const device::DeviceDescriptor& device, const PipeGraph& graph) {
  BufferIndex buffers(graph.buffers);
  const RelayPipes relays(graph, buffers);
  std::map<std::string, std::map<std::int32_t, CorePipes>> into;   // by op and operand
  std::map<std::string, std::map<std::string, CorePipes>> out_of;  // by op and reader
  std::set<std::string> ops;
  for (const Buffer& b : graph.buffers)
    if (!b.is_queue() && b.type != BufferType::relay && b.type != BufferType::ethernet_relay) ops.insert(b.op);
  for (const Pipe& p : graph.pipes) {
    const Buffer* first = relays.end_of(p);
    if (first == nullptr) continue;
    for (const auto& group : p.outputs)
      for (Id id : group)
        if (const Buffer* b = buffers.find(id); b != nullptr && b->type == BufferType::unpacker)
          into[b->op][b->operand][routing_core(device, b->chip, b->core)].insert(p.id);
    // A prologue in two steps reaches an operand by the pipes that read the shares, too.
    for (Id block : p.inputs)
      if (const Buffer* b = buffers.find(block); b != nullptr && b->type == BufferType::prolog_relay)
        for (const Pipe* read : relays.into(*b)) into[first->op][first->operand][routing_core(device, b->chip, b->core)].insert(read->id);
    for (Id block : p.inputs)
      if (const Buffer* b = buffers.find(block); b != nullptr && b->type == BufferType::packer)
        out_of[b->op][first->op][routing_core(device, b->chip, b->core)].insert(p.id);
  }
  std::string out = "ops:\n";
  for (const std::string& name : ops) {
    const netlist::Op* op = index.op(name).op;
    if (op == nullptr) continue;
    out += cat("  ", io::yaml_scalar(name), ":\n    inputs:", into[name].empty() ? " []" : "", '\n');
    for (const auto& [operand, pipes] : into[name])
      if (static_cast<std::size_t>(operand) < op->inputs.size())
        add_operand(out, index, op->inputs[static_cast<std::size_t>(operand)].name, pipes);
    out += cat("    outputs:", out_of[name].empty() ? " []" : "", '\n');
    for (const auto& [reader, pipes] : out_of[name]) add_operand(out, index, reader, pipes);
  }
  return out;
}

}  // namespace buda::pipes
