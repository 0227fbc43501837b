// SPDX-License-Identifier: Apache-2.0
// How long kernels take: the rows of a device file that core/buda/cost evaluates.
//
// All figures are cycles of one core. A kernel has three threads: unpack brings tiles from L1 to the math unit, math computes into the
// destination register, pack writes from there to L1. They work on a ublock at a time, side by side, so that a kernel goes as fast as its
// slowest stage. Rows are fitted to measurements by tests/bench/silicon, which knows of whole kernels only: a stage that was never the
// slowest has no figures, and where two stages look alike, which one it is was decided by what is plausible.
#pragma once

#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace buda::device {

// Mean and 90th percentile of the relative error, per cent, of predictions for blockings that the fit had not seen.
struct CostError {
  double mean = 0;
  double p90 = 0;
  friend bool operator==(const CostError&, const CostError&) = default;
};

// Where a row's figures come from: a file of measurements, how many there were, and how well they are predicted. What nobody has measured
// has no rows and no error, and its source says what was assumed.
struct CostOrigin {
  std::string source;
  std::int32_t rows = 0;
  std::optional<CostError> error;
  bool measured() const { return rows > 0; }
  friend bool operator==(const CostOrigin&, const CostOrigin&) = default;
};

// A stage's time for a ublock: `ublock`, and `tile` for each of its tiles.
struct StageCost {
  double ublock = 0;
  double tile = 0;
  double of(double tiles) const { return ublock + tile * tiles; }
  friend bool operator==(const StageCost&, const StageCost&) = default;
};

// Elementwise ops, copies, splice, reductions along r and c, and whatever has no formula of its own. For each mblock `block`, for each
// ublock its slowest stage. `format` is that of the operands that were measured: in others the unpacker takes as much longer as their tiles
// are larger. `variant`: "" is the base, "approx", and the side that a reduction goes along ("dim_r", "dim_c").
struct KernelCost {
  std::string op;
  std::string variant;
  DataFormat format = DataFormat::invalid;
  double block = 0;
  StageCost unpack, math, pack;
  CostOrigin origin;
  friend bool operator==(const KernelCost&, const KernelCost&) = default;
};

// Ops that add up several mblocks into one: reductions along z, and depthwise matmuls, whose time per tile is that of one fidelity phase.
// For each mblock of the result `block`, for each ublock `first` and, for every mblock after the first, `further`.
struct AccumulationCost {
  std::string op;
  DataFormat format = DataFormat::invalid;
  double block = 0;
  StageCost first, further;
  CostOrigin origin;
  friend bool operator==(const AccumulationCost&, const AccumulationCost&) = default;
};

// The unpacker's time for a ublock and inner block: `ublock`, for each row of tiles of the left operand `row`, for each tile product
// `product`.
struct MatmulUnpackCost {
  double ublock = 0;
  double row = 0;
  double product = 0;
  friend bool operator==(const MatmulUnpackCost&, const MatmulUnpackCost&) = default;
};

// Dense matmuls. For each mblock `block`, for each of its inner blocks `inner_block`; for each ublock and inner block the slower one of
// unpack and math, whose time per tile is that of one product and fidelity phase; pack joins them in one inner block, and all the others
// cost `spill`: partial sums leave the destination register and come back, or are added in L1 by the packer (l1_acc).
struct MatmulCost {
  DataFormat format = DataFormat::invalid;
  bool l1_acc = false;
  double block = 0;
  double inner_block = 0;
  MatmulUnpackCost unpack;
  StageCost math, pack, spill;
  CostOrigin origin;
  friend bool operator==(const MatmulCost&, const MatmulCost&) = default;
};

// Sparse ("identity") matmuls; products are those of sparse tiles that are not zero. `strip`: each strip of activation tiles, and for each
// ublock column of it `strip_column`, and `strip_tile` per tile; `decode`: each sparse tile; `unpack`: each sparse tile in each ublock
// column, and each product; `math`: each product and fidelity phase; `reload`: each ublock after the first that adds to the same result;
// `pack`: each ublock of the result.
struct SparseUnpackCost {
  double tile = 0;
  double product = 0;
  friend bool operator==(const SparseUnpackCost&, const SparseUnpackCost&) = default;
};
struct SparseCost {
  DataFormat format = DataFormat::invalid;  // of the activations
  double strip = 0;
  double strip_column = 0;
  double strip_tile = 0;
  double decode = 0;
  double math = 0;
  SparseUnpackCost unpack;
  StageCost reload, pack;
  CostOrigin origin;
  friend bool operator==(const SparseCost&, const SparseCost&) = default;
};

}  // namespace buda::device

#pragma GCC visibility pop
