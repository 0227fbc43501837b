// SPDX-License-Identifier: Apache-2.0
// Operations along one axis that look for elements or run through them: argmax, argmin, topk, cumsum; and ngram_counts (ngrams.cpp).
//
// Among equal elements the one with the smallest index counts first (argmax and argmin: the largest, on request). NaN counts as larger than
// everything in argmax and topk, and smaller in argmin, as in NumPy. Sums are taken in fp64 (integers: in 64 bits).
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/indexing/ngrams.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace buda::ops {
namespace {

// The lines along an axis: `outer` * `inner` of them, each of `size` elements that are `inner` apart.
struct Lines {
  std::int64_t outer = 1, size = 1, inner = 1;
  std::int64_t count() const { return outer * inner; }
  // The first element of a line, in a tensor whose size along the axis is `along`.
  std::int64_t begin(std::int64_t line, std::int64_t along) const { return line / inner * along * inner + line % inner; }
};

Lines lines(const Shape& shape, std::size_t axis) {
  Lines out;
  for (std::size_t i = 0; i < axis; ++i) out.outer *= shape[i];
  out.size = shape[axis];
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) out.inner *= shape[i];
  return out;
}

// Does a come before b when the largest comes first? NaN comes before all else.
template <class T>
bool before(T a, T b) {
  return a > b || (is_nan(a) && !is_nan(b));
}

Result<std::vector<ValueType>> infer_arg(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::numbers));
  Shape out = call.inputs[0].shape;
  BUDA_ASSIGN(std::size_t axis, resolved_axis(out, call.attrs.integer("dim")));
  if (out[axis] == 0) return shape_error(cat("axis ", axis, " of ", out.text(), " has no elements to choose from"));
  out[axis] = 1;
  if (!call.attrs.boolean("keep_dims")) {
    std::vector<std::int64_t> dims = out.dims();
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    out = Shape(std::move(dims));
  }
  return one(DType::i64, std::move(out));
}

template <bool kLargest>
Result<std::vector<Tensor>> evaluate_arg(const EvaluateCall& call) {
  BUDA_ASSIGN(std::size_t axis, resolved_axis(call.inputs[0].shape(), call.attrs.integer("dim")));
  bool last = call.attrs.boolean("last");
  Lines all = lines(call.inputs[0].shape(), axis);
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::i64, call.outputs[0].shape));
  std::int64_t* y = out.as<std::int64_t>().data();
  return visit_compute<true>(compute_dtype(call.inputs[0].dtype()), [&](auto tag) -> Result<std::vector<Tensor>> {
    using T = typename decltype(tag)::type;
    Tensor source = call.inputs[0].cast(kDTypeOf<T>);
    const T* x = source.as<T>().data();
    auto better = [](T a, T b) { return kLargest ? before(a, b) : a < b || (is_nan(a) && !is_nan(b)); };
    for (std::int64_t line = 0; line < all.count(); ++line) {
      const T* first = x + all.begin(line, all.size);
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < all.size; ++i) {
        T a = first[i * all.inner], b = first[best * all.inner];
        if (better(a, b) || (last && !better(b, a))) best = i;
      }
      y[line] = best;
    }
    return std::vector<Tensor>{std::move(out).take()};
  });
}

Result<std::vector<ValueType>> infer_topk(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::numbers));
  Shape out = call.inputs[0].shape;
  BUDA_ASSIGN(std::size_t axis, resolved_axis(out, call.attrs.integer("dim")));
  std::int64_t k = call.attrs.integer("k");
  if (k < 0 || k > out[axis]) return shape_error(cat("k = ", k, " lies outside [0, ", out[axis], "], the size of axis ", axis));
  out[axis] = k;
  return std::vector<ValueType>{{call.inputs[0].dtype, out, std::nullopt}, {DType::i64, out, std::nullopt}};
}

