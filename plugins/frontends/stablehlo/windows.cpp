// SPDX-License-Identifier: Apache-2.0
// reduce_window and select_and_scatter: reductions over sliding windows.
//
// Any body: slices of the padded tensor, one for each place in the window, are combined. Maxima and sums over windows
// along one to three axes become the pools that networks have.
#include "op_call.hpp"
#include "regions.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

struct Window {
  Dims sizes, strides, base_dilations, dilations, low, high;
  std::size_t rank() const { return sizes.size(); }
};

Result<Window> window_of(OpCall& n, std::size_t rank) {
  Window w;
  BUDA_ASSIGN(w.sizes, n.integers_or("window_dimensions", Dims(rank, 1)));
  BUDA_ASSIGN(w.strides, n.integers_or("window_strides", Dims(rank, 1)));
  BUDA_ASSIGN(w.base_dilations, n.integers_or("base_dilations", Dims(rank, 1)));
  BUDA_ASSIGN(w.dilations, n.integers_or("window_dilations", Dims(rank, 1)));
  BUDA_ASSIGN(Dims padding, n.integers_or("padding", Dims(2 * rank, 0)));
  if (w.sizes.size() != rank || w.strides.size() != rank || w.base_dilations.size() != rank || w.dilations.size() != rank ||
      padding.size() != 2 * rank)
    return n.refuse(cat("its window has not the ", rank, " axes of its operand"));
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  for (std::size_t i = 0; i < rank; ++i) {
    w.low.push_back(padding[2 * i]);
    w.high.push_back(padding[2 * i + 1]);
    for (const Dims* list : {&w.sizes, &w.strides, &w.base_dilations, &w.dilations})
      if ((*list)[i] < 1 || (*list)[i] > kMost) return n.refuse(cat("its window has the size, stride or dilation ", (*list)[i]));
  }
  return w;
}

// How many windows fit along an axis of this padded size.
std::int64_t windows_along(const Window& w, std::size_t axis, std::int64_t size) {
  const std::int64_t reach = (w.sizes[axis] - 1) * w.dilations[axis] + 1;
  return size < reach ? 0 : (size - reach) / w.strides[axis] + 1;
}

// The elements at one offset of all windows along an axis.
Ref at_offset(OpCall& n, const Window& w, Ref x, std::size_t axis, std::int64_t offset, std::int64_t count) {
  const std::int64_t start = offset * w.dilations[axis], stop = start + (count - 1) * w.strides[axis] + 1;
  return n.step("window").slice(x, static_cast<std::int64_t>(axis), start, stop, w.strides[axis]);
}

// The elements at one offset of all windows along some axes.
std::vector<Value> at_offsets(OpCall& n, const Window& w, std::vector<Value> values, const Dims& axes, const Dims& offsets,
                              const Dims& counts) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (Value& v : values)
      v = of_parts(n, v, [&](Ref x) { return at_offset(n, w, x, static_cast<std::size_t>(axes[i]), offsets[i], counts[i]); });
  return values;
}

// The next offsets in row-major order; false behind the last ones.
bool advance(Dims& offsets, const Window& w, const Dims& axes) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++offsets[i] < w.sizes[static_cast<std::size_t>(axes[i])]) return true;
    offsets[i] = 0;
  }
  return false;
}

// All windows along some axes, element after element.
Result<std::vector<Value>> folded_windows(OpCall& n, const Window& w, const std::vector<Value>& values, const Dims& axes,
                                          const Dims& counts) {
  Dims offsets(axes.size(), 0);
  std::vector<Value> out = at_offsets(n, w, values, axes, offsets, counts);
  while (advance(offsets, w, axes)) {
    const std::vector<Value> next = at_offsets(n, w, values, axes, offsets, counts);
    BUDA_ASSIGN(out, combined(n, 0, std::move(out), next));
  }
  return out;
}

// ---- pools

struct Pool {
  Dims order;  // of the operand's axes, so that those of the window come last and at least two before
  ops::AttrMap attrs;
  std::size_t axes = 0;
};

