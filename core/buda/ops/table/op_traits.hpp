// SPDX-License-Identifier: Apache-2.0
// What a stage asks of an op's type: each question is answered by the columns of its class (op_class.hpp), so that a new class need not be
// listed where its columns say enough.
#pragma once

#include <buda/ops/table/op_class.hpp>

#include <cstddef>

namespace buda::ops {

// Matrix products, dense or sparse; with the second function depthwise ones, too.
bool multiplies_matrices(OpType type);
bool sums_products(OpType type);
// Its second operand has numbers of rows, which it looks up in its first.
bool looks_up_rows(OpType type);
bool is_row_number(OpType type, std::size_t input);
// Takes rows of datums instead of tiles.
bool reads_datums(OpType type);
// Operands that become one after the other.
bool splices(OpType type);
// Integers and real numbers become each other by scales.
bool is_quantization(OpType type);
// One number in, another out: copies, and functions of the vector unit.
bool is_copy_of_tiles(OpType type);
bool is_function_of_one(OpType type);
// Two numbers in, one out.
bool combines_two(OpType type);
bool sorts(OpType type);
bool is_fused(OpType type);
bool runs_on_ethernet(OpType type);
// A result that somebody reads: not of what only takes.
bool has_output(OpType type);

}  // namespace buda::ops
