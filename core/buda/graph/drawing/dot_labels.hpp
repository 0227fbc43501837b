// SPDX-License-Identifier: Apache-2.0
// Texts of nodes and edges in Graphviz' language.
#pragma once

#include <buda/graph/drawing/dot.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/value_type.hpp>

#include <string>
#include <vector>

namespace buda::graph {

// Names in labels have at most so many characters.
inline constexpr std::size_t kMaxLabelText = 48;

// A quoted string of Graphviz with these lines.
std::string dot_quoted(const std::vector<std::string>& lines);
// "1x64x128", "scalar".
std::string dot_shape(const ValueType& type);
std::vector<std::string> node_label(const Graph& graph, const Node& n, Detail detail);
std::string node_style(const Node& n);
std::vector<std::string> edge_label(const Graph& graph, const Edge& edge, Detail detail);

}  // namespace buda::graph
