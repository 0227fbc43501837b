// SPDX-License-Identifier: Apache-2.0
// The state of an epoch in execution: streams, kernels and queues, and what they share. Plain data; the functions of engine.hpp change it.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/sim/cores/kernel_plan.hpp>
#include <buda/sim/machine/recorder.hpp>
#include <buda/sim/network/fabric.hpp>
#include <buda/sim/record/actions.hpp>
#include <buda/sim/tiles/arrivals.hpp>
#include <buda/sim/tiles/phase_cursor.hpp>
#include <buda/sim/tiles/read_list.hpp>
#include <buda/sim/tiles/ring.hpp>
#include <buda/sim/tiles/supply.hpp>
#include <buda/sim/tiles/tiles.hpp>
#include <buda/sim/time/event_queue.hpp>
#include <buda/sim/time/jitter.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::sim {

using StreamId = std::uint32_t;  // in Machine::streams
using KernelId = std::uint32_t;  // in Machine::kernels
inline constexpr std::uint32_t kNone = 0xffffffff;

// A count of tiles that has been reached, and by what.
struct Reached {
  std::int64_t tiles = 0;
  Need by;
};

// A buffer in L1. Counts are tiles since the epoch began.
struct Storage {
  std::int64_t capacity = 0;
  std::int64_t at_once = 1;      // tiles without all of which whoever takes them does not go on
  std::int64_t reserved = 0;     // put in, or on the way
  std::int64_t put = 0;          // there
  std::int64_t taken = 0;        // gone
  std::int64_t known_taken = 0;  // gone, as far as whoever fills it knows
  Ring<std::int64_t> news;       // values of `taken` on their way there
  Ring<Reached> puts, frees;     // values of `put` and `known_taken` that still matter
  TileFifo tiles;                // of received ones that go on
  std::vector<StreamId> users;   // streams that send or write what is in it
  std::int64_t room() const { return capacity - (reserved - known_taken); }
};

// Tiles on the network, or a request to DRAM.
struct Chunk {
  std::int64_t tiles = 0;
  std::uint32_t way = 0;  // connection, or buffer of the read list
  std::uint32_t action = kNoAction;
  Fabric::Started started;  // while it takes up the path
};

struct Connection {
  Path path;
  std::vector<StreamId> receivers;
};

struct Sending {
  std::vector<Connection> connections;  // by Stream::destinations
  std::int64_t sent = 0;                // of the phase
  bool busy = false;
  Chunk chunk;          // while busy
  Ring<Chunk> flights;  // sent, not delivered
  Ticks last_arrival = 0;
};

struct Receiving {
  std::vector<StreamId> senders;  // by Stream::sources
  std::int64_t assigned = 0;      // of the phase: sent to here
  std::int64_t received = 0;      // of the phase
  Ticks opens = 0;                // when the sender knows that the phase has begun
  Need opened;                    // by what
};

struct Reading {
  ReadList list;
  std::vector<Path> paths;  // by DramRead::buffers
  std::int64_t all = 0;     // tiles to read in the epoch
  std::int64_t requested = 0;
  Ring<Chunk> requests;       // not answered yet
  std::vector<Chunk> served;  // of these, those that take up the path
  Ticks last_answer = 0;
};

struct Writing {
  Path path;
  std::int64_t written = 0;    // there
  std::int64_t per_input = 1;  // tiles for one input of the graph
};

struct StreamState {
  const overlay::Stream* program = nullptr;
  std::uint32_t core = 0;  // in Blob::cores
  Supply supply = Supply::received;
  StreamId owner = 0;            // of the storage and the read list that it takes from
  TileSource source = kUnknown;  // of an output
  PhaseCursor phase;
  std::int64_t given = 0;  // tiles that have left by this stream
  Storage storage;
  Sending sending;
  Receiving receiving;
  std::unique_ptr<Reading> reading;
  std::unique_ptr<Writing> writing;
  std::unique_ptr<TileCheck> check;  // of kernel inputs and of what is written
  ArrivedTiles* arrived = nullptr;   // of the same, where arrivals are kept
  KernelId kernel = kNone;           // of inputs and outputs
  bool loaded = true;                // its core has its program

  bool goes_on() const { return program->sends() || writing != nullptr; }
  bool reads() const { return reading != nullptr; }
};

// What a kernel waits for.
struct KernelWait {
  enum class For : std::uint8_t { nothing, tiles, room };
  For what = For::nothing;
  std::uint32_t operand = 0;
  std::int64_t needed = 0;
  Ticks since = 0;
};

