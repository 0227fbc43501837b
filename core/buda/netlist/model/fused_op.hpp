// SPDX-License-Identifier: Apache-2.0
// Fused ops: schedules of sub-ops that one op executes on each ublock.
#pragma once

#include <buda/netlist/model/op.hpp>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

struct SubOperand {
  enum class Kind : std::uint8_t { input, intermed, dest, output };
  Kind kind = Kind::input;
  std::int32_t index = 0;  // of inputs and intermediates
  friend bool operator==(const SubOperand&, const SubOperand&) = default;
};
std::string text(const SubOperand& operand);  // "input0", "intermed1", "dest", "output"

struct SubOpInput {
  SubOperand operand;
  std::vector<Tm> tms;  // broadcast and tile_broadcast only
  friend bool operator==(const SubOpInput&, const SubOpInput&) = default;
};

// A step of a fused op. Its t is 1 and its ublock order r; the op that uses it has the real ones.
struct SubOp {
  std::string name;
  OpType type{};
  std::vector<SubOpInput> inputs;
  SubOperand output{SubOperand::Kind::output, 0};
  BlockShape block;
  std::vector<SubOperand> pop, pop_last;  // after this sub-op; after the whole schedule
  OpAttributes attributes;                // zero_point too, which the file has beside the attributes
  SourceLocations places;
  friend bool operator==(const SubOp&, const SubOp&) = default;
};

struct FusedOp {
  std::string id;
  std::int32_t inputs = 0;
  std::int32_t intermediates = 0;
  std::string custom_kernel_path;
  std::vector<std::vector<SubOp>> schedules;
  SourceLocations places;
  friend bool operator==(const FusedOp&, const FusedOp&) = default;
};

}  // namespace buda::netlist

#pragma GCC visibility pop
