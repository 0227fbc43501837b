// SPDX-License-Identifier: Apache-2.0
// One sub-op writes one block at a time, so that t is 1 for each.
#include <buda/balance/resources/fused_blocks.hpp>

namespace buda::balance {

netlist::FusedOp with_blocks(const netlist::FusedOp& schedules, const netlist::Op& op) {
  netlist::FusedOp fused = schedules;
  for (auto& schedule : fused.schedules)
    for (netlist::SubOp& s : schedule) {
      s.block = op.block;
      s.block.t = 1;
    }
  return fused;
}

}  // namespace buda::balance
