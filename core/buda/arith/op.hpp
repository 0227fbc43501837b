// SPDX-License-Identifier: Apache-2.0
// One execution of one op on whole tensors.
#pragma once

#include <buda/arith/precision.hpp>
#include <buda/arith/value.hpp>

#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::arith {

// `inputs` as the op's edges deliver them, after their manipulations. `previous` is what a gradient op adds to; null where it starts anew.
struct OpCall {
  const netlist::Op& op;
  std::span<const ValuePtr> inputs;
  Mode mode = Mode::exact;
  unsigned threads = 1;
  ValuePtr previous;
  const netlist::FusedOp* fused = nullptr;  // of a fused op
};

// What is known of an op before it runs: its inputs after their manipulations.
struct OpShapes {
  const netlist::Op& op;
  std::vector<netlist::TileShape> inputs;
  std::vector<TileDim> dims;
  const netlist::FusedOp* fused = nullptr;  // of a fused op
};

// Why an op cannot run here, or with such inputs: a sentence without a full stop, and what would help.
struct Unable {
  std::string reason;
  std::string hint;
  bool missing = false;  // a feature that is not executed yet; otherwise the netlist is wrong
};

// What an op makes, or, where its data are wrong (indices that lead nowhere), a sentence without a full stop that says how.
using Outcome = std::variant<Value, std::string>;

// An op class: what it needs, what it does, what it costs. `run` is called with what `check` approved.
struct OpKind {
  std::optional<Unable> (*check)(const OpShapes& shapes);
  Outcome (*run)(const OpCall& call);
  // Floating-point operations of one run, a multiplication and an addition counting two.
  double (*flops)(const netlist::Op& op);
};

// For kinds that cannot fail once they run.
template <Value (*run)(const OpCall&)>
Outcome always(const OpCall& call) {
  return run(call);
}

// Never null: what has no implementation has a `check` that says so.
const OpKind& op_kind(netlist::OpType type);

// op_kind(…).check and what holds for all ops: formats, tile sizes.
std::optional<Unable> check_op(const OpShapes& shapes);

// The end of every op: adds to `previous`, applies ReLU, packs into the op's output format. `numbers` are those of the destination
// register, in the shape of the op's output.
Value finish(const OpCall& call, std::vector<float> numbers);
Value finish(const OpCall& call, std::vector<std::int32_t> numbers);

// The same for an op that hands on numbers of format `in` as they are, through the destination register.
Value finish_copied(const OpCall& call, DataFormat in, std::vector<float> numbers);
inline Value finish_copied(const OpCall& call, DataFormat, std::vector<std::int32_t> numbers) { return finish(call, std::move(numbers)); }

// Whether input i has this shape and tile size; the sentence otherwise says what it has and what is needed.
std::optional<Unable> need_shape(const OpShapes& shapes, std::size_t i, const netlist::TileShape& shape, TileDim dim);
// Whether there are so many inputs, each in the shape of the output.
std::optional<Unable> check_elementwise(const OpShapes& shapes, std::size_t inputs);
std::optional<Unable> need_inputs(const OpShapes& shapes, std::size_t count);

inline double elements(const netlist::Op& op) { return static_cast<double>(op.shape().volume()) * op.tile_dim.datums(); }

// The output for integers of a destination register times a scale per number: x * scale + zero_point, or (x - zero_point) * scale where
// the op dequantizes.
Value rescaled(const OpCall& call, const std::vector<std::int32_t>& numbers, const Value& scale);
// Adds row 0 of each tile of the bias to all rows of the tile.
void add_bias(const OpCall& call, const Value& bias, std::vector<float>& numbers);

// What an embedding looks up, in the table's format and the shape of the output, before it is copied.
std::variant<Value, std::string> looked_up(const OpCall& call);

// Sparse (identity) matmul, a part of kMatmul.
std::optional<Unable> check_sparse(const OpShapes& shapes);
Outcome run_sparse(const OpCall& call);
// What a core of the op's grid multiplies, in the order of execution. `index`: the op's third input. What check_sparse approved.
netlist::SparseResult<std::vector<netlist::SparseProduct>> sparse_products(const netlist::Op& op, const Value& index, GridCoord core);

// The kinds.
extern const OpKind kBinary, kUnary, kMatmul, kReduce, kSplice, kQuant, kDepthwise, kFused, kEmbedding, kTilizer, kTopk, kRelay;

}  // namespace buda::arith

#pragma GCC visibility pop
