// SPDX-License-Identifier: Apache-2.0
// Comparisons, where, logic, places of extremes, running sums, known indices.
#include "random_ops.hpp"

#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace buda::passes {
namespace {

class SelectionOps {
 public:
  explicit SelectionOps(RandomPool& pool) : pool_(pool) {}

  void step() {
    RandomValue x = pool_.recent();
    if (x.rank() == 0) return;
    switch (pool_.pick(5)) {
      case 0:
        return chosen(x);
      case 1:
        return extreme(x);
      case 2:
        return pool_.unary("cumsum", x, {{"dim", pool_.inner_axis(x)}, {"exclusive", pool_.chance(30)}, {"reverse", pool_.chance(30)}});
      case 3:
        return gathered(x);
      default:
        return by_sign(x);
    }
  }

 private:
  // Numbers that no value lies near: a comparison must not depend on rounding.
  double apart(const RandomValue& x, double wanted) const {
    for (int tries = 0; tries < 40; ++tries, wanted += 0.0137) {
      bool near = false;
      for (float v : x.tensor.as<float>()) near = near || std::abs(static_cast<double>(v) - wanted) < 1e-3;
      if (!near) return wanted;
    }
    return x.most + 1;
  }

  std::optional<RandomValue> compared(const RandomValue& x) {
    static constexpr const char* kOps[] = {"greater", "greater_equal", "less", "less_equal"};
    auto bound = static_cast<float>(apart(x, static_cast<double>(pool_.between(-4, 4)) / 4));
    const char* op = kOps[pool_.pick(std::size(kOps))];
    return pool_.made(op, {x, pool_.known(Tensor(Shape(), std::vector<float>{bound}))});
  }

  void chosen(const RandomValue& x) {
    auto condition = compared(x);
    if (!condition) return;
    if (pool_.chance(40)) {
      auto other = compared(x);
      if (!other) return;
      static constexpr const char* kLogic[] = {"logical_and", "logical_or", "logical_xor"};
      condition = pool_.made(kLogic[pool_.pick(std::size(kLogic))], {*condition, *other});
    }
    if (condition && pool_.chance(20)) condition = pool_.made("logical_not", {*condition});
    if (!condition) return;
    if (pool_.chance(25)) return pool_.take("cast", {*condition}, {{"dtype", std::string("F32")}});
    RandomValue other = pool_.known(pool_.numbers(pool_.chance(50) ? Shape() : x.shape()));
    pool_.take("where", {*condition, x, other});
  }

  // The place of an extreme depends on rounding where others come near to it, so the axis is the last one and its numbers are looked at.
  void extreme(const RandomValue& x) {
    auto width = static_cast<std::size_t>(x.shape()[x.rank() - 1]);
    std::span<const float> v = x.tensor.as<float>();
    const bool largest = pool_.chance(50);
    for (std::size_t row = 0; width > 1 && row < v.size(); row += width) {
      std::vector<float> best(v.begin() + static_cast<std::ptrdiff_t>(row), v.begin() + static_cast<std::ptrdiff_t>(row + width));
      std::partial_sort(best.begin(), best.begin() + 2, best.end(), [&](float a, float b) { return largest ? a > b : a < b; });
      if (std::abs(best[0] - best[1]) < 1e-2f) return;
    }
    auto place = pool_.made(largest ? "argmax" : "argmin", {x}, {{"dim", std::int64_t{-1}}, {"last", pool_.chance(20)}});
    if (place) pool_.take("cast", {*place}, {{"dtype", std::string("F32")}});
  }

  void gathered(const RandomValue& x) {
    auto axis = pool_.inner_axis(x);
    std::int64_t size = x.shape()[static_cast<std::size_t>(axis + static_cast<std::int64_t>(x.rank()))];
    std::vector<std::int64_t> indices(static_cast<std::size_t>(pool_.between(1, 6)));
    for (std::int64_t& i : indices) i = pool_.between(0, size - 1);
    RandomValue known = pool_.known(Tensor(Shape{static_cast<std::int64_t>(indices.size())}, indices));
    pool_.take("gather", {x, known}, {{"dim", axis}});
  }

  void by_sign(const RandomValue& x) {
    static constexpr const char* kOps[] = {"abs", "negative", "relu", "sign"};
    for (float v : x.tensor.as<float>())
      if (std::abs(v) < 1e-3f) return;
    pool_.unary(kOps[pool_.pick(std::size(kOps))], x);
  }

  RandomPool& pool_;
};

}  // namespace

void selection_step(RandomPool& pool) { SelectionOps(pool).step(); }

}  // namespace buda::passes
