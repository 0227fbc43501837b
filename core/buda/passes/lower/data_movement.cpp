// SPDX-License-Identifier: Apache-2.0
// Recognition of reshapes and transposes, and their composition into one rearrangement.
#include <buda/passes/lower/data_movement.hpp>

#include <buda/ops/device/device_layout.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace buda::passes {
namespace {

constexpr std::array kReshapes = {std::string_view("reshape"), std::string_view("squeeze"), std::string_view("unsqueeze")};

bool only_reshapes(const graph::Node& n) { return std::find(kReshapes.begin(), kReshapes.end(), n.op()) != kReshapes.end(); }

// Of a transpose, with axes counted from the front.
std::vector<std::size_t> permutation_of(const graph::Node& n, const Shape& in) {
  std::vector<std::size_t> out;
  for (std::int64_t axis : std::get<std::vector<std::int64_t>>(n.attrs.find("perm")->second)) out.push_back(*in.axis(axis));
  return out;
}

// Element by element, more of them would take long.
constexpr std::int64_t kMaxElementsFollowed = std::int64_t{1} << 24;

// The four axes of a value without a batch.
std::optional<Shape> one_input(const Shape& model, Batch batch) {
  if (!ops::four_axes(model)) return std::nullopt;
  Shape four = axes_of(model, batch);
  return four[0] == 1 ? std::optional(std::move(four)) : std::nullopt;
}

// The rows that elements are of, in order, if each has all of one.
std::optional<std::vector<std::int64_t>> whole_rows(const std::vector<std::int64_t>& elements, std::int64_t columns) {
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % columns;
    if (column == 0) rows.push_back(elements[i] / columns);
    if (elements[i] != rows.back() * columns + column) return std::nullopt;
  }
  return rows;
}

}  // namespace

bool is_reshape(const graph::Graph& graph, const graph::Node& n) {
  if (n.op() != "transpose") return only_reshapes(n);
  const Shape& in = graph.type(n.inputs()[0].source)->shape;
  std::vector<std::size_t> moving;
  for (std::size_t axis : permutation_of(n, in))
    if (in[axis] != 1) moving.push_back(axis);
  return std::is_sorted(moving.begin(), moving.end());
}

bool is_rearrangement(const graph::Node& n) { return n.op() == "transpose" || only_reshapes(n); }

Chain chain_to(const graph::Graph& graph, const graph::Edge& edge) {
  auto shape_of = [&](const graph::Edge& e) -> const Shape& { return graph.type(e.source)->shape; };
  std::vector<const graph::Node*> steps;
  graph::Edge root = edge;
  while (is_rearrangement(graph.node(root.source.node))) {
    steps.push_back(&graph.node(root.source.node));
    root = steps.back()->inputs()[0];
  }
  Rearrangement how(shape_of(root));
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    const graph::Node& step = **it;
    if (step.op() != "transpose") {
      how.reshape(step.outputs[0].shape);
      continue;
    }
    std::vector<std::size_t> permutation = permutation_of(step, shape_of(step.inputs()[0]));
    if (how.transpose(permutation)) continue;
    // The transpose does not combine with what is before it: the chain begins with it.
    root = step.inputs()[0];
    how = Rearrangement(shape_of(root));
    how.transpose(permutation);
  }
  return {root, how};
}

std::optional<RowOrder> row_order_to(const graph::Graph& graph, const graph::Edge& edge, Batch batch) {
  const auto shape_of = [&](const graph::Edge& e) -> const Shape& { return graph.type(e.source)->shape; };
  Chain chain = chain_to(graph, edge);
  const auto to = one_input(shape_of(edge), batch);
  if (!is_rearrangement(graph.node(chain.root.source.node)) || !to || *to->volume() > kMaxElementsFollowed) return std::nullopt;
  std::optional<RowOrder> found;
  for (std::vector<std::int64_t> elements = chain.how.sources(); is_rearrangement(graph.node(chain.root.source.node));) {
    chain = chain_to(graph, chain.root);
    const std::vector<std::int64_t> before = chain.how.sources();
    for (std::int64_t& element : elements) element = before[static_cast<std::size_t>(element)];
    const auto from = one_input(shape_of(chain.root), batch);
    if (!from || (*from)[3] != (*to)[3]) continue;
    if (auto rows = whole_rows(elements, (*to)[3])) found = RowOrder{chain.root, std::move(*rows)};
  }
  return found;
}

}  // namespace buda::passes
