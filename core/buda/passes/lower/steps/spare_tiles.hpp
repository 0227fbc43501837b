// SPDX-License-Identifier: Apache-2.0
// Whole tiles of padding at the end of an axis (graph/tile_count.hpp), where the tiles of data alone are wanted: slices and stacks, and
// what is put side by side.
#pragma once

#include <buda/passes/lower/op_builder.hpp>

namespace buda::passes {

// Which axes of a matrix are meant.
struct MatrixAxes {
  bool rows = false, columns = false;
};

// The value without them, by what its edge leaves out.
Result<Lowered> without_spare_tiles(OpBuilder& out, Lowered x, MatrixAxes axes);
// The value as it was before it was filled up with rows of tiles; any other is as it is. For ops that read rows by their numbers.
Lowered before_spare_rows(const OpBuilder& out, const Lowered& x);
// The value that has none along these axes, with tiles of zeros for them, as other ops expect it.
Result<Lowered> with_spare_tiles(OpBuilder& out, Lowered x, MatrixAxes axes);

}  // namespace buda::passes
