// SPDX-License-Identifier: Apache-2.0
// What the movers of each core do in one execution of a temporal epoch: the stream programs of a blob, lowered to records that two
// processors of the core go through (share/movers). Same buffers, same orders. docs/internals/movers.md says why nothing waits for ever
// that would not wait for ever with streams.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/runs.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::movers {

// A buffer of a stream: slots of a message each. Tiles are counted in an execution: number n is in slot n mod slots.
struct Ring {
  std::int32_t stream = 0;
  std::uint64_t address = 0;
  std::int32_t message_bytes = 0;
  std::int64_t slots = 0;
  enum class Kernel : std::uint8_t { none, takes, makes } kernel = Kernel::none;
  // The kernel adds to what is in it, for each input, and what leaves is what the last one has left: sums of a gradient.
  bool sums = false;
  // The stream by which the kernel counts: sums have none of their own.
  std::int32_t kernel_stream() const { return sums ? 24 : stream; }
  // A group is there so often, one after the other, where the kernel needs more tiles at once; senders know of the first one.
  std::int64_t copies = 1;
  std::int64_t kernel_slots() const { return slots * copies; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(kernel_slots() * message_bytes); }
  friend bool operator==(const Ring&, const Ring&) = default;
};

// Where in L1 something is told to a core: how much a sender has sent, or what a receiver has free.
struct Word {
  device::NocCoord node;
  std::uint64_t address = 0;
  friend bool operator==(const Word&, const Word&) = default;
};

// Tiles from senders: {tiles, index in In::arrivals}. Tiles that are read: {tiles, index in CoreTables::nodes, address}.
using TakeRun = overlay::Run<2>;
using ReadRun = overlay::Run<3>;

// Tiles that come into a ring.
struct In {
  std::size_t ring = 0;
  std::int32_t network = 0;
  bool reads = false;
  std::vector<TakeRun> takes;           // where it does not read
  std::vector<ReadRun> read;            // where it reads
  std::int64_t chunk = 0;               // tiles per request
  std::vector<std::uint64_t> arrivals;  // by sender: the word of this core that says how many tiles it has sent
  std::vector<Word> credits;            // by sender: where it is told what is free
  // A kernel that takes the same tiles again: a group of so many stays until it was taken so often. 0: each tile is taken once.
  std::int64_t group = 0, times = 0;
  friend bool operator==(const In&, const In&) = default;
};

// The receivers of tiles: a core, or all from `first` to `last` (a rectangle of the network), with their ring.
struct Connection {
  device::NocCoord first, last;
  std::int64_t receivers = 1;
  std::uint64_t address = 0;
  std::int64_t slots = 0;
  std::uint64_t arrival = 0;  // the word of each receiver that says how many tiles were sent
  std::uint64_t credits = 0;  // words of this core, one after the other: how many tiles each receiver has freed
  friend bool operator==(const Connection&, const Connection&) = default;
};

// {tiles, index in Out::connections, number in the ring, number at the receiver, lowest number of the ring still to be sent afterwards},
// or, where it writes, {tiles, index in CoreTables::nodes, number in the ring, address, lowest number}.
using SendRun = overlay::Run<5>;

// What of a message is written: rows of numbers, one after the other behind its header, and in memory `pitch` apart. Bytes.
struct Rows {
  std::int64_t count = 0;  // in a message; 0: it is written whole
  std::int64_t bytes = 0, pitch = 0;
  friend bool operator==(const Rows&, const Rows&) = default;
};

// Tiles that leave a ring.
struct Out {
  std::size_t ring = 0;
  std::int32_t network = 0;
  bool writes = false;
  Rows rows = {};                       // where it writes
  std::vector<Connection> connections;  // where it does not write
  std::vector<SendRun> sends;
  friend bool operator==(const Out&, const Out&) = default;
};

// A node of DRAM or of the host, and the bits of addresses there above the 32nd.
struct MemoryNode {
  device::NocCoord node;
  std::uint32_t upper = 0;
  friend bool operator==(const MemoryNode&, const MemoryNode&) = default;
};

struct CoreTables {
  device::NocCoord node;
  std::string op;
  std::vector<MemoryNode> nodes;
  std::vector<Ring> rings;
  std::vector<In> ins;
  std::vector<Out> outs;    // those of a ring one after the other, in the order of rings
  std::uint64_t table = 0;  // where records begin, behind the words that others write
  friend bool operator==(const CoreTables&, const CoreTables&) = default;
};

struct Tables {
  std::vector<CoreTables> cores;  // as Blob::cores
  friend bool operator==(const Tables&, const Tables&) = default;
};

}  // namespace buda::movers
