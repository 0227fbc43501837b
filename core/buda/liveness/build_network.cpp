// SPDX-License-Identifier: Apache-2.0
// Streams first, then queues and the connections between them, then kernels.
#include <buda/liveness/network.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::liveness {
namespace {

using netlist::Op;
using overlay::StreamKind;

std::string place_of(const overlay::Core& core) {
  return core.ethernet ? cat("ethernet channel ", *core.ethernet) : cat('[', core.core.row, ", ", core.core.col, ']');
}

class Builder {
 public:
  Builder(const EpochProgram& program, const EntriesByQueue& entries, Relays relays)
      : program_(program), blob_(program.blob), index_(program.compiler.index()), entries_(entries), relays_(relays) {}

  Result<Network> build() {
    n_.blob = &blob_;
    for (const auto* graph : program_.epoch.graphs) n_.inputs = std::max<std::int64_t>(n_.inputs, graph->input_count);
    for (const pipes::Buffer& buffer : program_.pipes.buffers) granules_[buffer.id] = buffer.tile_clear_granularity;
    add_queues();
    add_streams();
    for (Stream& s : n_.streams) find_supply(s);
    for (StreamId id = 0; id < n_.streams.size(); ++id) connect(id);
    for (StreamId id = 0; id < n_.streams.size(); ++id)
      if (n_.streams[id].goes_on()) n_.streams[n_.streams[id].owner].buffer.users.push_back(id);
    merge_phases();
    for (std::uint32_t c = 0; c < blob_.cores.size(); ++c)
      if (!blob_.cores[c].ethernet) BUDA_TRY(add_worker(c));
    BUDA_TRY(add_ethernet_ops());
    for (Kernel& k : n_.kernels) plan(k);
    return std::move(n_);
  }

 private:
  void add_queues() {
    for (const overlay::DramBuffer& buffer : blob_.dram) {
      QueueBuffer q;
      if (!buffer.padding) {
        q.queue = index_.queue(buffer.queue);
        const auto& written = index_.queues_written_by(buffer.queue);  // sums of gradients have the name of their op
        if (q.queue == pipes::NetlistIndex::kNone && !written.empty()) q.queue = written.front();
        if (auto found = entries_.find(q.queue); found != entries_.end() && !buffer.ram) {
          q.ready = found->second.ready;
          q.room = found->second.room;
          q.frees = found->second.frees;
        }
      }
      n_.queues.push_back(std::move(q));
    }
  }

  void add_streams() {
    for (std::uint32_t c = 0; c < blob_.cores.size(); ++c)
      for (const overlay::Stream& program : blob_.cores[c].streams) {
        // Sums that no queue keeps are the kernel's own.
        if (program.kind == StreamKind::intermediate && !program.write) continue;
        const auto id = static_cast<StreamId>(n_.streams.size());
        ids_[{static_cast<std::int32_t>(c), program.number}] = id;
        Stream s;
        s.program = &program;
        s.core = c;
        s.owner = id;
        s.phase = Phases(program);
        n_.streams.push_back(std::move(s));
      }
  }

  void find_supply(Stream& s) {
    const overlay::Stream& p = *s.program;
    if (p.fork_of >= 0) s.owner = ids_.at({static_cast<std::int32_t>(s.core), p.fork_of});
    s.supply = sim::supply_of(p, *n_.streams[s.owner].program);
    s.buffer.capacity = sim::buffer_tiles(p);
  }

  void connect(StreamId id) {
    Stream& s = n_.streams[id];
    const overlay::Stream& p = *s.program;
    for (const overlay::StreamRef& from : p.sources) s.senders.push_back(ids_.at(from));
    for (const overlay::Destination& to : p.destinations) {
      s.receivers.emplace_back();
      for (std::int32_t c : blob_.cores_of(to)) s.receivers.back().push_back(ids_.at({c, to.first.stream}));
    }
    if (p.read) {
      s.list.emplace(*p.read);
      s.to_read = p.read->before_epoch ? s.list->pass_tiles() : p.messages();
      for (const overlay::ReadBuffer& buffer : p.read->buffers) n_.queues[static_cast<std::size_t>(buffer.dram)].readers.push_back(id);
    }
    if (p.write) {
      s.entry_tiles = std::max<std::int64_t>(p.write->after_epoch ? p.messages() : p.messages() / n_.inputs, 1);
      n_.queues[static_cast<std::size_t>(p.write->dram)].writers.push_back(id);
    }
  }

