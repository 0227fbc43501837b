// SPDX-License-Identifier: Apache-2.0
// Gradients of selections by indices: each is added where its element came from.
#include <buda/autograd/rules/rules.hpp>

#include <buda/tensor/tensor.hpp>

#include <numeric>
#include <string>

namespace buda::autograd {
namespace {

// With the axis in front it is a scatter of slices: x [size, others…], g [indices…, others…].
void gather(Backward& b) {
  const Shape x = b.in(0).shape();
  const std::int64_t axis = b.axis("dim");
  const auto added = static_cast<std::int64_t>(b.in(1).shape().rank()), rank = static_cast<std::int64_t>(x.rank());
  Dims to_front, moved{x[static_cast<std::size_t>(axis)]}, back;
  for (std::int64_t i = 0; i < added; ++i) to_front.push_back(axis + i);
  for (std::int64_t i = 0; i < rank; ++i) {
    if (i == axis) continue;
    to_front.push_back(i < axis ? i : i + added - 1);
    moved.push_back(x[static_cast<std::size_t>(i)]);
  }
  for (std::int64_t i = 0; i < rank; ++i) back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  const Term updates = axis == 0 ? b.g() : b.g().transpose(to_front);
  const Term indices = b.in(1).op("unsqueeze", {{"dims", Dims{added}}});
  const Term zeros = b.g().number(0).broadcast(Shape(moved));
  const Term sums(b.builder(), b.builder().op("scatter_nd", {zeros.value(), indices.value(), updates.value()}, {{"reduction", "add"}}));
  b.give(0, axis == 0 ? sums : sums.transpose(back));
}

// gather_nd and scatter_nd, or gather_elements and scatter_elements: the same places, to read or to write.
struct Places {
  Term indices;
  bool by_coordinates = false;
  std::int64_t axis = 0;  // of elements

  Term read(const Term& x) const { return by_coordinates ? x.op("gather_nd", indices) : x.op("gather_elements", indices, {{"dim", axis}}); }
  Term written(const Term& x, const Term& updates, const char* reduction) const {
    if (!x.valid() || !updates.valid() || !indices.valid()) return {};
    graph::AttrMap attrs{{"reduction", std::string(reduction)}};
    if (!by_coordinates) attrs["dim"] = axis;
    ops::Builder& b = x.builder();
    return {b, b.op(by_coordinates ? "scatter_nd" : "scatter_elements", {x.value(), indices.value(), updates.value()}, std::move(attrs))};
  }
};

Places elements_along(Backward& b) { return {b.in(1), false, b.axis("dim")}; }

void gather_elements(Backward& b) {
  const Term zeros = b.g().number(0).broadcast(b.in(0).shape());
  b.give(0, elements_along(b).written(zeros, b.g(), "add"));
}

// Indices with the coordinates of the leading axes that both share before them: scatter_nd has no such axes.
Term with_batch_coordinates(const Term& indices, std::int64_t shared) {
  Term out = indices;
  const Shape shape = indices.shape();
  for (std::int64_t axis = shared; axis-- > 0;) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    Dims one(shape.rank(), 1), all = shape.dims();
    one[static_cast<std::size_t>(axis)] = size;
    all.back() = 1;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(size));
    std::iota(numbers.begin(), numbers.end(), 0);
    ops::Builder& b = indices.builder();
    const Term coordinates = Term(b, b.constant(Tensor(Shape(one), std::move(numbers)).cast(indices.dtype()))).broadcast(Shape(all));
    out = {b, b.op("concatenate", {coordinates.value(), out.value()}, {{"dim", static_cast<std::int64_t>(shape.rank()) - 1}})};
  }
  return out;
}

void gather_nd(Backward& b) {
  const Places places{with_batch_coordinates(b.in(1), b.attrs().integer("batch_dims")), true, 0};
  const Term zeros = b.g().number(0).broadcast(b.in(0).shape());
  b.give(0, places.written(zeros, b.g(), "add"));
}

// ---- scatters of updates u into x, by reduction

// What is overwritten counts for nothing; of several updates at a place the last counts.
void replaced(Backward& b, const Places& places) {
  const Term g = b.g(), u = b.in(2);
  const Shape shape = u.shape();
  if (b.wants(0)) b.give(0, places.written(g, g.number(0).broadcast(shape), "none"));
  if (!b.wants(2)) return;
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(shape.volume().value_or(0)));
  std::iota(numbers.begin(), numbers.end(), 1);
  const Term number(b.builder(), b.builder().constant(Tensor(shape, std::move(numbers))));
  const Term none = number.number(0).broadcast(b.in(0).shape());
  const Term last = places.read(places.written(none, number, "none"));
  const Term counts = last.op("equal", number), zero = g.number(0);
  b.give(2, where(counts, places.read(g), zero));
}