// A window along one to three axes without dilation of the operand, and with padding on the window's axes only.
std::optional<Pool> pool_of(const Window& w, const Shape& shape) {
  Pool out;
  Dims others, spatial;
  for (std::size_t i = 0; i < w.rank(); ++i) {
    const bool used = w.sizes[i] != 1 || w.strides[i] != 1 || w.low[i] != 0 || w.high[i] != 0;
    if (w.base_dilations[i] != 1 || w.low[i] < 0 || w.high[i] < 0) return std::nullopt;
    (used ? spatial : others).push_back(static_cast<std::int64_t>(i));
  }
  if (spatial.empty() || spatial.size() > 3 || shape.rank() > spatial.size() + 2) return std::nullopt;
  Dims kernel, stride, dilation, before, after;
  for (auto axis : spatial) {
    const auto i = static_cast<std::size_t>(axis);
    // A pool has a window at least.
    if (windows_along(w, i, shape[i]) == 0) return std::nullopt;
    // Padding that a whole window could lie in has a meaning of its own.
    if (w.low[i] >= w.sizes[i] || w.high[i] >= w.sizes[i]) return std::nullopt;
    kernel.push_back(w.sizes[i]);
    stride.push_back(w.strides[i]);
    dilation.push_back(w.dilations[i]);
    before.push_back(w.low[i]);
    after.push_back(w.high[i]);
  }
  out.order = others;
  out.order.insert(out.order.end(), spatial.begin(), spatial.end());
  out.axes = spatial.size();
  before.insert(before.end(), after.begin(), after.end());
  out.attrs = {{"kernel", kernel}, {"stride", stride}, {"dilation", dilation}, {"padding", before}};
  return out;
}

// [samples, channels, window's axes] and back.
Ref pooled(OpCall& n, const Pool& pool, Ref x, std::string_view kind) {
  const Dims shape = n.shape_of(x).dims();
  Dims back(pool.order.size());
  for (std::size_t i = 0; i < pool.order.size(); ++i) back[static_cast<std::size_t>(pool.order[i])] = static_cast<std::int64_t>(i);
  const bool turned = !std::is_sorted(pool.order.begin(), pool.order.end());
  Ref value = turned ? n.step("first").transpose(x, pool.order) : x;
  const std::size_t missing = pool.axes + 2 - shape.size();
  if (missing != 0) {
    const Dims narrow = n.shape_of(value).dims();
    Dims wider(missing, 1);
    wider.insert(wider.end(), narrow.begin(), narrow.end());
    value = n.step("wider").reshape(value, Shape(std::move(wider)));
  }
  ops::AttrMap attrs = pool.attrs;
  if (kind == "avg") attrs["count_include_pad"] = true;
  value = n.op(cat(kind, "_pool", pool.axes, 'd'), {value}, std::move(attrs));
  // What the operation refuses has no shape; it is told when all have been built.
  if (missing != 0 && n.shape_of(value).rank() > missing) {
    Dims narrower = n.shape_of(value).dims();
    narrower.erase(narrower.begin(), narrower.begin() + static_cast<std::ptrdiff_t>(missing));
    value = n.step("narrower").reshape(value, Shape(std::move(narrower)));
  }
  return turned ? n.step("last").transpose(value, back) : value;
}

// Of floating-point numbers, where the padding does not count. Nothing where there is no such pool.
std::optional<Ref> as_pool(OpCall& n, const Window& w) {
  const std::string body = combination(n.operation().regions[0], 1);
  if (n.is_complex(0) || (n.dtype(0) != DType::f32 && n.dtype(0) != DType::f16 && n.dtype(0) != DType::bf16)) return std::nullopt;
  const std::string_view reduction = reduction_of(body, false);
  if ((reduction != "max" && reduction != "sum") || !is_neutral(n, n.real(1), reduction)) return std::nullopt;
  auto pool = pool_of(w, n.shape(0));
  if (!pool) return std::nullopt;
  if (reduction == "max") return pooled(n, *pool, n.real(0), "max");
  double count = 1;
  for (auto size : w.sizes) count *= static_cast<double>(size);
  const Number mean{&n, pooled(n, *pool, n.real(0), "avg")};
  return (mean * count).ref;
}

