// SPDX-License-Identifier: Apache-2.0
// Where rows are after ops that move elements and compute nothing.
#pragma once

#include <buda/ops/rows/row_flow.hpp>

namespace buda::ops {

// The same elements in row-major order under another shape: an axis of the new shape on which the rows are as far apart as before.
RowFlow reshaped_rows(const RowCall& call, const RowFlow& flow, const Shape& from, const Shape& to);

// Of a gather or scatter whose indices are constants: the op moves the numbers of the rows instead of the elements, and then each element's
// place in its row, and what comes out tells where the rows are, and whether each is treated like the others.
RowFlow moved_rows(const RowCall& call);

}  // namespace buda::ops
