// SPDX-License-Identifier: Apache-2.0
// Follows tiles from chip to chip.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/check/check_relays.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace buda::pipes {

using netlist::Op;

namespace {

// An Ethernet pipe connects the two ends of a link.
void check_link(const std::set<device::EthLink>& links, const Pipe& pipe, const Buffer& from, const Buffer& to, Findings& findings) {
  const device::EthLink taken{from.chip, from.ethernet_chan.value_or(-1), to.chip, to.ethernet_chan.value_or(-1)};
  if (from.type == BufferType::ethernet_relay && links.contains(taken)) return;
  findings.error("PC023", to.op,
                 cat("pipe_", pipe.id, " leads over ethernet from channel ", taken.channel, " of chip ", taken.chip, " to channel ",
                     taken.to_channel, " of chip ", taken.to_chip, ", which no link connects"));
}

// A pipe over PCIe leads from outputs of one chip to inputs of its neighbour in the ring of all chips that the netlist names, and states on
// which side that is.
void check_over_pcie(const CheckedEpoch& epoch, const Pipe& pipe, Findings& findings) {
  std::set<std::int32_t> from, to;
  bool kernels_only = true;
  auto note = [&](Id id, BufferType type, std::set<std::int32_t>& chips) {
    const Buffer* b = epoch.buffers.find(id);
    if (b == nullptr || b->is_padding) return;
    kernels_only = kernels_only && b->type == type;
    chips.insert(b->chip);
  };
  for (Id id : pipe.inputs) note(id, BufferType::packer, from);
  for (const auto& group : pipe.outputs)
    for (Id id : group) note(id, BufferType::unpacker, to);
  const ChipRange ring = epoch.index.chips();
  const bool may = epoch.device.eth.empty() && epoch.cluster.peers && kernels_only && from.size() == 1 && to.size() == 1;
  const std::int32_t chip = from.empty() ? 0 : *from.begin();
  const std::int32_t after = chip == ring.last ? ring.first : chip + 1, before = chip == ring.first ? ring.last : chip - 1;
  const bool downstream = pipe.mmio_downstream == 1;
  if (may && *to.begin() != chip && *to.begin() == (downstream ? after : before) && downstream == (*to.begin() == after)) return;
  findings.error("PC026", "",
                 cat("pipe_", pipe.id, " is to lead over PCIe to the chip ", downstream ? "after" : "before", " chip ", chip,
                     ", and leads ", kernels_only ? "" : "not from kernel to kernel, ", "to chip ", to.empty() ? -1 : *to.begin(),
                     to.size() > 1 ? " and others" : "", from.size() > 1 ? ", from several chips" : ""));
}

// All other pipes stay on a chip, except where a chip writes or reads the memory of the host, or of the next chip through it.
void check_chips(const CheckedEpoch& epoch, const std::set<device::EthLink>& links, const Pipe& pipe, Findings& findings) {
  if (pipe.ethernet_pipe) {
    const Buffer* from = epoch.buffers.find(pipe.inputs.front());
    for (const auto& group : pipe.outputs)
      for (Id id : group)
        if (const Buffer* to = epoch.buffers.find(id); from != nullptr && to != nullptr) check_link(links, pipe, *from, *to, findings);
    return;
  }
  if (pipe.mmio_downstream) return check_over_pcie(epoch, pipe, findings);
  const Buffer* first = nullptr;
  auto is_elsewhere = [&](Id id) {
    const Buffer* b = epoch.buffers.find(id);
    if (b == nullptr || b->is_padding || (b->is_queue() && epoch.device.eth.empty())) return false;
    if (first == nullptr) first = b;
    if (b->chip == first->chip) return false;
    findings.error("PC023", b->op,
                   cat("pipe_", pipe.id, " connects buffer_", first->id, " on chip ", first->chip, " and buffer_", b->id, " on chip ",
                       b->chip, " without a link"));
    return true;
  };
  for (Id id : pipe.inputs)
    if (is_elsewhere(id)) return;
  for (const auto& group : pipe.outputs)
    for (Id id : group)
      if (is_elsewhere(id)) return;
}

// What comes to a relay in a pass goes on once.
void check_taken_once(const Buffer& relay, const std::vector<const Pipe*>& readers, Findings& findings) {
  std::map<std::int64_t, std::int64_t> taken;  // by first tile
  for (const Pipe* pipe : readers)
    for (Id id : pipe->inputs)
      if (base_id(id) == relay.id) taken[static_cast<std::int64_t>(id - relay.id)] += pipe->repeats();
  const std::int64_t block = std::max<std::int64_t>(relay.scatter_gather_num_tiles, 1);
  for (std::int64_t at = 0; at < relay.window_tiles(); at += block) {
    auto it = taken.find(at);
    if (it != taken.end() && it->second == 1) continue;
    return findings.error(
        "PC024", relay.op,
        cat("the block at tile ", at, " of relay buffer_", relay.id, " is taken ", it == taken.end() ? 0 : it->second, " times in a pass"));
  }
}

// The link that was asked for, and one memory for input and output.
void check_ethernet_op(const Checked& checked, const Op& op, std::int64_t core, Findings& findings) {
  const CheckedEpoch& epoch = checked.epoch;
  const Buffer *input = checked.owners.input(op, core, 0), *output = checked.owners.output(op, core);
  if (input == nullptr || output == nullptr) return;  // reported already
  const std::string what = cat("op '", op.name, "', core ", core);
  if (output->buffer_space_shared != input->id || output->ethernet_chan != input->ethernet_chan ||
      input->size_tiles != output->size_tiles * (output->is_scatter ? output->replicate : 1))
    findings.error("PC025", op.name, cat(what, ": its output buffer_", output->id, " is not the memory of its input buffer_", input->id));
  const Buffer* first = nullptr;  // of the Ethernet cores of the route
  const Buffer* at = input;
  for (std::size_t steps = 0; steps < epoch.graph.buffers.size(); ++steps) {
    const Pipe* pipe = checked.feeding(*at);
    if (pipe == nullptr) break;
    const Buffer* before = epoch.buffers.find(pipe->inputs.front());
    if (at == input && !pipe->ethernet_pipe) findings.error("PC025", op.name, cat(what, ": pipe_", pipe->id, " does not come over a link"));
    if (before == nullptr || before->type != BufferType::ethernet_relay) break;
    first = at = before;
  }
  const auto& channels = op.attributes.ingress_channels;
  if (first == nullptr || channels.empty()) return;
  const std::int32_t wanted = channels[static_cast<std::size_t>(core)];
  if (first->ethernet_chan.value_or(-1) != wanted)
    findings.error("PC025", op.name, cat(what, ": tiles leave by ethernet channel ", first->ethernet_chan.value_or(-1), ", not ", wanted));
}

// The links, in both directions.
std::set<device::EthLink> links_both_ways(const CheckedEpoch& epoch) {
  std::set<device::EthLink> out;
  for (const device::EthLink& l : links_of(epoch.cluster, epoch.device)) {
    out.insert(l);
    out.insert({l.to_chip, l.to_channel, l.chip, l.channel});
  }
  return out;
}

void check_relay(const CheckedEpoch& epoch, const Buffer& b, const std::vector<const Pipe*>& readers, Findings& findings) {
  check_taken_once(b, readers, findings);
  if (b.type == BufferType::relay) return;
  const auto& eth = epoch.device.eth;
  const auto channel = static_cast<std::size_t>(b.ethernet_chan.value_or(-1));
  if (channel >= eth.size() || !(b.core == GridCoord{eth[channel].y, eth[channel].x}))
    findings.error("PC001", b.op, cat("relay buffer_", b.id, " is on core [", b.core.row, ", ", b.core.col, "], not on an ethernet core"));
}

}  // namespace

void check_relays(const Checked& checked, Findings& findings) {
  const CheckedEpoch& epoch = checked.epoch;
  const std::set<device::EthLink> links = links_both_ways(epoch);
  std::map<Id, std::vector<const Pipe*>> readers;
  for (const Pipe& pipe : epoch.graph.pipes) {
    check_chips(epoch, links, pipe, findings);
    for (Id id : pipe.inputs) {
      if (!checked.owners.is_relay(epoch.buffers.find(base_id(id)))) continue;
      auto& list = readers[base_id(id)];
      if (list.empty() || list.back() != &pipe) list.push_back(&pipe);
    }
  }
  for (const Buffer& b : epoch.graph.buffers) {
    if (b.type != BufferType::relay && b.type != BufferType::ethernet_relay) continue;
    check_relay(epoch, b, readers[b.id], findings);
  }
  for (const auto* graph : epoch.epoch.graphs)
    for (const Op& op : graph->ops)
      for (std::int64_t core = 0; core < op.grid.volume() && ops::runs_on_ethernet(op.type); ++core)
        check_ethernet_op(checked, op, core, findings);
}

}  // namespace buda::pipes
