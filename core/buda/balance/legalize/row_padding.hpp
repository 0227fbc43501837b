// SPDX-License-Identifier: Apache-2.0
// Padding of rows of tiles whose number has too few divisors, as the 386 of a convolution with 111x111 results: rows of zeros that no
// selection names.
//
// Between the selection of a convolution's windows and the selections that read its result, rows may be any number. Ops there get a few
// more of them, all the same number, where grids then divide them much better. What the model gives or takes is not touched.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/problem.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace buda::balance {

// Ops whose results have the same rows of tiles, and the selections that read these results.
struct RowRegion {
  std::vector<OpId> ops;
  std::vector<OpUse> selections;
};

// The ops that have to get more rows when `op` does; nothing where some of them cannot.
std::optional<RowRegion> row_region(const Problem& problem, OpId op);

// Gives the results of a region `rows` rows of tiles, no fewer than they have.
void pad_rows(Problem& problem, const RowRegion& region, std::int64_t rows);

// The number of rows, up to a sixteenth more than `rows`, of which the tallest grid of at most `most` rows leaves the least to a core;
// `rows` itself where that is more than half of what it leaves now.
std::int64_t rows_that_divide(std::int64_t rows, std::int64_t most);

// Pads all regions that profit by it and that no override speaks of. `overrides`: by OpId.
void pad_uneven_rows(Problem& problem, std::span<const OpOverride> overrides);

}  // namespace buda::balance
