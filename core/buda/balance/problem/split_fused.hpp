// SPDX-License-Identifier: Apache-2.0
// Fused ops that compute one column of tiles first, and spread it over the columns of the result.
#pragma once

#include <buda/netlist/model/fused_op.hpp>
#include <buda/netlist/model/op.hpp>

#include <optional>

namespace buda::balance {

// An op and its body.
struct FusedPart {
  netlist::Op op;
  netlist::FusedOp body;
};
// The first gives a column of tiles, which the second, under the name of the whole, takes as its last input, with a broadcast.
struct SplitFused {
  FusedPart column, rest;
};

// Whether some step spreads tiles of a column.
bool spreads_column(const netlist::FusedOp& body);
// Nothing where the body is not so simple: one intermediate takes the column from the first steps, or the first of two
// schedules, to the others.
std::optional<SplitFused> split_fused(const netlist::Op& op, const netlist::FusedOp& body);

}  // namespace buda::balance
