// A device value with its elements in another order: reshapes and transposes.
#pragma once

#include <buda/passes/layout/rearrangement.hpp>
#include <buda/passes/lower/op_builder.hpp>

namespace buda::passes {

// x under another order of its elements, by manipulations of edges if they can, otherwise with gathers. Refused where elements would move
// between the inputs of a batch, or where axes are cut in ways that do not combine.
Result<Lowered> rearranged(OpBuilder& out, Lowered x, const Rearrangement& how);

}  // namespace buda::passes
