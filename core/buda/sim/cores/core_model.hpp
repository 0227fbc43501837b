// SPDX-License-Identifier: Apache-2.0
// What cores do with their tiles: the part of the simulator in which targets differ.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/sim/cores/kernel_plan.hpp>

#include <cstdint>
#include <vector>

namespace buda::sim {

// A core of an op, with what its kernel takes for each input of the graph.
struct KernelContext {
  const netlist::Op& op;
  const netlist::FusedOp* fused = nullptr;  // the body of a fused op
  std::int64_t core = 0;                    // row by row in the op's grid
  std::vector<KernelOperand> operands;      // by number
};

// A core takes tiles from its inputs and puts tiles into its output step by step; streams, buffers and memories around it are the same
// whatever is at work in it.
class CoreModel {
 public:
  virtual ~CoreModel() = default;
  // The steps of a kernel, and how long they take when tiles and room are there.
  virtual Result<KernelPlan> plan(const KernelContext& kernel) const = 0;
};

}  // namespace buda::sim
