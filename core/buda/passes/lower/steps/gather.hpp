// SPDX-License-Identifier: Apache-2.0
// Rows and slices of a device value in any order, any number of times, and added up: products with selection matrices.
#pragma once

#include <buda/passes/lower/op_builder.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace buda::passes {

// Positions along an axis of the input, one for each position of the result; kNone: zeros.
using Places = std::vector<std::int64_t>;
inline constexpr std::int64_t kNone = -1;

// All positions of an axis, in order; whether a list is that.
Places all_places(std::int64_t size);
bool keeps_all(const Places& places, std::int64_t size);

// All slices below one another, in whole tiles.
Lowered stacked_slices(Lowered x);

// Rows of x gathered and added up by a selection matrix [terms, slices, rows] (ops/linear_algebra/sparse.hpp), whose slices broadcast with
// x's. `weights`: factors of the rows, of the same shape; null: ones.
Result<Lowered> gathered_rows(OpBuilder& out, std::string_view suffix, const Lowered& x, const Tensor& selection, const Tensor* weights);

// These slices, and of each of them these rows.
Result<Lowered> gathered_places(OpBuilder& out, const Lowered& x, const Places& z, const Places& r);

// These slices, whole.
Result<Lowered> gathered_slices(OpBuilder& out, const Lowered& x, const Places& slices);

}  // namespace buda::passes
