// SPDX-License-Identifier: Apache-2.0
// Operands of ops: which row of the table of op classes they go by, their blocks and shapes, and how many there are. What the balancer has
// to make, the validator checks, and pipes deliver.
#pragma once

#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/model/operand_blocks.hpp>
#include <buda/ops/table/op_class.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace buda::netlist {

using ops::OperandRole;

// The row of an op, which its attributes may decide; of a step of a fused op.
const ops::OpClassInfo& class_of(const Op& op);
const ops::OpClassInfo& class_of(const SubOp& sub);

// The operand that an input is. Operands that the op's attributes do not require leave no gap.
const ops::Operand& operand_row(const Op& op, std::size_t input);

// The operand of a sub-op that is an input of its fused op.
std::optional<std::size_t> operand_that_reads(const SubOp& sub, std::size_t input);

// What takes an input: the op itself, or of a fused op the sub-op that is first to read it. Refers to these.
struct OperandUse {
  const ops::OpClassInfo* row = nullptr;
  const ops::Operand* operand = nullptr;
  const BlockShape* block = nullptr;
  const OpAttributes* attributes = nullptr;
};
// `fused`: the fused op it refers to, or null. Where it is not known, or nobody reads the input, the role is `fused`, and the block that of
// the op.
OperandUse operand_use(const Op& op, const FusedOp* fused, std::size_t input);

// `arriving`: the shape after the edge's manipulations; some operands take their size from it. Of roles that take no tiles (rows of
// datums) they are those of the output.
OperandBlocks operand_blocks(const Op& op, const OperandUse& use, const TileShape& arriving);
OperandBlocks operand_blocks(const SubOp& sub, std::size_t operand);

// Shape that the tensor has to have after the edge's maps, where the op determines it: nothing for roles whose sizes are free, and for
// fused ops that do not read the input or are not known. Values of 0 mean "any".
std::optional<TileShape> needed_shape(const Op& op, std::size_t input, const FusedOp* fused = nullptr);

// Inputs that the op's attributes require, and how many it may have.
struct InputCount {
  std::size_t min = 0, max = 0;
};
InputCount expected_inputs(const Op& op);
// The input that attribute bias, or requant or dequant, requires.
std::optional<std::size_t> bias_input(const Op& op);
std::optional<std::size_t> requant_input(const Op& op);

// Bytes of one entry of one buffer, and of a whole buffer with its header. Flat queues hold datums only, tilized ones whole tiles.
std::uint64_t entry_bytes(const Queue& queue, std::int32_t tile_alignment = kTileAlignment);
std::uint64_t buffer_bytes(const Queue& queue, std::int32_t tile_alignment = kTileAlignment, std::int32_t header = kTileAlignment);

}  // namespace buda::netlist