  // Whether a stream has one sender, which sends it all that it receives, in order.
  bool has_plain_sender(const Stream& s) const {
    if (s.supply != Supply::received || s.senders.size() != 1) return false;
    const Stream& from = n_.streams[s.senders.front()];
    return !from.program->pcie && from.receivers.size() == 1 && from.program->messages() == s.program->messages();
  }

  // Whether a stream sends to streams that take whatever comes.
  bool has_plain_receivers(const Stream& s) const {
    if (s.program->scattered || s.program->pcie || s.receivers.size() != 1) return false;
    return std::all_of(s.receivers.front().begin(), s.receivers.front().end(), [&](StreamId r) { return n_.streams[r].phase.merged(); });
  }

  // Where borders of phases mean nothing, from the ends of the streams on.
  void merge_phases() {
    for (Stream& s : n_.streams) {
      if (!s.goes_on() && has_plain_sender(s)) s.phase.merge();
      if (s.senders.empty() && s.writes() && !s.sends() && !s.program->scattered) s.phase.merge();
    }
    for (bool more = true; more;) {
      more = false;
      for (Stream& s : n_.streams) {
        if (s.phase.merged() || s.phase.done() || !s.sends() || !has_plain_receivers(s)) continue;
        if (s.supply == Supply::received) {
          if (relays_ == Relays::exact || !has_plain_sender(s) || s.buffer.users.size() != 1) continue;
          s.buffer.capacity = std::min<std::int64_t>(s.buffer.capacity, 1);
          n_.restricted = true;
        }
        s.phase.merge();
        more = true;
      }
    }
  }

  KernelId new_kernel(const Op& op, std::uint32_t core, std::int64_t number) {
    Kernel k;
    k.op = &op;
    k.core = core;
    k.number = number;
    k.operands.assign(op.inputs.size(), kNone);
    n_.kernels.push_back(std::move(k));
    return static_cast<KernelId>(n_.kernels.size() - 1);
  }

  Result<void> add_worker(std::uint32_t c) {
    const overlay::Core& core = blob_.cores[c];
    auto belongs = [](const overlay::Stream& p) {
      return p.kind == StreamKind::input || p.kind == StreamKind::output || p.kind == StreamKind::fork ||
             p.kind == StreamKind::intermediate;
    };
    // Other cores only pass tiles on.
    if (!std::any_of(core.streams.begin(), core.streams.end(), [&](const auto& p) { return belongs(p) && p.kind != StreamKind::fork; }))
      return success();
    const Op* op = index_.op(core.op).op;
    if (op == nullptr) return strange(cat("has cores of op '", core.op, "', which the netlist does not have"));
    const std::int32_t r = core.core.row - op->grid_loc.row, col = core.core.col - op->grid_loc.col;
    const std::int64_t number = op->grid_transpose ? std::int64_t{col} * op->grid.cols + r : std::int64_t{r} * op->grid.cols + col;
    const KernelId id = new_kernel(*op, c, number);
    Kernel& k = n_.kernels[id];
    for (const overlay::Stream& p : core.streams) {
      const auto found = ids_.find({static_cast<std::int32_t>(c), p.number});
      if (found == ids_.end() || !belongs(p)) continue;
      n_.streams[found->second].kernel = id;
      if (p.kind == StreamKind::input && static_cast<std::size_t>(p.operand) < k.operands.size())
        k.operands[static_cast<std::size_t>(p.operand)] = found->second;
      if (p.kind == StreamKind::intermediate) k.sums = found->second;
      if (p.kind == StreamKind::output) k.output = found->second;
    }
    return success();
  }

