// SPDX-License-Identifier: Apache-2.0
// Positions along axes of a device value, zeros between them: what slices, gathers, pads and concatenations have in common.
#pragma once

#include <buda/passes/lower/op_builder.hpp>
#include <buda/passes/lower/operands.hpp>
#include <buda/passes/lower/steps/gather.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace buda::passes {

// For some axes of an operand of the model their positions in the result.
using PlacesByAxis = std::vector<std::pair<std::size_t, Places>>;

// The operand with these positions; other axes stay as they are. The device does a list of positions
//   for nothing   where it keeps all, or the first ones; zeros after them that fit into the tile are there already
//   by an unpad   where whole tiles at the end are left out, and by a pad where whole tiles of zeros follow
//   by a gather   along z and r at once; along c after a transpose
Result<Lowered> selected(Operands& in, std::size_t operand, const PlacesByAxis& axes, OpBuilder& out);

// a + b, of equal shapes.
Result<Lowered> sum_of(OpBuilder& out, std::string_view suffix, Lowered a, Lowered b);

}  // namespace buda::passes
