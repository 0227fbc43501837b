// SPDX-License-Identifier: Apache-2.0
// What is to be balanced: the ops of a device graph in the order of their execution, with everything that does not depend on how they
// are blocked and where they stand.
#pragma once

#include <buda/balance/resources/edge.hpp>
#include <buda/base/strong_id.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/netlist/model/fused_op.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

class NameTable;

struct SelectionMatrix;

// Indices into Problem::ops, which is in execution order, and Problem::sources.
using OpId = StrongId<struct BalancedOpTag>;
using SourceId = StrongId<struct SourceTag>;

// Where an input comes from: exactly one of the two is valid.
struct Origin {
  OpId op;
  SourceId source;
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct OpUse {
  OpId op;
  std::size_t input = 0;
  friend bool operator==(const OpUse&, const OpUse&) = default;
};

// Where operand i comes from; format and maps are in op.inputs[i].
struct Operand {
  Origin from;
  netlist::TileShape shape;          // as it leaves its producer
  bool constant = false;             // a parameter or constant: the same for all inputs
  bool queued = false;               // the user wants a queue on this edge, whatever the epochs
  std::int64_t buffered_inputs = 0;  // whole inputs that a core's buffer holds at least, if the user wants that
};

// How a splice puts its inputs together; dim is none for any other op.
struct SpliceParts {
  netlist::Dim dim = netlist::Dim::none;
  std::vector<std::int64_t> sizes;  // of each input along it: tiles, with z matrices
  friend bool operator==(const SpliceParts&, const SpliceParts&) = default;
};

struct OpSpec {
  graph::NodeId node;
  // Name, type, formats, fidelity, attributes, inputs; grid, block, place, m_k, u_kt, buf_size_mb and buffer sizes are open.
  netlist::Op op;
  // Of a fused op its schedules, without blocks and id; null for any other.
  std::shared_ptr<const netlist::FusedOp> fused;
  // Of a sparse matmul, whose operands are then the sparse tiles, the activations and the index tiles; null for any other.
  std::shared_ptr<const SelectionMatrix> selection;
  SpliceParts splice;
  netlist::TileShape out;  // as the graph has it; an op may hold it otherwise (models/stream.hpp)
  std::int64_t inner = 1;  // tiles of the inner dimension: of a matmul, or those that a reduce along r or c takes together
  std::vector<Operand> operands;
  std::vector<OpUse> users;  // ops; in order
  std::size_t outputs = 0;   // of the model, that it feeds
  // mblocks that its output buffer must hold at once: more than 1 where a user stacks them, and all t where its users meet again, so that
  // one of them can wait for the other.
  std::int64_t depth = 1;
  std::int64_t sum_roundings = 0;  // of each sum, which may have more bits (graph/sum_roundings.hpp); 0: it may not
  // Tiles of its inner dimension that it adds up at a time, where that decides how exact its sums are (graph/tags/sum_blocks.hpp); 0: any.
  std::int64_t least_block = 0, most_block = 0;
  bool l1_acc = false;          // the packer may add its partial sums in L1 (problem/l1_accumulation.hpp)
  bool feeds_queued = false;    // some user takes it as a queued operand
  bool feeds_loopback = false;  // an input of the next step is read from the queue that it writes
  // Of the whole model (tile_sizes.hpp): a worker may have to keep headers for tiles of each.
  std::size_t tile_sizes = 1;
  std::int32_t segment = 0;    // of the device (segment_order.hpp); ascending in the schedule
  std::int32_t phase = 0;      // of a training step (phases.hpp)
  bool once_per_step = false;  // of a program of its own, which runs once for a step: its epoch takes one input, whatever the microbatch
  bool begins_chip = false;    // the user wants its epoch to be the first of a chip
  std::int32_t chip = -1;      // where it has to run; none as long as chips have not been shared out
  bool copies = false;         // a value of another chip, for its own (chips/forwarded_values.hpp)
  std::string node_name;       // by which options name the op
  std::string label;           // for messages: all nodes of the model that it computes (graph/label.hpp)
};

enum class SourceKind : std::uint8_t { input, parameter, constant };

// What a sparse matmul reads of its selection matrix; shape and value follow from the op's model.
enum class EncodedPart : std::uint8_t { none, tiles, indices };

struct SourceSpec {
  graph::NodeId node;
  SourceKind kind = SourceKind::input;
  std::string name;  // in the netlist; copies of a parameter get names of their own
  std::string label;
  DataFormat format = DataFormat::float16_b;
  netlist::TileShape shape;  // of an encoded part: one tile
  TileDim tile_dim;
  EncodedPart encoded = EncodedPart::none;
  std::vector<OpUse> users;
  // Of an input: the index in Problem::sinks of the output that it is in the next step (graph/loopback.hpp).
  std::optional<std::size_t> loopback;
  bool flat = false;  // tilizers and embeddings read it: the host pushes rows of datums
  // Numbers of rows that embeddings look up: one tile, in which they follow one another as in memory.
  bool row_numbers = false;
};

// Read and write pointers of a queue run to twice its entries in 16 bits.
inline constexpr std::int64_t kMaxEntries = 32767;

// An output of the model and the op that computes it.
struct SinkSpec {
  graph::NodeId node;
  OpId op;
  std::string name;  // of its queue
  // Inputs that it is in the next step; it then has their queues instead of one of its own.
  std::vector<SourceId> inputs = {};
};

struct Problem {
  std::string name;  // of the graph
  const device::DeviceDescriptor* device = nullptr;
  std::int32_t w = 1;           // inputs that the model takes at once: entries of one push
  std::int32_t batches = 1;     // of the model, that every epoch processes before the next one begins
  std::int32_t microbatch = 1;  // w * batches: inputs per epoch
  // Inputs, as the user counts them, of one run of the model: the first size of all that it takes and gives, where they share it.
  std::int64_t batch = 1;
  // Numbers of the chips that the model may use, in the order in which it goes through them; never empty once it is to be placed.
  std::vector<std::int32_t> chips = {0};
  // Its segments are the phases of a training step (problem/phases.hpp).
  bool trains = false;
  bool dynamic_queues = true;  // those between epochs have memory only from the epoch that writes them to the last that reads them
  std::vector<OpSpec> ops;
  std::vector<SourceSpec> sources;         // inputs, then parameters, then constants
  std::vector<SinkSpec> sinks;             // in the model's order
  std::shared_ptr<const NameTable> names;  // what is taken already (names.hpp)

  const OpSpec& op(OpId id) const { return ops[id.index()]; }
  const SourceSpec& source(SourceId id) const { return sources[id.index()]; }
  std::int32_t segments() const { return ops.empty() ? 1 : ops.back().segment + 1; }
};

// `order`: the op nodes in execution order (schedule.hpp). Checks what the blocking relies on: op types that the balancer knows, shapes
// that agree, formats that the device has. All findings are reported. The graph must be sound (graph::verify) and have neither outputs fed
// by anything but ops nor manipulations on their edges (normalize).
// `batches`: see Problem. A model that keeps values from step to step has one, and so has what queues cannot count otherwise (BL017).
Result<Problem> make_problem(const graph::Graph& graph, const std::vector<graph::NodeId>& order, const device::DeviceDescriptor& device,
                             std::int32_t batches = 1);

// Makes a graph fit for make_problem: erases what no output needs, and puts a nop before outputs that an input, a parameter or a constant
// feeds, or on whose edge there are manipulations. Names of model inputs that nothing needs are returned.
std::vector<std::string> normalize(graph::Graph& graph);

// What to say in messages of op and source `from`.
std::string describe(const Problem& problem, const Origin& from);

}  // namespace buda::balance

#pragma GCC visibility pop