  // The cores of Ethernet copies are known by the order of their buffers: op by op, and core by core.
  Result<void> add_ethernet_ops() {
    std::map<pipes::Id, StreamId> inputs;
    for (StreamId id = 0; id < n_.streams.size(); ++id) {
      const Stream& s = n_.streams[id];
      if (blob_.cores[s.core].ethernet && s.program->kind == StreamKind::input) inputs[s.program->buffer] = id;
    }
    auto next = inputs.begin();
    for (const auto* graph : program_.epoch.graphs)
      for (const Op& op : graph->ops) {
        if (!ops::runs_on_ethernet(op.type)) continue;
        for (std::int64_t number = 0; number < op.grid.volume(); ++number, ++next) {
          if (next == inputs.end()) return strange(cat("lacks cores of op '", op.name, '\''));
          add_copy(op, number, next->second);
        }
      }
    if (next != inputs.end()) return strange("has Ethernet cores that are of no op");
    return success();
  }

  void add_copy(const Op& op, std::int64_t number, StreamId input) {
    const std::uint32_t core = n_.streams[input].core;
    const KernelId id = new_kernel(op, core, number);
    Kernel& k = n_.kernels[id];
    k.operands.front() = input;
    n_.streams[input].kernel = id;
    for (const overlay::Stream& p : blob_.cores[core].streams)
      if (p.kind == StreamKind::output && p.address == n_.streams[input].program->address)
        k.output = ids_.at({static_cast<std::int32_t>(core), p.number});
    k.passes_on = k.output != kNone;
    for (Stream& s : n_.streams)
      if (k.output != kNone && s.owner == k.output) s.kernel = id;
  }

  // What the kernel takes for each input of the graph, and how much at once: its granules.
  void plan(Kernel& k) {
    std::vector<sim::KernelOperand> operands;
    for (StreamId id : k.operands) {
      sim::KernelOperand operand;
      if (id != kNone) {
        const Stream& s = n_.streams[id];
        operand.kept = s.supply == Supply::kept;
        operand.tiles = operand.kept ? s.to_read : s.program->messages() / n_.inputs;
        const auto granule = granules_.find(s.program->buffer);
        operand.at_once = granule == granules_.end() ? 1 : std::max<std::int64_t>(granule->second, 1);
      }
      operands.push_back(operand);
    }
    k.plan = sim::plan_steps(*k.op, operands);
    k.steps = k.plan.steps() * n_.inputs;
    // An output that nobody takes is no reason to wait.
    if (k.output != kNone && n_.streams[k.output].buffer.users.empty()) k.output = kNone;
    k.passes_on = k.passes_on && k.output != kNone;
    if (k.sums == kNone) return;
    // Sums are there before the first step, and never freed.
    sim::KernelPlan::Operand sums;
    sums.tiles = n_.streams[k.sums].to_read;
    sums.kept = true;
    k.plan.operands.push_back(sums);
    k.operands.push_back(k.sums);
  }

  static Diagnostic strange(const std::string& what) { return input_error("LV003", {}, cat("the stream program ", what)); }

  const EpochProgram& program_;
  const overlay::Blob& blob_;
  const pipes::NetlistIndex& index_;
  const EntriesByQueue& entries_;
  const Relays relays_;
  Network n_;
  std::map<overlay::StreamRef, StreamId> ids_;
  std::map<pipes::Id, std::int64_t> granules_;  // by buffer
};

}  // namespace

std::string name_of(const Network& n, const Kernel& kernel) {
  return cat('\'', kernel.op->name, "' ", place_of(n.blob->cores[kernel.core]));
}

std::string name_of(const Network& n, const Stream& stream) {
  const overlay::Core& core = n.blob->cores[stream.core];
  const std::string where = stream.kernel != kNone ? name_of(n, n.kernels[stream.kernel])
                            : core.op.empty()      ? cat("core ", place_of(core))
                                                   : cat('\'', core.op, "' ", place_of(core));
  switch (stream.program->kind) {
    case StreamKind::input:
      return cat("input ", stream.program->operand, " of ", where);
    case StreamKind::output:
    case StreamKind::fork:
      return cat("the output of ", where);
    default:
      return cat(overlay::stream_kind_name(stream.program->kind), ' ', stream.program->number, " of ", where);
  }
}

Result<Network> build_network(const EpochProgram& program, const EntriesByQueue& entries, Relays relays) {
  return Builder(program, entries, relays).build();
}

}  // namespace buda::liveness
