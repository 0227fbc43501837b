// The rules of plugin `index` that have files of their own, and what several of them use.
#pragma once

#include <buda/plugin/rule.hpp>

#include <vector>

namespace buda::index {

using Dims = std::vector<std::int64_t>;

// Numbers of a comparison of all indices with all places, at most: each is computed.
inline constexpr std::int64_t kMostCompared = std::int64_t{1} << 22;

// 0, 1, 2, … times step plus start along an axis of a shape of that rank.
plugin::Term ramp(plugin::Rewrite& r, std::size_t rank, std::int64_t axis, std::int64_t n, double start = 0, double step = 1);
// Indices below 0 count from the end of n places.
plugin::Term wrapped(const plugin::Term& index, std::int64_t n);
// 1 where index = place, else 0; the two broadcast.
plugin::Term hits(const plugin::Term& index, const plugin::Term& place);
// Rows of coordinates [rows, m] along axes of these sizes as one place for each row [rows, 1], counted in row-major order.
plugin::Term place_of_coordinates(plugin::Rewrite& r, const plugin::Term& coordinates, const Shape& sizes);
// The same elements with axis `from` at the end, and the way back.
plugin::Term with_axis_last(plugin::Rewrite& r, const plugin::Term& x, std::int64_t axis);
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
