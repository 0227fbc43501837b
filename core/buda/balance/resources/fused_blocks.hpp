// SPDX-License-Identifier: Apache-2.0
// Blocks of fused ops: all sub-ops work on blocks of the op's own size.
#pragma once

#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>

namespace buda::balance {

// The schedules with the blocks of `op`.
netlist::FusedOp with_blocks(const netlist::FusedOp& schedules, const netlist::Op& op);

}  // namespace buda::balance
