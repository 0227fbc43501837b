// SPDX-License-Identifier: Apache-2.0
// A device value with its elements in another order: reshapes and transposes.
#pragma once

#include <buda/passes/layout/rearrangement.hpp>
#include <buda/passes/lower/op_builder.hpp>

#include <cstdint>
#include <vector>

namespace buda::passes {

// x under another order of its elements, by manipulations of edges if they can, otherwise with gathers. Refused where elements would move
// between the inputs of a batch, or where axes are cut in ways that do not combine.
Result<Lowered> rearranged(OpBuilder& out, Lowered x, const Rearrangement& how);

// Rows of all slices of x in another order, those of slices of shape `to`, by a gather.
Result<Lowered> reordered_rows(OpBuilder& out, const Lowered& x, const std::vector<std::int64_t>& rows, const Shape& to);

}  // namespace buda::passes
