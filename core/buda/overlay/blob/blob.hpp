// SPDX-License-Identifier: Apache-2.0
// The stream programs of one temporal epoch: what the overlay of each core does to carry the pipes of a pipegen file. The content
// of a blob file (docs/formats/blob.md); how it is made: docs/internals/streams.md.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/runs.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::overlay {

using pipes::Id;

// A stream of Blob::cores[core].
struct StreamRef {
  std::int32_t core = 0;
  std::int32_t stream = 0;
  friend auto operator<=>(const StreamRef&, const StreamRef&) = default;
};

// Where messages go: one stream, or the stream of that number in every worker of a row or column of the logical grid, from `first` to
// `last_core`, all of which keep it at the same address.
struct Destination {
  StreamRef first;
  std::int32_t last_core = 0;
  bool is_multicast() const { return first.core != last_core; }
  friend bool operator==(const Destination&, const Destination&) = default;
};

// A phase: so many messages (tiles), from one source, to one destination. Ids rise along a stream's phases. Between two streams the phases
// meet by id: the sender's phase with which a receiver's phase begins has the same id; the sender's next phases, up to one that goes
// elsewhere or comes to a receiver's next id, belong to that phase of the receiver too.
struct Phase {
  std::int64_t id = 0;
  std::int64_t messages = 0;
  std::int64_t source = 0;       // index in Stream::sources; 0 where there are none
  std::int64_t destination = 0;  // index in Stream::destinations; 0 where there are none
  std::int64_t offset = 0;       // where in a scattered buffer the messages lie, in tiles
  friend bool operator==(const Phase&, const Phase&) = default;
};
using PhaseRun = Run<5>;
inline PhaseRun::Tuple to_tuple(const Phase& p) { return {p.id, p.messages, p.source, p.destination, p.offset}; }
inline Phase to_phase(const PhaseRun::Tuple& t) { return {t[0], t[1], t[2], t[3], t[4]}; }

// A buffer of a queue as the chip sees it, or a constant that inputs are padded with.
struct DramBuffer {
  std::string queue;  // the queue; for padding the op
  Id id = 0;
  std::int32_t chip = 0;
  std::int32_t channel = 0;
  bool host = false;          // in the host's memory
  bool padding = false;       // thirteen equal tiles, no header
  device::NocCoord port;      // where on the NoC it is reached
  std::uint64_t address = 0;  // of the header; at that port
  std::int64_t slots = 0;
  std::int64_t entry_tiles = 0;
  std::int32_t tile_bytes = 0;
  bool ram = false;
  friend bool operator==(const DramBuffer&, const DramBuffer&) = default;
};

// Tiles read into the stream's buffer: block after block of `block_tiles`, from `first tile of the entry` on. One pass goes once through
// the list and takes the next slot of every queue; what is read before the epoch is read once and stays.
struct ReadBuffer {
  std::int32_t dram = 0;  // index in Blob::dram
  std::int32_t reader = 0;
  std::int32_t readers = 1;  // pipes that read the buffer, and the number of this one
  friend bool operator==(const ReadBuffer&, const ReadBuffer&) = default;
};
using ReadRun = Run<2>;  // index in DramRead::buffers, tile within the entry

// The rows of a table, selected by numbers. Tile n of a read list is tile n % row_tiles of the row that the (n / row_tiles)-th number of
// the input names.
struct RowLookup {
  std::int32_t stream = -1;  // of this core, whose tiles hold the numbers
  std::int32_t numbers_per_tile = 0;
  std::int64_t row_tiles = 0;  // of a row in the table
  friend bool operator==(const RowLookup&, const RowLookup&) = default;
};

struct DramRead {
  std::vector<ReadBuffer> buffers;
  std::int64_t block_tiles = 0;
  std::int64_t chunk_tiles = 0;  // asked for at once
  bool before_epoch = false;
  std::vector<ReadRun> blocks;  // of one pass
  std::optional<RowLookup> lookup;
  friend bool operator==(const DramRead&, const DramRead&) = default;
};

// An output without tiles: what one core contributes to the rows of the queue's entry. Bytes.
struct RowWrite {
  std::int64_t offset = 0;     // of its first row
  std::int64_t row_bytes = 0;  // contributed to each row
  std::int64_t pitch = 0;      // from row to row
  std::int64_t rows = 0;       // of one t
  std::int64_t planes = 1;     // ts of an entry
  std::int64_t plane_pitch = 0;
  std::int32_t tile_rows = 0, tile_cols = 0;  // datums of what was a tile
  std::int32_t tiles_across = 0;              // in the rows of this core
  friend bool operator==(const RowWrite&, const RowWrite&) = default;
};

