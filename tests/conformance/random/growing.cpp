// SPDX-License-Identifier: Apache-2.0
// Growing recipes, and shapes.
#include "growing.hpp"

#include <algorithm>

namespace buda::trial {
namespace {

constexpr std::int64_t kMaxElements = 70000;

}  // namespace

std::int64_t Growing::between(std::int64_t least, std::int64_t most) {
  const std::uint64_t width = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + rng_.below(width));
}

Shape Growing::any_shape() {
  static constexpr std::int64_t kOuter[] = {1, 2, 3, 5};
  static constexpr std::int64_t kInner[] = {1, 2, 3, 5, 7, 11, 13, 17, 31, 32, 33, 37, 61, 67};
  const std::size_t rank = 1 + pick(4);
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(i + 2 < rank ? one_of(kOuter) : one_of(kInner));
  return shape;
}

Shape Growing::meeting_shape(const Shape& other) {
  if (chance(60)) return other;
  if (chance(25)) return Shape{};
  Shape shape;
  for (std::size_t i = chance(40) ? pick(other.rank() + 1) : 0; i < other.rank(); ++i) shape.push_back(chance(40) ? 1 : other[i]);
  return shape;
}

std::int64_t Growing::any_axis(const Tensor& x) {
  const auto rank = static_cast<std::int64_t>(x.shape().rank());
  return between(-rank, rank - 1);
}

Port Growing::input(Tensor value, std::optional<Promise> promise) {
  recipe_.steps.push_back({StepKind::input, "", {}, {}, {std::move(value)}, promise});
  return {recipe_.steps.size() - 1, 0};
}

Port Growing::constant(Tensor value) {
  recipe_.steps.push_back({StepKind::constant, "", {}, {}, {std::move(value)}, {}});
  return {recipe_.steps.size() - 1, 0};
}

std::optional<Port> Growing::op(std::string name, std::vector<Port> inputs, graph::AttrMap attrs) {
  std::vector<Tensor> values;
  for (const Port& p : inputs) values.push_back(value(p));
  auto results = evaluate_step(name, values, attrs);
  if (!results) return std::nullopt;
  for (const Tensor& t : *results)
    if (t.size() == 0 || t.shape().volume().value_or(0) > kMaxElements || t.shape().rank() > 4) return std::nullopt;
  recipe_.steps.push_back({StepKind::op, std::move(name), std::move(inputs), std::move(attrs), std::move(*results), {}});
  return Port{recipe_.steps.size() - 1, 0};
}

std::optional<Port> Growing::some(const std::function<bool(const Tensor&)>& condition) {
  std::vector<Port> found;
  for (std::size_t i = 0; i < recipe_.steps.size(); ++i) {
    if (recipe_.steps[i].kind == StepKind::constant) continue;
    for (std::size_t k = 0; k < recipe_.steps[i].results.size(); ++k)
      if (condition(recipe_.steps[i].results[k])) found.push_back({i, k});
  }
  if (found.empty()) return std::nullopt;
  if (chance(60)) return found[found.size() - 1 - pick(std::min<std::size_t>(found.size(), 2))];
  return found[pick(found.size())];
}

Recipe Growing::finish() {
  recipe_.outputs = unread(recipe_);
  for (std::size_t i = 0; i < recipe_.steps.size(); ++i) {
    if (recipe_.steps[i].kind != StepKind::op || !chance(10)) continue;
    if (std::find(recipe_.outputs.begin(), recipe_.outputs.end(), Port{i, 0}) == recipe_.outputs.end()) recipe_.outputs.push_back({i, 0});
  }
  std::sort(recipe_.outputs.begin(), recipe_.outputs.end());
  return without_idle_steps(recipe_);
}

}  // namespace buda::trial
