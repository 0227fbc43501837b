// One execution of one op on whole tensors.
#pragma once

#include "precision.hpp"
#include "value.hpp"

#include <buda/netlist/netlist.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace buda::golden {

// `inputs` as the op's edges deliver them, after their manipulations. `previous` is what a gradient op adds to; null where it starts anew.
struct OpCall {
  const netlist::Op& op;
  std::span<const ValuePtr> inputs;
  Mode mode = Mode::exact;
  unsigned threads = 1;
  ValuePtr previous;
};

// What is known of an op before it runs: its inputs after their manipulations.
struct OpShapes {
  const netlist::Op& op;
  std::vector<netlist::TileShape> inputs;
  std::vector<TileDim> dims;
};

// Why an op cannot run here, or with such inputs: a sentence without a full stop, and what would help.
struct Unable {
  std::string reason;
  std::string hint;
  bool missing = false;  // a feature that golden does not have yet; otherwise the netlist is wrong
};

// An op class: what it needs, what it does, what it costs. `run` is called with what `check` approved, and cannot fail.
struct OpKind {
  std::optional<Unable> (*check)(const OpShapes& shapes);
  Value (*run)(const OpCall& call);
  // Floating-point operations of one run, a multiplication and an addition counting two.
  double (*flops)(const netlist::Op& op);
};

// Never null: what has no implementation has a `check` that says so.
const OpKind& op_kind(netlist::OpType type);

// op_kind(…).check and what holds for all ops: formats, tile sizes.
std::optional<Unable> check_op(const OpShapes& shapes);

// The end of every op: adds to `previous`, applies ReLU, packs into the op's output format. `numbers` are those of the destination
// register, in the shape of the op's output.
Value finish(const OpCall& call, std::vector<float> numbers);
Value finish(const OpCall& call, std::vector<std::int32_t> numbers);

// Whether input i has this shape and tile size; the sentence otherwise says what it has and what is needed.
std::optional<Unable> need_shape(const OpShapes& shapes, std::size_t i, const netlist::TileShape& shape, TileDim dim);
// Whether there are so many inputs, each in the shape of the output.
std::optional<Unable> check_elementwise(const OpShapes& shapes, std::size_t inputs);
std::optional<Unable> need_inputs(const OpShapes& shapes, std::size_t count);

inline double elements(const netlist::Op& op) { return static_cast<double>(op.shape().volume()) * op.tile_dim.datums(); }

// Integers of a destination register times a scale per number: x * scale + zero_point, or (x + zero_point) * scale where the op
// dequantizes (the attribute then holds the negated zero point).
std::vector<float> rescale(const OpCall& call, const std::vector<std::int32_t>& numbers, const Value& scale);
// Adds row 0 of each tile of the bias to all rows of the tile.
void add_bias(const OpCall& call, const Value& bias, std::vector<float>& numbers);

// The kinds.
extern const OpKind kBinary, kUnary, kMatmul, kReduce, kSplice, kQuant, kDepthwise;

}  // namespace buda::golden
