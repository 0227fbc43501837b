// SPDX-License-Identifier: Apache-2.0
// The padding of a device value changed to what an op that reads it can bear, by masks.
#pragma once

#include <buda/passes/lower/op_builder.hpp>

#include <string_view>

namespace buda::passes {

// The same data with another padding to the right of the columns (below the rows), and in the corner: zero, or any number. The value itself
// where it is so already.
Result<Lowered> with_column_padding(OpBuilder& out, const Lowered& x, double padding);
Result<Lowered> with_row_padding(OpBuilder& out, const Lowered& x, double padding);

// The same data with the lowest number added to the padding, whatever that is, so that no finite data are below it. `known` is what passes go by: a
// number that leaves their sums finite.
Result<Lowered> with_least_padding(OpBuilder& out, const Lowered& x, bool columns, double known);

// x as an argument of a device op that must not give NaN or infinities where they would be read: padding outside of the op's domain is
// replaced.
Result<Lowered> harmless_for(OpBuilder& out, std::string_view op, const graph::AttrMap& attrs, const Lowered& x);

}  // namespace buda::passes