// ---- reduce_window

// Small windows in row-major order; of larger ones one axis after the other, which takes fewer steps.
Result<std::vector<Value>> windows_reduced(OpCall& n, const Window& w, std::vector<Value> values) {
  constexpr std::int64_t kMost = 4096;
  constexpr double kSmall = 64;
  double elements = 1;
  Dims used, counts;
  for (std::size_t axis = 0; axis < w.rank(); ++axis) {
    const std::int64_t windows = windows_along(w, axis, n.shape_of(n.ref(values[0].real))[axis]);
    if (w.sizes[axis] > kMost)
      return n.refuse(cat("its window has ", w.sizes[axis], " elements along axis ", axis, "; up to ", kMost, " are supported"));
    elements *= static_cast<double>(w.sizes[axis]);
    if (windows == 0) {
      for (Value& v : values) v = of_parts(n, v, [&](Ref x) { return n.step("none").slice(x, static_cast<std::int64_t>(axis), 0, 0); });
    } else if (w.sizes[axis] != 1 || w.strides[axis] != 1) {
      used.push_back(static_cast<std::int64_t>(axis));
      counts.push_back(windows);
    }
  }
  if (elements <= kSmall) return folded_windows(n, w, values, used, counts);
  // From the last axis on, so that the order of elements stays.
  for (std::size_t i = used.size(); i-- > 0;) {
    BUDA_ASSIGN(values, folded_windows(n, w, values, {used[i]}, {counts[i]}));
  }
  return values;
}

Result<void> reduce_window(OpCall& n) {
  const std::size_t count = n.result_count();
  BUDA_TRY(n.expect_inputs(2 * count, 2 * count));
  BUDA_TRY(n.expect_regions(1));
  if (count == 0) return n.refuse("has no results");
  const Shape shape = n.shape(0);
  BUDA_ASSIGN(Window w, window_of(n, shape.rank()));
  if (count == 1)
    if (auto pool = as_pool(n, w)) {
      n.output(*pool);
      return success();
    }
  std::vector<Value> values, starts;
  Dims between;
  for (auto d : w.base_dilations) between.push_back(d - 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (n.shape(i) != shape) return n.refuse("its operands have different shapes");
    const Value& start = n.value(count + i);
    BUDA_ASSIGN(Ref re, with_padding(n, n.real(i), n.real(count + i), w.low, w.high, between));
    Ref im;
    if (n.is_complex(i)) {
      BUDA_ASSIGN(im, with_padding(n, n.imaginary(i), n.imaginary(count + i), w.low, w.high, between));
    }
    values.push_back(tensor_value(re, im));
    starts.push_back(start);
  }
  const std::string_view reduction = reduction_of(combination(n.operation().regions[0], count), n.dtype(0) == DType::boolean);
  BUDA_ASSIGN(values, windows_reduced(n, w, std::move(values)));
  if (reduction.empty() || starts[0].is_complex() || !is_neutral(n, n.ref(starts[0].real), reduction)) {
    BUDA_ASSIGN(values, combined(n, 0, starts, values));
  }
  for (std::size_t i = 0; i < count; ++i) n.output(std::move(values[i]), i);
  return success();
}

// ---- select_and_scatter

// For each window the element that `select` prefers, and its place; padding is preferred to nothing. Then the source's elements go to these
// places.
struct Candidate {
  Ref value, place;  // place: I64; -1 in the padding
};