// Of a wait the time of transfers, and what of that DRAM decides.
struct Moving {
  Ticks all = 0, memories = 0;
};

struct KernelState {
  const netlist::Op* op = nullptr;
  std::uint32_t core = 0;   // in Blob::cores
  std::int64_t number = 0;  // of the core in the op's grid, row by row
  KernelPlan plan;
  std::vector<StreamId> operands;
  StreamId output = kNone;
  StreamId sums = kNone;             // of gradient ops: what a ram keeps from epoch to epoch; also the last operand
  bool passes_on = false;            // of Ethernet cores: what it takes and what it gives is in one buffer, that of the input
  std::int64_t steps = 0, step = 0;  // in the epoch
  bool busy = false;
  std::uint32_t action = kNoAction;
  KernelWait wait;
  // For reports.
  Ticks busy_time = 0, room_time = 0;
  std::vector<Ticks> tile_time;  // by operand: waited for its tiles
  // Of these, while the tiles, or those whose room it is, were on their way: not for what another kernel has to do first.
  Moving room_moving;
  std::vector<Moving> tile_moving;
  // What these were when the pipeline was full (period_begin).
  Ticks room_filling = 0;
  std::vector<Ticks> tile_filling;
  Ticks input_begin = 0, busy_before = 0;                       // of the input at work: its first step, and busy_time then
  Ticks first_input_done = 0, period_begin = 0, last_step = 0;  // period_begin: when Machine::filling_inputs() are done

  bool done() const { return step >= steps; }
};

// A buffer of a queue.
struct QueueState {
  std::size_t queue = 0;  // in Netlist::queues; of padding meaningless
  TileSource source = kPadding;
  std::int64_t tiles = 0;  // of an entry
  std::int64_t ready = 0;  // entries that are there, from the first that the epoch reads
  std::int64_t room = 0;   // entries that fit, from the first that the epoch writes
  std::int64_t frees = 0;  // entries of which the header is told that they are read, for each that is
  std::vector<StreamId> writers, readers;
};

// Inputs with which a pipeline is full for long enough that its rate shows.
inline constexpr std::int64_t kInputsOfAFullPipeline = 8;

struct Machine {
  std::shared_ptr<const overlay::Blob> blob;
  bool check_tiles = true;
  std::int64_t chunk_tiles = 8;  // that travel together at most
  std::int64_t inputs = 1;       // of the graph
  // Inputs after which the time between two of them is taken: while a pipeline fills, its first ops run ahead as far as buffers let them.
  // At least eight are left, since an op takes some in less time than others.
  std::int64_t filling_inputs() const { return inputs < 2 * kInputsOfAFullPipeline ? 1 : inputs / 2; }
  std::vector<StreamState> streams;
  std::vector<KernelState> kernels;
  std::vector<QueueState> queues;                                // by Blob::dram
  std::map<std::size_t, std::vector<std::uint32_t>> buffers_of;  // in `queues`, by index in Netlist::queues
  bool frees_entries = false;                                    // some queue's header moves while the epoch runs
  bool queue_moved = false;                                      // an entry has been read or written since somebody looked
  std::vector<Ticks> core_starts;                                // by Blob::cores: when it has its program
  std::vector<Ticks> core_last;                                  // by Blob::cores: its last event
  std::vector<std::string> source_names;                         // by TileSource
  std::shared_ptr<Arrivals> arrivals;                            // where they are kept
  Fabric fabric;
  Jitter jitter;
  EventQueue events;
  ActionLog actions;
  std::unique_ptr<Recorder> recorder;  // null when nobody listens
  Ticks now = 0;
  std::uint32_t cause = kNoAction;  // of what begins now
  std::uint32_t host = kNoAction;   // the last transfer of the host
  std::optional<Diagnostic> wrong;  // the first error
  std::uint64_t tiles_moved = 0;

  const overlay::Core& core_of(const StreamState& s) const { return blob->cores[s.core]; }
  // Of the stream's kernel or core; empty where it only passes tiles on.
  const std::string& op_of(const StreamState& s) const { return s.kernel == kNone ? core_of(s).op : kernels[s.kernel].op->name; }
  const Storage& storage_of(const StreamState& s) const { return streams[s.owner].storage; }
};

// How messages name things: "'add_9' [2, 5]", "input 1 of 'add_9' [2, 5]", "the output of 'mul' [1, 1]".
std::string name_of_core(const Machine& m, std::uint32_t core);
std::string name_of_kernel(const Machine& m, const KernelState& kernel);
std::string name_of(const Machine& m, const StreamState& stream);
std::string text_of(const Machine& m, const TileRun& run);

}  // namespace buda::sim
