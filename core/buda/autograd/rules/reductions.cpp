// SPDX-License-Identifier: Apache-2.0
// Gradients of reductions and running sums: the incoming one for each element that took part. Equal extremes share it.
#include <buda/autograd/rules/rules.hpp>

#include <buda/ops/table/rules.hpp>

namespace buda::autograd {
namespace {

struct Reduced {
  std::vector<std::size_t> axes;
  Shape kept;  // the result's shape with the reduced axes, of size 1
  std::int64_t elements = 1;
};

Reduced reduced(Backward& b) {
  Reduced out;
  const Shape shape = b.in(0).shape();
  out.kept = shape;
  if (auto axes = ops::resolved_axes(shape, b.attrs().integers("dims"))) out.axes = *axes;
  for (std::size_t axis : out.axes) {
    out.elements *= shape[axis];
    out.kept[axis] = 1;
  }
  return out;
}

void sum(Backward& b) { b.give(0, b.g().reshape(reduced(b).kept).broadcast(b.in(0).shape())); }

void mean(Backward& b) {
  const Reduced r = reduced(b);
  const Term share = b.g().reshape(r.kept) * (1.0 / static_cast<double>(r.elements));
  b.give(0, share.broadcast(b.in(0).shape()));
}

void extreme_of_axes(Backward& b) {
  const Reduced r = reduced(b);
  const Term x = b.in(0), most = b.result().reshape(r.kept);
  const Term one = x.number(1), zero = x.number(0);
  const Term hits = where(x.op("equal", most), one, zero);
  Dims dims;
  for (std::size_t axis : r.axes) dims.push_back(static_cast<std::int64_t>(axis));
  const Term count = hits.sum(std::move(dims));
  const Term share = b.g().reshape(r.kept) / count;
  b.give(0, hits * share);
}

// g times the product of all other elements: the product over this one, and where elements are 0 the product of the others.
void product(Backward& b) {
  const Reduced r = reduced(b);
  const Term x = b.in(0), zero = x.number(0), one = x.number(1);
  Dims dims;
  for (std::size_t axis : r.axes) dims.push_back(static_cast<std::int64_t>(axis));
  const Term is_zero = x.op("equal", zero);
  const Term zeros = where(is_zero, one, zero), safe = where(is_zero, one, x);
  const Term others = zeros.sum(dims) - zeros;
  const Term whole = dims.empty() ? safe : safe.op("reduce_prod", {{"dims", dims}});
  const Term rest = where(others.above(zero), zero, whole / safe);
  b.give(0, b.g().reshape(r.kept) * rest);
}

// Each element is part of the sums from it on, in the other direction.
void cumsum(Backward& b) {
  graph::AttrMap attrs = b.node().attrs;
  attrs["reverse"] = !b.attrs().boolean("reverse");
  b.give(0, b.g().op("cumsum", std::move(attrs)));
}

constexpr GradientRule kReductionRules[] = {
    {"cumsum", cumsum},       {"reduce_avg", mean}, {"reduce_max", extreme_of_axes}, {"reduce_min", extreme_of_axes},
    {"reduce_prod", product}, {"reduce_sum", sum}};

}  // namespace

std::span<const GradientRule> reduction_rules() { return kReductionRules; }

}  // namespace buda::autograd
