// SPDX-License-Identifier: Apache-2.0
// Operands of elementwise ops, broadcast to the shape of the result.
#pragma once

#include <buda/passes/lower/op_builder.hpp>
#include <buda/passes/lower/operands.hpp>

namespace buda::passes {

// Operand number `operand` broadcast to (w, z, r, c) as NumPy does: whole tiles are repeated on the edge, and an only row or column that
// must fill its tile is replicated through it. The batch w is left as it is.
Result<Lowered> broadcast_operand(Operands& in, std::size_t operand, const Shape& target, OpBuilder& out);

// x whose slices are the leading axes `from`, with those of `to`: NumPy's broadcast. For z alone, with the batch joined.
Result<Lowered> broadcast_slices(OpBuilder& out, const Lowered& x, const Shape& from, const Shape& to);

}  // namespace buda::passes
