// SPDX-License-Identifier: Apache-2.0
// Streams first, then the connections between them, then kernels.
#include <buda/sim/epoch/build_machine.hpp>

#include <buda/base/text.hpp>
#include <buda/sim/epoch/building.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace buda::sim {
namespace {

using overlay::Stream;
using overlay::StreamKind;
using overlay::StreamRef;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

bool has_several_chips(const overlay::Blob& blob) {
  return std::any_of(blob.cores.begin(), blob.cores.end(), [&](const overlay::Core& core) { return core.chip != blob.cores.front().chip; });
}

void add_streams(Building& b) {
  for (std::uint32_t c = 0; c < b.blob().cores.size(); ++c)
    for (const Stream& s : b.blob().cores[c].streams) {
      // Sums that no queue keeps are the kernel's own.
      if (s.kind == StreamKind::intermediate && !s.write) continue;
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
  s.supply = supply_of(p, *b.m.streams[s.owner].program);
  s.storage.capacity = buffer_tiles(p);
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
    if (p.pcie && !cores.empty()) {
      connection.path = b.topology.pcie(core, p.noc_out, p.pcie->port, *cores.front());
    } else if (!cores.empty() && cores.front()->chip != core.chip) {
      connection.path = b.topology.ethernet(core, *cores.front());
    } else {
      connection.path = b.topology.send(core, p.noc_out, cores);
    }
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
    s.writing->per_input = std::max<std::int64_t>(p.write->after_epoch ? p.messages() : p.messages() / b.m.inputs, 1);
    b.m.queues[dram].writers.push_back(id);
  }
}

// Buffers in which an op adds up gradients have the name of the op.
std::size_t queue_of(const pipes::NetlistIndex& index, const overlay::DramBuffer& buffer) {
  const std::size_t queue = index.queue(buffer.queue);
  const auto& written = index.queues_written_by(buffer.queue);
  return queue == pipes::NetlistIndex::kNone && !written.empty() ? written.front() : queue;
}

void add_queues(Building& b, const EntriesByQueue& entries) {
  const auto& index = b.setup.index;
  std::map<std::tuple<std::int32_t, bool, std::int32_t, std::uint64_t>, TileSource> places;
  for (const overlay::DramBuffer& buffer : b.blob().dram) {
    QueueState q;
    q.tiles = buffer.entry_tiles;
    q.ready = q.room = kNoLimit;
    if (!buffer.padding) {
      // Each op that reads a buffer before the epoch has an id of its own for it.
      auto [it, fresh] =
          places.try_emplace({buffer.chip, buffer.host, buffer.channel, buffer.address}, static_cast<TileSource>(b.m.source_names.size()));
      if (fresh) b.m.source_names.push_back(cat("queue '", buffer.queue, '\''));
      q.source = b.sources[buffer.id] = it->second;
      q.queue = queue_of(index, buffer);
      if (auto found = entries.find(q.queue); found != entries.end() && !buffer.ram) {
        q.ready = found->second.ready;
        q.room = found->second.room;
        q.frees = found->second.frees;
        b.m.frees_entries = b.m.frees_entries || q.frees != 0;
      }
      b.m.buffers_of[q.queue].push_back(static_cast<std::uint32_t>(b.m.queues.size()));
    }
    b.m.queues.push_back(std::move(q));
  }
}

}  // namespace

Diagnostic not_simulated(const std::string& what, const std::string& op) {
  Diagnostic d = input_error("SM001", {}, cat("the simulator does not execute ", what));
  d.node = op;
  return d;
}

Result<std::unique_ptr<Machine>> build_machine(const EpochSetup& setup, const EntriesByQueue& entries) {
  auto machine = std::make_unique<Machine>();
  machine->blob = setup.blob;
  machine->check_tiles = setup.check_tiles;
  machine->chunk_tiles = setup.chunk_tiles;
  machine->jitter = Jitter(setup.jitter);
  machine->fabric.vary(Jitter(setup.jitter));
  if (setup.keep_arrivals) machine->arrivals = std::make_shared<Arrivals>();
  Building b{setup, *machine, Topology(setup.device, machine->fabric, has_several_chips(*setup.blob), setup.transfers), {}, {}, {}};
  for (const auto* graph : setup.epoch.graphs) machine->inputs = std::max<std::int64_t>(machine->inputs, graph->input_count);
  add_queues(b, entries);
  add_streams(b);
  for (StreamId id = 0; id < machine->streams.size(); ++id) find_supply(b, id);
  for (StreamId id = 0; id < machine->streams.size(); ++id) connect(b, id);
  for (StreamId id = 0; id < machine->streams.size(); ++id)
    if (machine->streams[id].goes_on()) machine->streams[machine->streams[id].owner].storage.users.push_back(id);
  if (setup.check_tiles) BUDA_TRY(check_memory(b));
  BUDA_TRY(add_kernels(b));
  machine->core_last.assign(setup.blob->cores.size(), 0);
  machine->core_starts = setup.core_starts;
  machine->core_starts.resize(setup.blob->cores.size(), 0);
  for (StreamState& s : machine->streams) s.loaded = machine->core_starts[s.core] == 0;
  return machine;
}

}  // namespace buda::sim
