// Streams first, then the connections between them, then kernels, then what must arrive.
#include <buda/sim/build_machine.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/check/consumption.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>
#include <buda/sim/topology.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace buda::sim {
namespace {

using overlay::Blob;
using overlay::Stream;
using overlay::StreamKind;
using overlay::StreamRef;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

Diagnostic not_simulated(const std::string& what, const std::string& op) {
  Diagnostic d = input_error("SM001", {}, cat("the simulator does not execute ", what));
  d.node = op;
  return d;
}

struct Building {
  const EpochSetup& setup;
  Machine& m;
  Topology topology;
  std::map<StreamRef, StreamId> ids;
  std::map<pipes::Id, TileSource> sources;                                    // of queue buffers
  std::map<std::pair<const netlist::Op*, std::int64_t>, TileSource> outputs;  // by op and core

  const Blob& blob() const { return *m.blob; }
};

// The number of an op's core, row by row.
std::int64_t core_number(const netlist::Op& op, GridCoord worker) {
  const std::int32_t r = worker.row - op.grid_loc.row, c = worker.col - op.grid_loc.col;
  return op.grid_transpose ? std::int64_t{c} * op.grid.cols + r : std::int64_t{r} * op.grid.cols + c;
}

// Not of cores that only pass tiles on.
bool has_kernel(const overlay::Core& core) {
  return std::any_of(core.streams.begin(), core.streams.end(), [](const Stream& s) {
    return s.kind == StreamKind::input || s.kind == StreamKind::output || s.kind == StreamKind::intermediate;
  });
}

Result<void> refuse_unsupported(const Building& b) {
  Failure failure;
  for (const overlay::Core& core : b.blob().cores) {
    if (core.ethernet && has_kernel(core)) failure.add(not_simulated(cat("op '", core.op, "' on an ethernet core"), core.op));
    for (const Stream& s : core.streams) {
      if (s.pcie) failure.add(not_simulated("streams over PCIe", core.op));
      if (s.write && s.write->after_epoch) failure.add(not_simulated(cat("gradients, as those of op '", core.op, "'"), core.op));
    }
    if (!failure.empty()) break;
  }
  if (!failure.empty()) return failure;
  return success();
}

void add_streams(Building& b) {
  for (std::uint32_t c = 0; c < b.blob().cores.size(); ++c)
    for (const Stream& s : b.blob().cores[c].streams) {
      if (s.kind == StreamKind::intermediate) continue;
      const auto id = static_cast<StreamId>(b.m.streams.size());
      b.ids[{static_cast<std::int32_t>(c), s.number}] = id;
      StreamState state;
      state.program = &s;
      state.core = c;
      state.owner = id;
      state.phase = PhaseCursor(s);
      b.m.streams.push_back(std::move(state));
    }
}

// Where a stream's tiles come from, and the buffer that they are in.
void find_supply(Building& b, StreamId id) {
  StreamState& s = b.m.streams[id];
  const Stream& p = *s.program;
  if (p.fork_of >= 0) s.owner = b.ids.at({static_cast<std::int32_t>(s.core), p.fork_of});
  const Stream& owner = *b.m.streams[s.owner].program;
  if (!p.sources.empty()) {
    s.supply = Supply::received;
  } else if (owner.read) {
    s.supply = owner.read->before_epoch ? Supply::kept : Supply::memory;
  } else {
    s.supply = Supply::kernel;
  }
  s.storage.capacity = p.message_bytes == 0 ? 0 : static_cast<std::int64_t>(p.bytes) / p.message_bytes;
  if (p.kind != StreamKind::input) return;
  const auto larger = b.setup.input_tiles.find({b.blob().cores[s.core].op, p.operand});
  if (larger != b.setup.input_tiles.end()) s.storage.capacity = std::max(s.storage.capacity, larger->second);
}

void connect(Building& b, StreamId id) {
  StreamState& s = b.m.streams[id];
  const Stream& p = *s.program;
  const overlay::Core& core = b.blob().cores[s.core];
  for (const StreamRef& from : p.sources) s.receiving.senders.push_back(b.ids.at(from));
  for (const overlay::Destination& to : p.destinations) {
    Connection connection;
    std::vector<const overlay::Core*> cores;
    for (std::int32_t c : b.blob().cores_of(to)) {
      connection.receivers.push_back(b.ids.at({c, to.first.stream}));
      cores.push_back(&b.blob().cores[static_cast<std::size_t>(c)]);
    }
    const bool leaves_chip = !cores.empty() && cores.front()->chip != core.chip;
    connection.path = leaves_chip ? b.topology.ethernet(core, *cores.front()) : b.topology.send(core, p.noc_out, cores);
    s.sending.connections.push_back(std::move(connection));
  }
  if (p.read) {
    s.reading = std::make_unique<Reading>();
    s.reading->list = ReadList(*p.read);
    for (const overlay::ReadBuffer& buffer : p.read->buffers) {
      const auto dram = static_cast<std::size_t>(buffer.dram);
      s.reading->paths.push_back(b.topology.read(b.blob().dram[dram], core, p.noc_in));
      b.m.queues[dram].readers.push_back(id);
    }
    s.reading->all = p.read->before_epoch ? s.reading->list.pass_tiles() : p.messages();
  }
  if (p.write) {
    const auto dram = static_cast<std::size_t>(p.write->dram);
    s.writing = std::make_unique<Writing>();
    s.writing->path = b.topology.write(core, b.blob().dram[dram], p.noc_out);
    s.writing->per_input = std::max<std::int64_t>(p.messages() / b.m.inputs, 1);
    b.m.queues[dram].writers.push_back(id);
  }
}

void add_queues(Building& b, const EntriesByQueue& entries) {
  const auto& index = b.setup.index;
  for (const overlay::DramBuffer& buffer : b.blob().dram) {
    QueueState q;
    q.tiles = buffer.entry_tiles;
    q.ready = q.room = kNoLimit;
    if (!buffer.padding) {
      auto [it, fresh] = b.sources.try_emplace(buffer.id, static_cast<TileSource>(b.m.source_names.size()));
      if (fresh) b.m.source_names.push_back(cat("queue '", buffer.queue, '\''));
      q.source = it->second;
      q.queue = index.queue(buffer.queue);
      if (auto found = entries.find(q.queue); found != entries.end() && !buffer.ram) {
        q.ready = found->second.ready;
        q.room = found->second.room;
      }
    }
    b.m.queues.push_back(std::move(q));
  }
}

// The core's kernel, with its streams; what it takes for an input is completed later.
Result<void> add_kernel(Building& b, std::uint32_t c) {
  const overlay::Core& core = b.blob().cores[c];
  const netlist::Op* op = b.setup.index.op(core.op).op;
  if (op == nullptr)
    return input_error("SM001", {}, cat("the stream program has cores of op '", core.op, "', which the netlist does not have"));
  KernelState k;
  k.op = op;
  k.core = c;
  k.operands.assign(op->inputs.size(), kNone);
  const auto id = static_cast<KernelId>(b.m.kernels.size());
  for (const Stream& p : core.streams) {
    if (p.kind != StreamKind::input && p.kind != StreamKind::output && p.kind != StreamKind::fork) continue;
    const StreamId stream = b.ids.at({static_cast<std::int32_t>(c), p.number});
    StreamState& s = b.m.streams[stream];
    s.kernel = id;
    if (p.kind == StreamKind::input && static_cast<std::size_t>(p.operand) < k.operands.size())
      k.operands[static_cast<std::size_t>(p.operand)] = stream;
    if (p.kind != StreamKind::output) continue;
    k.output = stream;
    s.source = static_cast<TileSource>(b.m.source_names.size());
    b.m.source_names.push_back(name_of_core(b.m, c));
    b.outputs[{op, core_number(*op, core.core)}] = s.source;
  }
  k.tile_time.assign(k.operands.size(), 0);
  b.m.kernels.push_back(std::move(k));
  return success();
}

ExpectedTiles expected_tiles(const Building& b, const pipes::Consumption& consumption) {
  ExpectedTiles out;
  out.per_input = consumption.per_input;
  for (const pipes::ConsumedRun& run : consumption.runs) {
    TileRun tiles{kPadding, run.first, run.count};
    if (run.from == pipes::ConsumedRun::From::op) {
      auto found = b.outputs.find({run.op, run.core});
      tiles.source = found == b.outputs.end() ? kUnknown : found->second;
    } else if (run.from == pipes::ConsumedRun::From::queue) {
      auto found = b.sources.find(run.queue_buffer);
      tiles.source = found == b.sources.end() ? kUnknown : found->second;
    }
    out.runs.push_back(tiles);
  }
  return out;
}

Result<void> plan_kernel(Building& b, KernelState& k, const pipes::Consumptions& consumptions) {
  const netlist::Op& op = *k.op;
  const std::int64_t core = core_number(op, b.blob().cores[k.core].core);
  KernelContext context{op, pipes::fused_op_of(b.setup.index.netlist(), op), core, {}};
  for (std::size_t i = 0; i < k.operands.size(); ++i) {
    KernelOperand operand;
    if (k.operands[i] == kNone) {
      context.operands.push_back(operand);
      continue;
    }
    StreamState& s = b.m.streams[k.operands[i]];
    operand.kept = s.supply == Supply::kept;
    operand.tiles = operand.kept ? s.reading->all : s.program->messages() / b.m.inputs;
    BUDA_ASSIGN(auto consumption, consumptions.input(op, i, core, b.m.inputs));
    if (consumption) {
      operand.at_once = consumption->at_once;
      operand.tiles = consumption->tiles;
      if (b.setup.check_tiles) s.check = std::make_unique<TileCheck>(expected_tiles(b, *consumption));
    }
    context.operands.push_back(operand);
  }
  BUDA_ASSIGN(k.plan, b.setup.cores.plan(context));
  k.steps = k.plan.steps() * b.m.inputs;
  // An output that nobody takes is no reason to wait.
  if (k.output != kNone && b.m.streams[k.output].storage.users.empty()) k.output = kNone;
  return success();
}

Result<void> expect_stored(Building& b, const pipes::Consumptions& consumptions) {
  const auto& index = b.setup.index;
  for (std::size_t d = 0; d < b.m.queues.size(); ++d) {
    const QueueState& q = b.m.queues[d];
    if (q.writers.size() != 1 || b.blob().dram[d].padding) continue;
    const netlist::Queue& queue = index.netlist().queues[q.queue];
    const netlist::Op* op = index.writer(queue);
    if (op == nullptr) continue;
    std::int64_t buffer = 0;
    while (buffer < queue.grid.volume() && index.queue_buffer(q.queue, static_cast<std::size_t>(buffer)) != b.blob().dram[d].id) ++buffer;
    BUDA_ASSIGN(auto stored, consumptions.stored(queue, buffer, *op, b.m.inputs));
    if (stored) b.m.streams[q.writers.front()].check = std::make_unique<TileCheck>(expected_tiles(b, *stored));
  }
  return success();
}

}  // namespace