Result<Candidate> preferred(OpCall& n, const Candidate& a, const Candidate& b) {
  BUDA_ASSIGN(std::vector<Value> selected, n.run(0, {tensor_value(a.value), tensor_value(b.value)}, true));
  if (selected.size() != 1 || !selected[0].is_tensor()) return n.refuse("its select returns no single value");
  const Number place_a{&n, a.place}, place_b{&n, b.place}, prefers{&n, n.ref(selected[0].real)};
  const Number b_is_padding = place_b < 0.0, a_is_element = place_a >= 0.0;
  const Number keeps = apply("logical_or", prefers, b_is_padding), first = apply("logical_and", keeps, a_is_element);
  return Candidate{where(first, {&n, a.value}, {&n, b.value}).ref, where(first, place_a, place_b).ref};
}

Result<void> select_and_scatter(OpCall& n) {
  BUDA_TRY(n.expect_inputs(3, 3));
  BUDA_TRY(n.expect_regions(2));
  if (n.is_complex(0)) return n.refuse("is not read for complex numbers");
  const Shape shape = n.shape(0), source = n.shape(1);
  BUDA_ASSIGN(Window w, window_of(n, shape.rank()));
  const std::string body = combination(n.operation().regions[1], 1);
  const DType dtype = n.dtype(0);
  const bool boolean = dtype == DType::boolean;
  const std::string_view reduction = reduction_of(body, boolean);
  if (reduction.empty()) return n.refuse("its scatter is not add, multiply, maximum or minimum");
  const std::int64_t count = shape.volume().value_or(0);
  constexpr std::int64_t kMost = 1 << 26;
  if (count > kMost) return n.refuse(cat("has more than ", kMost, " elements"));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  const Dims none(shape.rank(), 0);
  const Ref places = n.constant(Tensor(shape, std::move(numbers)));
  Candidate all;
  BUDA_ASSIGN(all.value, with_padding(n, n.real(0), n.scalar(0, dtype), w.low, w.high, none));
  BUDA_ASSIGN(all.place, with_padding(n, places, n.scalar(-1, DType::i64), w.low, w.high, none));
  const Shape padded = n.shape_of(all.value);
  // From the last axis on, so that of equal elements the first one in row-major order is preferred.
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    const std::int64_t windows = windows_along(w, axis, padded[axis]);
    if (axis >= source.rank() || windows != source[axis]) return n.refuse("its source has not an element for each window");
    if (windows == 0) {
      n.output(n.broadcast_to(n.real(2), shape));
      return success();
    }
    std::optional<Candidate> best;
    for (std::int64_t offset = 0; offset < w.sizes[axis]; ++offset) {
      const Ref value = at_offset(n, w, all.value, axis, offset, windows);
      Candidate next{value, at_offset(n, w, all.place, axis, offset, windows)};
      if (best) {
        BUDA_ASSIGN(next, preferred(n, *best, next));
      }
      best = next;
    }
    all = *best;
  }
  const std::int64_t updates = source.volume().value_or(0);
  auto numbers_of = [&](Ref x) { return boolean ? n.cast(x, DType::u8) : x; };
  const Ref start = n.broadcast_to(numbers_of(n.real(2)), Shape{count + 1});
  const Number place{&n, n.step("list").reshape(all.place, Shape{updates})}, padding = place < 0.0;
  const Number target = where(padding, place.constant(static_cast<double>(count)), place);
  const Ref list = n.step("source").reshape(numbers_of(n.real(1)), Shape{updates});
  const std::string ours(reduction == "sum" ? "add" : reduction == "prod" ? "mul" : reduction);
  const Ref out = n.op("scatter_elements", {start, target.ref, list}, {{"dim", std::int64_t{0}}, {"reduction", ours}});
  const Ref inside = n.step("inside").slice(out, 0, 0, count);
  n.output(n.step("shaped").reshape(boolean ? n.cast(inside, DType::boolean) : inside, shape));
  return success();
}

constexpr OpImporter kWindowOps[] = {
    {"stablehlo.reduce_window", reduce_window, Scope::whole, {}, "any body of elementwise operators"},
    {"stablehlo.select_and_scatter", select_and_scatter, Scope::whole, {}, "scatter: add, multiply, maximum or minimum"},
};

}  // namespace

std::span<const OpImporter> window_ops() { return kWindowOps; }

}  // namespace buda::stablehlo
