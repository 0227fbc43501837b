// Tiles on their way from chip to chip: which pipes may leave a chip, where relays are, and that nothing stays behind in them.
#include <buda/pipes/check/checker.hpp>

#include <buda/base/text.hpp>

namespace buda::pipes {

using netlist::Op;

// An ethernet pipe joins the two ends of a cable.
void Checker::check_cable(const Pipe& pipe, const Buffer& from, const Buffer& to) {
  if (cables_.empty())
    for (const device::EthLink& l : links_of(cluster_, device_)) {
      cables_.insert(l);
      cables_.insert({l.to_chip, l.to_channel, l.chip, l.channel});
    }
  const device::EthLink taken{from.chip, from.ethernet_chan.value_or(-1), to.chip, to.ethernet_chan.value_or(-1)};
  if (from.type == BufferType::ethernet_relay && cables_.contains(taken)) return;
  error("PC023", to.op,
        cat("pipe_", pipe.id, " leads over ethernet from channel ", taken.channel, " of chip ", taken.chip, " to channel ",
            taken.to_channel, " of chip ", taken.to_chip, ", which no cable joins"));
}

// A pipe over PCIe joins outputs of one chip and inputs of another that stands next to it in the ring of all that the netlist names, and
// says on which side.
void Checker::check_over_pcie(const Pipe& pipe) {
  std::set<std::int32_t> from, to;
  bool kernels_only = true;
  auto note = [&](Id id, BufferType type, std::set<std::int32_t>& chips) {
    const Buffer* b = buffers_.find(id);
    if (b == nullptr || b->is_padding) return;
    kernels_only = kernels_only && b->type == type;
    chips.insert(b->chip);
  };
  for (Id id : pipe.inputs) note(id, BufferType::packer, from);
  for (const auto& group : pipe.outputs)
    for (Id id : group) note(id, BufferType::unpacker, to);
  const ChipRange ring = index_.chips();
  const bool may = device_.eth.empty() && cluster_.peers && kernels_only && from.size() == 1 && to.size() == 1;
  const std::int32_t chip = from.empty() ? 0 : *from.begin();
  const std::int32_t after = chip == ring.last ? ring.first : chip + 1, before = chip == ring.first ? ring.last : chip - 1;
  const bool downstream = pipe.mmio_downstream == 1;
  if (may && *to.begin() != chip && *to.begin() == (downstream ? after : before) && downstream == (*to.begin() == after)) return;
  error("PC026", "",
        cat("pipe_", pipe.id, " is to lead over PCIe to the chip ", downstream ? "after" : "before", " chip ", chip, ", and leads ",
            kernels_only ? "" : "not from kernel to kernel, ", "to chip ", to.empty() ? -1 : *to.begin(),
            to.size() > 1 ? " and others" : "", from.size() > 1 ? ", from several chips" : ""));
}

// All other pipes stay on a chip, except where a chip writes or reads the memory of the host, or of the next chip through it.
void Checker::check_chips(const Pipe& pipe) {
  if (pipe.ethernet_pipe) {
    const Buffer* from = buffers_.find(pipe.inputs.front());
    for (const auto& group : pipe.outputs)
      for (Id id : group)
        if (const Buffer* to = buffers_.find(id); from != nullptr && to != nullptr) check_cable(pipe, *from, *to);
    return;
  }
  if (pipe.mmio_downstream) return check_over_pcie(pipe);
  const Buffer* first = nullptr;
  auto is_elsewhere = [&](Id id) {
    const Buffer* b = buffers_.find(id);
    if (b == nullptr || b->is_padding || (b->is_queue() && device_.eth.empty())) return false;
    if (first == nullptr) first = b;
    if (b->chip == first->chip) return false;
    error("PC023", b->op,
          cat("pipe_", pipe.id, " joins buffer_", first->id, " on chip ", first->chip, " and buffer_", b->id, " on chip ", b->chip,
              " without a cable"));
    return true;
  };
  for (Id id : pipe.inputs)
    if (is_elsewhere(id)) return;
  for (const auto& group : pipe.outputs)
    for (Id id : group)
      if (is_elsewhere(id)) return;
}

// What comes to a relay in a pass goes on once.
void Checker::check_taken_once(const Buffer& relay, const std::vector<const Pipe*>& readers) {
  std::map<std::int64_t, std::int64_t> taken;  // by first tile
  for (const Pipe* pipe : readers)
    for (Id id : pipe->inputs)
      if (base_id(id) == relay.id) taken[static_cast<std::int64_t>(id - relay.id)] += pipe->repeats();
  const std::int64_t block = std::max<std::int64_t>(relay.scatter_gather_num_tiles, 1);
  for (std::int64_t at = 0; at < relay.window_tiles(); at += block) {
    auto it = taken.find(at);
    if (it != taken.end() && it->second == 1) continue;
    return error(
        "PC024", relay.op,
        cat("the block at tile ", at, " of relay buffer_", relay.id, " is taken ", it == taken.end() ? 0 : it->second, " times in a pass"));
  }
}

// The cable that was asked for, and one memory for what comes and goes.
void Checker::check_ethernet_op(const Op& op, std::int64_t core) {
  auto in = kernel_.find({&op, core, 0});
  auto out = packers_.find({&op, core});
  if (in == kernel_.end() || out == packers_.end()) return;  // said already
  const Buffer *input = in->second, *output = out->second;
  const std::string what = cat("op '", op.name, "', core ", core);
  if (output->buffer_space_shared != input->id || output->ethernet_chan != input->ethernet_chan ||
      input->size_tiles != output->size_tiles * (output->is_scatter ? output->replicate : 1))
    error("PC025", op.name, cat(what, ": its output buffer_", output->id, " is not the memory of its input buffer_", input->id));
  const Buffer* first = nullptr;  // of the ethernet cores on the way
  const Buffer* at = input;
  for (std::size_t steps = 0; steps < graph_.buffers.size(); ++steps) {
    auto feeds = feeds_.find(at->id);
    if (feeds == feeds_.end()) break;
    const Pipe& pipe = graph_.pipes[feeds->second.front().pipe];
    const Buffer* before = buffers_.find(pipe.inputs.front());
    if (at == input && !pipe.ethernet_pipe) error("PC025", op.name, cat(what, ": pipe_", pipe.id, " does not come over a cable"));
    if (before == nullptr || before->type != BufferType::ethernet_relay) break;
    first = at = before;
  }
  const auto& channels = op.attributes.ingress_channels;
  if (first == nullptr || channels.empty()) return;
  const std::int32_t wanted = channels[static_cast<std::size_t>(core)];
  if (first->ethernet_chan.value_or(-1) != wanted)
    error("PC025", op.name, cat(what, ": tiles leave by ethernet channel ", first->ethernet_chan.value_or(-1), ", not ", wanted));
}

void Checker::check_relays() {
  std::map<Id, std::vector<const Pipe*>> readers;
  for (const Pipe& pipe : graph_.pipes) {
    check_chips(pipe);
    for (Id id : pipe.inputs) {
      auto owner = owners_.find(base_id(id));
      if (owner == owners_.end() || owner->second.kind != Owner::Kind::relay) continue;
      auto& list = readers[base_id(id)];
      if (list.empty() || list.back() != &pipe) list.push_back(&pipe);
    }
  }
  for (const Buffer& b : graph_.buffers) {
    if (b.type != BufferType::relay && b.type != BufferType::ethernet_relay) continue;
    check_taken_once(b, readers[b.id]);
    if (b.type == BufferType::relay) continue;
    const auto channel = static_cast<std::size_t>(b.ethernet_chan.value_or(-1));
    if (channel >= device_.eth.size() || !(b.core == GridCoord{device_.eth[channel].y, device_.eth[channel].x}))
      error("PC001", b.op, cat("relay buffer_", b.id, " is on core [", b.core.row, ", ", b.core.col, "], not on an ethernet core"));
  }
  for (const auto* graph : epoch_.graphs)
    for (const Op& op : graph->ops)
      for (std::int64_t core = 0; core < op.grid.volume() && op_class(op.type) == netlist::OpClass::ethernet; ++core)
        check_ethernet_op(op, core);
}

}  // namespace buda::pipes
