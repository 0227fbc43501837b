// SPDX-License-Identifier: Apache-2.0
// Concatenation of values of whole tiles, by an op `splice`.
#pragma once

#include <buda/passes/lower/op_builder.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace buda::passes {

// An operand of a concatenation. Its edge has no transpose.
struct SplicedPart {
  graph::Edge edge;
  Shape shape;  // (w, z, r, c) in tiles along r and c
};

// The value of the op, along an axis of (w, z, r, c). A core of a splice along r or c holds all of that axis: where that is too long, the
// op works on slices, which its readers stack again.
Result<graph::Edge> spliced_parts(OpBuilder& out, std::string_view suffix, std::vector<SplicedPart> parts, std::size_t axis);

}  // namespace buda::passes
