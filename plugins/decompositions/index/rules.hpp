// SPDX-License-Identifier: Apache-2.0
// The rules of plugin `index` that have files of their own, and what several of them use.
#pragma once

#include <buda/plugin/rule.hpp>

#include <vector>

namespace buda::index {

using Dims = std::vector<std::int64_t>;

// Numbers of a comparison of all indices with all places, at most: each is computed.
inline constexpr std::int64_t kMaxCompared = std::int64_t{1} << 22;

// An index as a formula reads it: one value, or digits where exact-integers found that one would be rounded (digit_parts.hpp). Digits are
// not negative.
struct Index {
  plugin::Term whole;      // without digits
  plugin::Term high, low;  // of base `base`
  std::int64_t base = 0;   // 0: no digits
};
Index index_of(plugin::Rewrite& r, std::size_t input);
Index reshaped(plugin::Rewrite& r, const Index& index, const Shape& shape);
Shape shape_of(plugin::Rewrite& r, const Index& index);

// 0, 1, 2, … times step plus start along an axis of a shape of that rank.
plugin::Term ramp(plugin::Rewrite& r, std::size_t rank, std::int64_t axis, std::int64_t n, double start = 0, double step = 1);
// Indices below 0 count from the end of n places.
plugin::Term wrapped(const plugin::Term& index, std::int64_t n);
Index wrapped(const Index& index, std::int64_t n);
// 1 where index = place, else 0; the two broadcast.
plugin::Term hits(const plugin::Term& index, const plugin::Term& place);
// 1 where the index is the number of the element along an axis of n elements, of an index with these many axes, else 0.
plugin::Term hits(plugin::Rewrite& r, const Index& index, std::size_t rank, std::int64_t axis, std::int64_t n);
// Rows of coordinates [rows, m] along axes of these sizes, to be compared with all places in row-major order, which lie along the last axis
// of a shape of this rank: 1 where all coordinates are those of the place, else 0. Each comparison is of the shape `lines` with the places.
plugin::Term hits_of_coordinates(plugin::Rewrite& r, const Index& coordinates, const Shape& sizes, const Shape& lines);
// For coordinates [rows, m] of single elements: 1 where all but the last are those of a row of elements [count, rows], and 1 where the last
// is the place in it [count, size].
struct RowHits {
  plugin::Term row, place;
};
RowHits hits_of_rows(plugin::Rewrite& r, const Index& coordinates, const Shape& sizes, std::int64_t count);
// The same elements with axis `from` at the end, and the way back.
plugin::Term with_axis_last(plugin::Rewrite& r, const plugin::Term& x, std::int64_t axis);
Index with_axis_last(plugin::Rewrite& r, const Index& index, std::int64_t axis);
plugin::Term with_axis_back(plugin::Rewrite& r, const plugin::Term& x, std::int64_t axis);

// Of some of the axes: the product of their sizes.
std::int64_t volume_of(const Shape& shape, std::size_t begin, std::size_t end);
std::int64_t volume_of(const Shape& shape);

// What these rules build, for produces().
const std::vector<std::string>& index_ops();
// A rule for one op, called like it.
plugin::RuleSpec index_rule(std::string op, std::string summary, plugin::Term (*build)(plugin::Rewrite&),
                            bool (*matches)(const graph::Graph&, const graph::Node&));

std::vector<plugin::RuleSpec> lookup_rules();   // lookups.cpp
std::vector<plugin::RuleSpec> scatter_rules();  // scatters.cpp
std::vector<plugin::RuleSpec> ngram_rules();    // ngrams.cpp

}  // namespace buda::index