void added(Backward& b, const Places& places) {
  b.give(0, b.g());
  if (b.wants(2)) b.give(2, places.read(b.g()));
}

// g times all other factors of a place: their product over this one, and where factors are 0 the product of the others.
void multiplied(Backward& b, const Places& places) {
  const Term x = b.in(0), u = b.in(2), zero = x.number(0), one = x.number(1);
  const Term x_is_zero = x.op("equal", zero), u_is_zero = u.op("equal", zero);
  const Term x_zeros = where(x_is_zero, one, zero), u_zeros = where(u_is_zero, one, zero);
  const Term safe_x = where(x_is_zero, one, x), safe_u = where(u_is_zero, one, u);
  const Term zeros = places.written(x_zeros, u_zeros, "add");
  const Term product = places.written(safe_x, safe_u, "mul");
  const auto without = [&](const Term& all, const Term& whole, const Term& own_zeros, const Term& own) {
    const Term others = all - own_zeros;
    return where(others.above(zero), zero, whole / own);
  };
  if (b.wants(0)) b.give(0, b.g() * without(zeros, product, x_zeros, safe_x));
  if (!b.wants(2)) return;
  const Term at = places.read(zeros), whole = places.read(product), g = places.read(b.g());
  b.give(2, g * without(at, whole, u_zeros, safe_u));
}

// Equal extremes of a place share.
void largest_or_smallest(Backward& b, const Places& places) {
  const Term x = b.in(0), u = b.in(2), y = b.result(), zero = b.g().number(0), one = b.g().number(1);
  const Term x_hit = where(x.op("equal", y), one, zero);
  const Term y_read = places.read(y);
  const Term u_hit = where(u.op("equal", y_read), one, zero);
  const Term share = b.g() / places.written(x_hit, u_hit, "add");
  b.give(0, share * x_hit);
  if (b.wants(2)) b.give(2, u_hit * places.read(share));
}

void scatter(Backward& b, const Places& places) {
  const std::string& reduction = b.attrs().text("reduction");
  if (reduction == "none") return replaced(b, places);
  if (reduction == "add") return added(b, places);
  if (reduction == "mul") return multiplied(b, places);
  largest_or_smallest(b, places);
}
void scatter_elements(Backward& b) { scatter(b, elements_along(b)); }
void scatter_nd(Backward& b) { scatter(b, {b.in(1), true, 0}); }

// ---- others

void topk(Backward& b) {
  const Term zeros = b.g().number(0).broadcast(b.in(0).shape());
  const Places places{b.result(1), false, b.axis("dim")};
  b.give(0, places.written(zeros, b.g(), "add"));
}

void reverse_sequence(Backward& b) { b.give(0, b.g().op("reverse_sequence", b.in(1), b.node().attrs)); }

// values[1] has what is at the indices, values[0] the rest.
void one_hot(Backward& b) {
  if (!b.wants(1)) return;
  Dims all;
  for (std::size_t i = 0; i < b.g().shape().rank(); ++i) all.push_back(static_cast<std::int64_t>(i));
  const Term truth(b.builder(), b.builder().constant(Tensor(Shape{2}, std::vector<double>{0, 1}).cast(b.g().dtype())));
  const Term hits = b.in(0).op("one_hot", truth, b.node().attrs);
  const Term on = (b.g() * hits).sum(all, false).reshape(Shape{1});
  const Term total = b.g().sum(all, false).reshape(Shape{1});
  const Term off = total - on;
  b.give(1, {b.builder(), b.builder().op("concatenate", {off.value(), on.value()}, {{"dim", std::int64_t{0}}})});
}

constexpr GradientRule kIndexingRules[] = {{"gather", gather},
                                           {"gather_elements", gather_elements},
                                           {"gather_nd", gather_nd},
                                           {"one_hot", one_hot},
                                           {"reverse_sequence", reverse_sequence},
                                           {"scatter_elements", scatter_elements},
                                           {"scatter_nd", scatter_nd},
                                           {"topk", topk}};

}  // namespace

std::span<const GradientRule> indexing_rules() { return kIndexingRules; }

}  // namespace buda::autograd