struct DramWrite {
  std::int32_t dram = 0;  // index in Blob::dram
  std::int64_t chunk_tiles = 0;
  bool after_epoch = false;
  std::optional<RowWrite> rows;
  friend bool operator==(const DramWrite&, const DramWrite&) = default;
};

// How a stream sends to one on another chip without Ethernet: it writes chunk after chunk into the receiver's buffer, which holds a whole
// number of them, cyclically.
struct PcieWrite {
  device::NocCoord port;      // where on the NoC the other chip is reached
  std::uint64_t address = 0;  // of the receiver's buffer, as seen at the port
  std::int64_t chunk_tiles = 0;
  friend bool operator==(const PcieWrite&, const PcieWrite&) = default;
};

enum class StreamKind : std::uint8_t {
  multicast,     // receives, or reads DRAM, and sends to a row or column
  relay,         // receives, or reads DRAM, and sends on, or writes DRAM
  input,         // receives or reads what a kernel takes
  output,        // sends or writes what a kernel makes
  intermediate,  // keeps what a kernel accumulates
  fork,          // sends the content of an output once more
  store,         // sends, again and again, what was read into L1 before the epoch
};
std::string_view stream_kind_name(StreamKind kind);

struct Stream {
  std::int32_t number = 0;
  StreamKind kind = StreamKind::input;
  std::int32_t operand = 0;   // of the op's kernel that it serves: inputs 0…, output 16…, intermediates 24…
  Id buffer = 0;              // pipegen ids; 0: none
  Id pipe = 0;                // by which it sends, or reads
  std::uint64_t address = 0;  // in L1
  std::uint64_t bytes = 0;
  std::int32_t message_bytes = 0;
  bool scattered = false;  // phases say where they begin; else the buffer is a ring
  bool firmware = false;   // of a relay on an ethernet core: its firmware carries the tiles over the link, not the overlay
  // Of scattered outputs: the kernel hands out its tiles in windows of so many, one per pass; window w lies at tile w * window_tiles of the
  // buffer, cyclically. Phase ids of pass p of an iteration begin at p * ids_per_pass; an iteration has `passes`.
  std::int64_t window_tiles = 0, ids_per_pass = 0, passes = 0;
  std::int32_t fork_of = -1;  // the stream with whose buffer this one sends; -1: its own
  std::int32_t noc_in = 0, noc_out = 0, vc = 0;
  std::vector<StreamRef> sources;
  std::vector<Destination> destinations;
  std::optional<DramRead> read;
  std::optional<DramWrite> write;
  std::optional<PcieWrite> pcie;  // of a stream whose one destination is on another chip without ethernet
  std::int64_t iterations = 1;    // how often the phases are gone through
  std::vector<PhaseRun> phases;

  std::int64_t phase_count() const { return count_of(phases); }
  std::int64_t messages() const;  // in the epoch
  bool sends() const { return !destinations.empty(); }
  friend bool operator==(const Stream&, const Stream&) = default;
};

// Where a core keeps the headers of tiles of one size.
struct TileHeaders {
  std::int32_t tile_bytes = 0;
  std::uint64_t address = 0;
  friend bool operator==(const TileHeaders&, const TileHeaders&) = default;
};

struct Core {
  std::int32_t chip = 0;
  GridCoord core;                        // logical; of an ethernet core, row and column of the NoC
  std::optional<std::int32_t> ethernet;  // its channel, if it is an ethernet core
  device::NocCoord noc;
  std::string op;
  std::int64_t blob_bytes = 0;  // room for the stream program
  std::vector<TileHeaders> headers;
  std::vector<Stream> streams;  // by number
  friend bool operator==(const Core&, const Core&) = default;

  const Stream* find(std::int32_t number) const;
  std::int64_t phases() const;
};

struct Blob {
  std::string arch;
  std::string device;
  std::vector<std::string> graphs;
  std::vector<DramBuffer> dram;
  std::vector<Core> cores;  // workers by chip, row, column; then ethernet cores by chip and channel
  friend bool operator==(const Blob&, const Blob&) = default;

  const Stream* find(StreamRef ref) const;
  // The stream that sends to this one over PCIe, or null. It is the only source then.
  const Stream* sender_over_pcie(const Stream& stream) const;
  // The cores of a destination, in order. Cores of a line that the blob does not have are left out.
  std::vector<std::int32_t> cores_of(const Destination& destination) const;
};

}  // namespace buda::overlay

#pragma GCC visibility pop
