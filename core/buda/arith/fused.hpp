// SPDX-License-Identifier: Apache-2.0
// The sub-ops of a fused op as ops of one core, one after the other.
#pragma once

#include <buda/arith/gather.hpp>
#include <buda/arith/op.hpp>

#include <variant>
#include <vector>

namespace buda::arith {

// Which part of an input a core takes: its block, the whole rows of tiles that it lies in (a matmul's operand 0), or the columns.
enum class Cut : std::uint8_t { block, rows, columns };

struct FusedOperand {
  netlist::SubOperand what;
  Cut cut = Cut::block;
  Gather gather;
  netlist::Dim within_tiles = netlist::Dim::none;  // tile_broadcast
};

struct FusedStep {
  netlist::Op op;  // the sub-op as an op of one core
  netlist::SubOperand output;
  std::vector<FusedOperand> operands;
};

// `inputs`: shapes of the op's inputs after their manipulations, and their tile sizes.
std::variant<std::vector<FusedStep>, Unable> fused_steps(const netlist::Op& base, const netlist::FusedOp& fused,
                                                         std::vector<netlist::TileShape> inputs, std::vector<TileDim> dims);

// A sub-op as an op of one core, but for its operands.
netlist::Op op_of(const netlist::Op& base, const netlist::SubOp& sub);

}  // namespace buda::arith
