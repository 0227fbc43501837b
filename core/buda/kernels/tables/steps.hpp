// SPDX-License-Identifier: Apache-2.0
// Ops of the family `steps`: which they are, and the table of their tiles.
#pragma once

#include <buda/arith/op.hpp>
#include <buda/kernels/tables/op_layout.hpp>
#include <buda/netlist/model/fused_op.hpp>

#include <kernels/arguments.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace buda::kernels {

inline constexpr std::uint32_t kStepBuffers = tt::kBuffers;

bool takes_steps(const netlist::Op& op);
// Whether it is a reduction of so many tiles that it takes them one after the other as they come, instead of having all of a round in L1.
bool reduces_as_they_come(const netlist::Op& op);
// The buffer of an intermediate of a fused op, or of what it calls the destination register.
std::uint32_t buffer_of(const netlist::SubOperand& operand);

struct StepBuffer {
  std::int64_t tiles = 0;  // 0: not used
  DataFormat format = DataFormat::invalid;
};

struct StepTable {
  std::int64_t rounds = 1;
  std::vector<std::int64_t> round_tiles;  // of each input; 0: as they come
  std::vector<StepBuffer> buffers;        // kStepBuffers
  std::vector<std::uint32_t> words;       // as share/kernels/families/steps.h takes them
};

// A sentence without a full stop where the op's tiles do not come in an order that a table can say.
std::variant<StepTable, std::string> step_table(const arith::OpCall& call, const std::vector<OperandLayout>& inputs,
                                                const OperandLayout& output);

}  // namespace buda::kernels