Result<std::vector<Tensor>> evaluate_topk(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  BUDA_ASSIGN(std::size_t axis, resolved_axis(in.shape(), call.attrs.integer("dim")));
  bool largest = call.attrs.boolean("largest");
  std::int64_t k = call.attrs.integer("k");
  Lines all = lines(in.shape(), axis);
  BUDA_ASSIGN(Buffer values, Buffer::make(in.dtype(), call.outputs[0].shape));
  BUDA_ASSIGN(Buffer indices, Buffer::make(DType::i64, call.outputs[1].shape));
  std::int64_t* y = indices.as<std::int64_t>().data();
  std::size_t size = dtype_size(in.dtype());
  return visit_compute<true>(compute_dtype(in.dtype()), [&](auto tag) -> Result<std::vector<Tensor>> {
    using T = typename decltype(tag)::type;
    Tensor source = in.cast(kDTypeOf<T>);
    const T* x = source.as<T>().data();
    std::vector<std::int64_t> order(static_cast<std::size_t>(all.size));
    for (std::int64_t line = 0; line < (k == 0 ? 0 : all.count()); ++line) {
      std::int64_t begin = all.begin(line, all.size);
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::int64_t a, std::int64_t b) {
        T p = x[begin + a * all.inner], q = x[begin + b * all.inner];
        if (before(p, q)) return largest;
        if (before(q, p)) return !largest;
        return a < b;
      });
      std::int64_t to = all.begin(line, k);
      for (std::int64_t i = 0; i < k; ++i) {
        std::int64_t from = order[static_cast<std::size_t>(i)], place = to + i * all.inner;
        y[place] = from;
        std::memcpy(values.bytes() + static_cast<std::size_t>(place) * size,
                    in.bytes().data() + static_cast<std::size_t>(begin + from * all.inner) * size, size);
      }
    }
    return std::vector<Tensor>{std::move(values).take(), std::move(indices).take()};
  });
}

Result<std::vector<ValueType>> infer_cumsum(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::numbers));
  BUDA_TRY(resolved_axis(call.inputs[0].shape, call.attrs.integer("dim")));
  return like_first(call);
}

Result<std::vector<Tensor>> evaluate_cumsum(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  BUDA_ASSIGN(std::size_t axis, resolved_axis(in.shape(), call.attrs.integer("dim")));
  bool exclusive = call.attrs.boolean("exclusive"), reverse = call.attrs.boolean("reverse");
  Lines all = lines(in.shape(), axis);
  return visit_compute<true>(compute_dtype(in.dtype()), [&](auto tag) -> Result<std::vector<Tensor>> {
    using T = typename decltype(tag)::type;
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    Tensor source = in.cast(kDTypeOf<T>);
    const T* x = source.as<T>().data();
    BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, in.shape()));
    T* y = out.as<T>().data();
    for (std::int64_t line = 0; line < (all.size == 0 ? 0 : all.count()); ++line) {
      std::int64_t begin = all.begin(line, all.size);
      Sum sum = 0;
      for (std::int64_t i = 0; i < all.size; ++i) {
        std::int64_t at = begin + (reverse ? all.size - 1 - i : i) * all.inner;
        if (exclusive) y[at] = static_cast<T>(sum);
        sum = wrapping_add(sum, static_cast<Sum>(x[at]));
        if (!exclusive) y[at] = static_cast<T>(sum);
      }
    }
    return std::vector<Tensor>{std::move(out).take().cast(in.dtype())};
  });
}

double one_per_input(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs&) { return volume(inputs[0].shape); }

OpDef search_op(std::string name, std::string summary, std::vector<AttrDef> attrs, decltype(OpDef::infer) infer,
                decltype(OpDef::evaluate) evaluate) {
  attrs.insert(attrs.begin(), {"dim", AttrType::integer, std::int64_t{-1}, "the axis, negative from the end", {}});
  return tensor_level_op("search", std::move(name), std::move(summary), {"x"}, std::move(attrs), infer, evaluate, one_per_input);
}

}  // namespace

std::vector<OpDef> search_ops() {
  auto flag = [](std::string name, bool standard, std::string doc) {
    return AttrDef{std::move(name), AttrType::boolean, standard, std::move(doc), {}};
  };
  std::vector<AttrDef> arg = {flag("keep_dims", true, "keep the axis, with size 1"),
                              flag("last", false, "of equal ones take the last, not the first")};
  return {search_op("argmax", "the index (I64) of the largest element along an axis", arg, infer_arg, evaluate_arg<true>),
          search_op("argmin", "the index (I64) of the smallest element along an axis", arg, infer_arg, evaluate_arg<false>),
          search_op("topk", "the k largest elements along an axis, in falling order, and as second result their indices (I64)",
                    {{"k", AttrType::integer, std::nullopt, "how many", {}}, flag("largest", true, "false: the smallest, in rising order")},
                    infer_topk, evaluate_topk),
          search_op("cumsum", "the sum of all elements up to each along an axis",
                    {flag("exclusive", false, "without the element itself"), flag("reverse", false, "from the end")}, infer_cumsum,
                    evaluate_cumsum),
          ngram_counts_op()};
}

}  // namespace buda::ops