Result<std::unique_ptr<Machine>> build_machine(const EpochSetup& setup, const EntriesByQueue& entries) {
  auto machine = std::make_unique<Machine>();
  machine->blob = setup.blob;
  machine->check_tiles = setup.check_tiles;
  Building b{setup, *machine, Topology(setup.device, machine->fabric), {}, {}, {}};
  for (const auto* graph : setup.epoch.graphs) machine->inputs = std::max<std::int64_t>(machine->inputs, graph->input_count);
  BUDA_TRY(refuse_unsupported(b));
  add_queues(b, entries);
  add_streams(b);
  for (StreamId id = 0; id < machine->streams.size(); ++id) find_supply(b, id);
  for (StreamId id = 0; id < machine->streams.size(); ++id) connect(b, id);
  for (StreamId id = 0; id < machine->streams.size(); ++id)
    if (machine->streams[id].goes_on()) machine->streams[machine->streams[id].owner].storage.users.push_back(id);
  for (std::uint32_t c = 0; c < setup.blob->cores.size(); ++c)
    if (has_kernel(setup.blob->cores[c])) BUDA_TRY(add_kernel(b, c));
  const pipes::Consumptions consumptions(setup.index, setup.device, setup.epoch, setup.padding);
  for (KernelState& k : machine->kernels) BUDA_TRY(plan_kernel(b, k, consumptions));
  if (setup.check_tiles) BUDA_TRY(expect_stored(b, consumptions));
  return machine;
}

}  // namespace buda::sim
