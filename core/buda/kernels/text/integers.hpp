// SPDX-License-Identifier: Apache-2.0
// Ops of integers: which of them have a kernel.
#pragma once

#include <buda/kernels/text/kernel_constants.hpp>

#include <optional>

namespace buda::kernels {

// Whether an input says where numbers are: of a sparse matmul, of an embedding, of topk.
bool is_index(const netlist::Op& op, std::size_t input);
// Whether it has integers as operands, other than indices, or makes them.
bool works_on_integers(const netlist::Op& op);
// Why such an op has no kernel.
std::optional<NoKernel> unable_integers(const netlist::Op& op);

}  // namespace buda::kernels
