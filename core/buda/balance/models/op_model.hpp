// SPDX-License-Identifier: Apache-2.0
// Op models: the ways in which one op can be implemented on a device, each legal for itself.
//
// An op model is a grid of cores, the blocking of the output on it, the steps of the inner dimension, the depth of the output buffer, and
// for each parameter whether it stays in L1 for the whole epoch; and into how many parts the result is cut that pass through the grid one
// after the other (stream.hpp). Which of them are legal is decided here, by the resource model, for the op
// alone; what neighbours add (fan-out, read lists, phases) is judged when they are known (policy.hpp).
#pragma once

#include <buda/balance/models/stream.hpp>
#include <buda/balance/place/placer.hpp>
#include <buda/balance/problem/problem.hpp>
#include <buda/balance/resources/resources.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// What the encoding of a sparse matmul takes (sparse.hpp); all of the grid row that needs most.
struct SparseUse {
  std::int32_t passes = 0;       // times that the activations are sent; 0: no sparse matmul
  std::int32_t tiles = 0;        // distinct sparse tiles
  std::int32_t index_tiles = 0;  // of 4 KiB
  std::int32_t tile_bits = 0, ublock_bits = 0;
  std::int64_t products = 0;  // of sparse tiles with tile rows of activations, for one input
  std::int64_t ublocks = 0;   // of sparse tiles with products: a strip with a row of ublocks of the result
  std::int64_t strips = 0;    // that have products, over all parts
  // From the first strip that any core needs for a part to the last: of fewer, cores would wait for one another.
  std::int32_t reach = 0;
  friend bool operator==(const SparseUse&, const SparseUse&) = default;
};

struct OpModel {
  GridShape grid{1, 1};
  Stream stream;
  netlist::BlockShape block;
  netlist::UblockOrder order = netlist::UblockOrder::r;
  std::int32_t m_k = 0, u_kt = 0;  // 0 for ops without an inner dimension
  std::int32_t buf_size_mb = 2;
  std::int32_t held_inputs = 0;  // whole ones, in the buffer of each operand that another op makes; 0: a few blocks
  SparseUse sparse;              // of a sparse matmul
  std::int32_t bands = 1;        // of rows of a sparse matmul's result (stream.hpp)
  std::uint32_t resident = 0;    // bit i: input i is loaded before the epoch and kept
  std::uint64_t l1_bytes = 0;    // without what neighbours add
  double kernel_cycles = 0;      // of one input, data always there
  double cycles = 0;             // of one input: of the kernel, or to bring and take its data if that is longer

  bool is_resident(std::size_t input) const { return input < 32 && (resident >> input & 1) != 0; }
  std::int64_t cores() const { return grid.volume(); }
  std::string text() const;  // "grid 2x4, mblock 1x3, ublock 2x2, u_kt 4, 7 parts along r"
  friend bool operator==(const OpModel&, const OpModel&) = default;
};

// Whether an op adds up in Float32, and keeps its partial sums so, too.
enum class WideSums : std::uint8_t { none, sums, all };

// The user's overrides of an op's blocking (overrides.hpp); empty members override nothing.
struct OpOverride {
  std::optional<GridShape> grid;
  std::optional<std::array<std::int32_t, 2>> mblock, ublock;
  std::optional<std::int32_t> u_kt;
  std::optional<Stream> stream;  // direction r: along r or rz; c likewise
  std::optional<StreamDirection> stream_direction;
  std::optional<std::int32_t> buf_size_mb;
  // Operands, and how many whole inputs a core's buffer for each holds at least.
  std::vector<std::pair<std::size_t, std::int32_t>> buffered_inputs;
  std::optional<GridCoord> place;         // of the first core
  std::optional<bool> transposed;         // true: only turned by 90 degrees; false: never
  std::optional<bool> dram_parameters;    // true: no input is kept in L1; false: whatever ModelOptions says
  std::optional<std::uint32_t> resident;  // OpModel::resident
  std::optional<std::int32_t> bands;      // OpModel::bands
  std::optional<std::int32_t> chip;       // where it runs
  std::optional<WideSums> wide_sums;      // whether sums have more bits than the graph says
  std::optional<bool> epoch_break;        // whether the op begins an epoch; nothing: where a tag of the graph asks for it
  // The key and value that asked for each: "op.fc1.grid=[2,2]", for messages.
  std::vector<std::string> given;
  std::string asked_as;  // the op's name there
  bool blocks() const { return grid || mblock || ublock || u_kt || stream || stream_direction || buf_size_mb || bands; }
  // Tile rows and columns of all parts of the result together; nothing where grid, mblock or ublock is open.
  std::optional<std::array<std::int64_t, 2>> blocked_tiles() const;
  PlaceRule place_rule(bool allow_transpose) const { return {place, !transposed.value_or(false), transposed.value_or(allow_transpose)}; }
  // Whether a result of so many matrices may be cut so.
  bool allows(const Stream& cut, std::int64_t matrices) const;
};

