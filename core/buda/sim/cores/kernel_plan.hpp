// SPDX-License-Identifier: Apache-2.0
// The steps of a kernel: what each takes from its inputs, how long it lasts, what it puts into the output.
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/sim/time/time.hpp>

#include <cstdint>
#include <vector>

namespace buda::sim {

struct KernelOperand {
  std::int64_t tiles = 0;    // taken for one input of the graph
  std::int64_t at_once = 1;  // waited for, read and freed together
  bool kept = false;         // read before the epoch: there for every input, and never freed
};

// For one input of the graph a kernel makes `rounds` rounds. Each has `gathering` steps that put nothing out, where an op adds up over an
// inner dimension, and then `giving` steps that put out equal parts. Gathering steps are as long as `gathering_length` giving ones.
struct KernelPlan {
  struct Operand : KernelOperand {
    bool with_output = false;  // taken in the giving steps only
  };
  std::vector<Operand> operands;
  std::int64_t out_tiles = 0;  // for one input of the graph; 0 for kernels that give nothing while the epoch runs
  std::int64_t rounds = 1, gathering = 0, giving = 1, gathering_length = 1;
  bool gathers_in_output = false;  // sums are kept in the output's buffer, so that a round needs its room from the first step on
  Ticks input_time = 0;            // of all steps for one input

  std::int64_t steps() const { return rounds * (gathering + giving); }  // for one input
  bool gives(std::int64_t step) const { return step % (gathering + giving) >= gathering; }
  // Of the steps before `step`, from 0 to 1 as a fraction of two integers.
  struct Part {
    std::int64_t done = 0, all = 1;
  };
  Part work_before(std::int64_t step) const;
  Part output_before(std::int64_t step) const;

  Ticks time_before(std::int64_t step) const;
  std::int64_t out_before(std::int64_t step) const;
  std::int64_t blocks_before(const Operand& operand, std::int64_t step) const;
  // Tiles of an operand that must be there for a step, and that are free after it; of one input.
  std::int64_t needed(const Operand& operand, std::int64_t step) const;
  std::int64_t freed(const Operand& operand, std::int64_t step) const;
};

// The steps of an op: ublock by ublock; of what adds up over an inner dimension all but the last block at once where the kernel takes whole
// blocks. `input_time` is not set.
KernelPlan plan_steps(const netlist::Op& op, const std::vector<KernelOperand>& operands);

}  // namespace buda::sim
