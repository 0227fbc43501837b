// SPDX-License-Identifier: Apache-2.0
// How ops of the tensor level are split into parts, one family after the other. Internal to the passes module.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/fracture/fracture.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace buda::passes {

// What each of the parts of an op takes.
struct Split {
  // For each input the axis along which it is cut as well; nothing: every part takes all of it.
  std::vector<std::optional<std::size_t>> cuts;
  graph::AttrMap attrs;
  // Inputs from here on are for the first part only: they are added to a sum of parts.
  std::optional<std::size_t> once_from;
};

// Along an axis of the result (from the front), into `factor` parts; or why that cannot be: a phrase that follows "because". Whether the
// factor divides the axis is looked after already.
std::variant<Split, std::string> split_along(const graph::Graph& graph, const graph::Node& n, std::size_t axis, std::int64_t factor,
                                             const ops::Registry& registry);
// Along the inner dimension, so that the results of the parts add up.
std::variant<Split, std::string> split_inner(const graph::Graph& graph, const graph::Node& n, std::int64_t factor,
                                             const ops::Registry& registry);
// The size of the inner dimension; nothing where the op has none.
std::optional<std::int64_t> inner_size(const graph::Graph& graph, const graph::Node& n, const ops::Registry& registry);

}  // namespace buda::passes
