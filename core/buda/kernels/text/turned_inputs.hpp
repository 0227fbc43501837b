// SPDX-License-Identifier: Apache-2.0
// Inputs whose tiles are transposed on their way: on a chip the pipes bring the tiles in another order, and the kernel turns each of them.
#pragma once

#include <buda/kernels/text/kernel.hpp>

#include <cstddef>

namespace buda::kernels {

// Whether a kernel of ours for the op turns the tiles of an input: those that go to SrcA in 16 bits.
bool can_turn(const netlist::Op& op, std::size_t input);
// Whether this one does, which may have been compiled at another time, or be of others.
bool turns(const Kernel& kernel, const netlist::Op& op, std::size_t input);

}  // namespace buda::kernels
