// SPDX-License-Identifier: Apache-2.0
// Copies of a device value: with the manipulations of its edge done, or with its only row or column replicated through its tile.
#pragma once

#include <buda/passes/lower/op_builder.hpp>

#include <string_view>

namespace buda::passes {

// A value without TMs, by a nop that takes them over.
Result<Lowered> materialized(OpBuilder& out, std::string_view suffix, const Lowered& x);
// The same where one of the TMs is a transpose; the value itself where none is.
Result<Lowered> without_transpose(OpBuilder& out, std::string_view suffix, const Lowered& x);

// The value as an edge can leave tiles of it out, rows among them or not: without TMs, since a netlist's edge begins with what it leaves
// out; and a selection with several slices, which holds the rows of all of them below one another, is copied before rows are left out.
Result<Lowered> ready_for_unpad(OpBuilder& out, const Lowered& x, bool rows);

// The one column (row) of a value in all columns (rows) of its tile: a product with a constant tile.
Result<Lowered> with_columns_alike(OpBuilder& out, const Lowered& x);
Result<Lowered> with_rows_alike(OpBuilder& out, const Lowered& x);

// The value with a broadcast of whole tiles as its last TM; as it is for n = 1. Its shape and ranges are left to the caller.
void add_broadcast(Lowered& x, graph::TmDim dim, std::int64_t n);

}  // namespace buda::passes