struct ModelOptions {
  bool allow_transpose = false;        // grids that fit the chip only when turned by 90 degrees
  bool resident_parameters = true;     // parameters may stay in L1
  bool single_buffer_fallback = true;  // an output that does not fit twice may stand once
  bool t_streaming = true;             // results may be cut into parts along t
  bool stream_all = false;             // also those that fit as a whole
  bool l1_accumulate = true;           // packers may add partial sums in L1
  bool all_steps = true;               // every step of the inner dimension, not only the largest that fits
  bool one_row = false;                // one row of cores for each op that has such a grid
  std::int64_t inputs_per_epoch = 1;   // over which the load of a parameter that stays in L1 is divided
};

// Why a candidate is none.
enum class Rejection : std::uint8_t { grid, override, dest, l1, other };
std::string_view rejection_name(Rejection r);

struct Rejections {
  std::map<Rejection, std::size_t> counts;
  // The candidate that came nearest: the one that needs the least of the resource that it lacks.
  std::optional<OpModel> nearest;
  Usage nearest_usage;
  void count(Rejection r) { ++counts[r]; }
  void count(Rejection r, const OpModel& model, Usage usage);
  std::string text() const;  // "12 for L1, 3 by the user's overrides"
};

struct LegalModels {
  // Ordered by cores, parts, rows, larger steps of the inner dimension, deeper output buffers.
  std::vector<OpModel> models;
  Rejections rejections;
};

// All legal models of an op. `overrides` may be null. Candidates number (grids) x (divisors of the inner dimension) at most.
LegalModels legal_models(const OpSpec& spec, const device::DeviceDescriptor& device, const ModelOptions& options,
                         const OpOverride* overrides);

// The error for an op without any: what was tried and what came nearest. `hint`: which change would make it fit (remedies.hpp).
Diagnostic no_legal_model(const Problem& problem, const OpSpec& spec, const LegalModels& legal, std::string hint);

// How an op of this model holds its result.
HeldResult held_result(const OpSpec& spec, const Stream& stream);
HeldResult held_result(const OpSpec& spec, const OpModel& model);
// The dimension along which one core has all of the result: that of a reduction or a splice, the columns of a depthwise
// product, the rows of an embedding.
netlist::Dim undivided(const OpSpec& spec);
// Whether the op's result may be cut into parts at all.
bool may_stream(const OpSpec& spec);
// The ways to cut it, none of them whole; empty where it may not be cut.
std::vector<Stream> streams_of(const OpSpec& spec);
// Whether all of the result is in the output buffer at once, so that readers of it never wait for one another.
bool holds_all(const OpSpec& spec, const OpModel& model);
// Which part of operand `input` a part of the result needs.
StreamedOperand streamed_operand(const OpSpec& spec, std::size_t input);
// The shape in which operand `input` leaves its producer; that of an encoded part follows from the model.
netlist::TileShape operand_shape(const OpSpec& spec, const OpModel& model, std::size_t input);

// The netlist op that an op model stands for; its place and the overlay size are still open, and the manipulations of its inputs are those
// for a producer that does not stream.
netlist::Op with_model(const OpSpec& spec, const OpModel& model);
// The manipulations of an edge, with what streaming adds to them; `producer`: the model of the op that the operand comes from, null for a
// source. A sentence without full stop where the two do not go together.
std::variant<netlist::EdgeMaps, std::string> edge_maps(const Problem& problem, OpId op, const OpModel& model, std::size_t input,
                                                       const OpModel* producer);
// The links of such an op on its own: what comes from sources is read from queues, parameters as the model says.
Links links_alone(const OpSpec& spec, const OpModel& model);

// Divisors in ascending order.
std::vector<std::int64_t> divisors(std::int64_t n);

}  // namespace buda::balance

#pragma GCC visibility pop
