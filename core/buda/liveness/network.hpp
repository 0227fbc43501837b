// SPDX-License-Identifier: Apache-2.0
// An epoch as a network of kernels, streams and queues with bounded buffers between them: what tokens go through. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/liveness/phases.hpp>
#include <buda/liveness/queue_entries.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/sim/cores/kernel_plan.hpp>
#include <buda/sim/tiles/read_list.hpp>
#include <buda/sim/tiles/supply.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::liveness {

using Node = std::uint32_t;  // streams, then kernels
using StreamId = std::uint32_t;
using KernelId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffff;
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

using sim::Supply;

// A buffer in L1. Counts are tiles since the epoch began.
struct Buffer {
  std::int64_t capacity = 0;
  std::int64_t put = 0, taken = 0;
  std::vector<StreamId> users;  // streams that send or write what is in it; it is free when the slowest has
  std::int64_t room() const { return capacity - (put - taken); }
};

struct Stream {
  const overlay::Stream* program = nullptr;
  std::uint32_t core = 0;  // in Blob::cores
  Supply supply = Supply::received;
  StreamId owner = 0;       // of the buffer and the read list that it takes from
  KernelId kernel = kNone;  // of inputs and outputs
  Buffer buffer;
  Phases phase;
  std::int64_t sent = 0, received = 0;           // of the phase
  std::int64_t given = 0;                        // tiles that have left by this stream
  std::vector<StreamId> senders;                 // by Stream::sources
  std::vector<std::vector<StreamId>> receivers;  // by Stream::destinations
  // Of streams that read: the list, and tiles in all and by now.
  std::optional<sim::ReadList> list;
  std::int64_t to_read = 0, read = 0;
  // Of streams that write: tiles by now, and of each entry.
  std::int64_t written = 0, entry_tiles = 0;

  bool sends() const { return program->sends(); }
  bool writes() const { return program->write.has_value(); }
  bool goes_on() const { return sends() || writes(); }
  bool reads() const { return list.has_value(); }
};

struct Kernel {
  const netlist::Op* op = nullptr;
  std::uint32_t core = 0;   // in Blob::cores
  std::int64_t number = 0;  // of the core in the op's grid, row by row
  sim::KernelPlan plan;     // its granules
  std::vector<StreamId> operands;
  StreamId output = kNone;
  StreamId sums = kNone;   // of gradient ops: what a ram keeps from epoch to epoch
  bool passes_on = false;  // of Ethernet cores: input and output are one buffer
  std::int64_t step = 0, steps = 0;
  bool done() const { return step >= steps; }
};

// A buffer of a queue.
struct QueueBuffer {
  std::size_t queue = kNone;                                  // in Netlist::queues
  std::int64_t ready = kNoLimit, room = kNoLimit, frees = 0;  // QueueEntries
  std::vector<StreamId> writers, readers;
};

struct Network {
  const overlay::Blob* blob = nullptr;
  bool restricted = false;  // relays have less room than they do (Relays::strict)
  std::int64_t inputs = 1;  // of the graph
  std::vector<Stream> streams;
  std::vector<Kernel> kernels;
  std::vector<QueueBuffer> queues;  // by Blob::dram
  Node node_of(KernelId kernel) const { return static_cast<Node>(streams.size() + kernel); }
  std::size_t nodes() const { return streams.size() + kernels.size(); }
  const std::string& op_of(const Stream& s) const { return s.kernel == kNone ? blob->cores[s.core].op : kernels[s.kernel].op->name; }
};

// How messages name things, in the words of target grid: "'add_9' [2, 5]", "input 1 of 'add_9' [2, 5]".
std::string name_of(const Network& n, const Kernel& kernel);
std::string name_of(const Network& n, const Stream& stream);

// What is known of an epoch before it runs. All must outlive the network, except `entries`.
struct EpochProgram {
  const overlay::EpochCompiler& compiler;
  const pipes::Epoch& epoch;
  const pipes::PipeGraph& pipes;
  const overlay::Blob& blob;
};

// A relay receives the tiles of its next phase when it has sent those of the one before. Its phases have as many tiles as fit into one, so
// that their borders come back after many inputs, if at all. A relay that takes from one stream and sends to one place can therefore be
// made stricter: it has no phases, and room for one tile. What is live with that is live with more room and a wait at some borders.
enum class Relays : std::uint8_t { exact, strict };

// LV003: the stream programs are not those of the netlist.
Result<Network> build_network(const EpochProgram& program, const EntriesByQueue& entries, Relays relays);

}  // namespace buda::liveness
