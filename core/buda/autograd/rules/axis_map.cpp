// SPDX-License-Identifier: Apache-2.0
// Maps as selection matrices: lines along the axis are rows, what lies behind it columns.
#include <buda/autograd/rules/axis_map.hpp>

#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace buda::autograd {

AxisMap transposed(const AxisMap& map) {
  std::vector<std::vector<std::pair<std::int64_t, double>>> uses(static_cast<std::size_t>(map.in));
  for (std::size_t i = 0; i < map.places.size(); ++i)
    if (map.weights[i] != 0)
      uses[static_cast<std::size_t>(map.places[i])].emplace_back(static_cast<std::int64_t>(i / map.terms), map.weights[i]);
  AxisMap out{map.out, map.in, 1, {}, {}};
  for (const auto& u : uses) out.terms = std::max(out.terms, u.size());
  for (const auto& u : uses)
    for (std::size_t k = 0; k < out.terms; ++k) {
      out.places.push_back(k < u.size() ? u[k].first : 0);
      out.weights.push_back(k < u.size() ? u[k].second : 0);
    }
  return out;
}

Term mapped(const Term& x, std::size_t axis, const AxisMap& map) {
  if (!x.valid()) return {};
  Shape shape = x.shape();
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  // Selection matrices are [terms, 1, rows] and count rows from 1; 0 names none.
  const auto terms = static_cast<std::int64_t>(map.terms);
  std::vector<std::int32_t> picks(map.places.size());
  std::vector<double> weights(map.places.size());
  bool is_weighted = false;
  for (std::size_t o = 0; o < static_cast<std::size_t>(map.out); ++o)
    for (std::size_t k = 0; k < map.terms; ++k) {
      const double weight = map.weights[o * map.terms + k];
      const std::size_t at = k * static_cast<std::size_t>(map.out) + o;
      picks[at] = weight == 0 ? 0 : static_cast<std::int32_t>(map.places[o * map.terms + k] + 1);
      weights[at] = weight;
      is_weighted = is_weighted || (weight != 0 && weight != 1);
    }
  const Shape matrix{terms, 1, map.out};
  ops::Builder& b = x.builder();
  const Term rows = x.reshape(Shape{outer, 1, shape[axis], inner});
  std::vector<graph::Edge> inputs{b.constant(Tensor(matrix, std::move(picks))), rows.value()};
  if (is_weighted) inputs.emplace_back(b.constant(Tensor(matrix, std::move(weights)).cast(x.dtype())));
  shape[axis] = map.out;
  return Term(b, b.op("sparse_matmul", std::move(inputs))).reshape(shape);
}

}  // namespace buda::autograd
