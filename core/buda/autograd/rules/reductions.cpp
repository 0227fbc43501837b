// Gradients of reductions: the incoming one for each element that took part. Equal extremes share it.
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

constexpr GradientRule kReductionRules[] = {
    {"reduce_avg", mean}, {"reduce_max", extreme_of_axes}, {"reduce_min", extreme_of_axes}, {"reduce_sum", sum}};

}  // namespace

std::span<const GradientRule> reduction_rules() { return kReductionRules; }

}  // namespace buda::autograd
