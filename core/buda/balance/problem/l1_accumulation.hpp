// SPDX-License-Identifier: Apache-2.0
// Sums in L1: a matmul whose inner dimension takes several blocks packs each block's products onto those before (attribute l1_acc), where
// it would otherwise pack partial sums and unpack them again.
#pragma once

#include <buda/balance/problem/problem.hpp>

namespace buda::balance {

// Marks the matmuls and depthwise ops (OpSpec::l1_acc) whose partial sums have a format that the device's packer adds.
void allow_l1_accumulation(Problem& problem);

// Lets an op add up in Float32, with partial sums in a format.
void widen_sums(OpSpec& op, DataFormat partial, bool l1_accumulation);

// Blocks of the inner dimension (m_k) from which it pays: 2, or 3 where the sum is unpacked before the last block because the result has
// another format.
std::int32_t least_blocks_in_l1(const netlist::Op& op);

}  // namespace buda::balance
