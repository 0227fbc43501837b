// SPDX-License-Identifier: Apache-2.0
// Parts of tensors, with borders that are known or computed at run time.
#include "op_call.hpp"
#include "regions.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

Dims all_axes(std::size_t rank) {
  Dims out(rank);
  for (std::size_t i = 0; i < rank; ++i) out[i] = static_cast<std::int64_t>(i);
  return out;
}

Result<Ref> sliced(OpCall& n, Ref x, const Dims& starts, const Dims& limits, const Dims& steps) {
  const Shape shape = n.shape_of(x);
  const std::size_t rank = shape.rank();
  if (starts.size() != rank || limits.size() != rank || steps.size() != rank)
    return n.refuse(cat("its slices do not fit the shape ", shape.text()));
  for (std::size_t i = 0; i < rank; ++i)
    if (starts[i] < 0 || limits[i] < starts[i] || limits[i] > shape[i] || steps[i] < 1)
      return n.refuse(cat("slices axis ", i, " of shape ", shape.text(), " from ", starts[i], " to ", limits[i], " by ", steps[i]));
  if (rank == 0) return x;
  return n.op("slice", {x}, {{"dims", all_axes(rank)}, {"starts", starts}, {"stops", limits}, {"steps", steps}});
}

Result<void> slice(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_ASSIGN(Dims starts, n.integers_or("start_indices", {}));
  BUDA_ASSIGN(Dims limits, n.integers_or("limit_indices", {}));
  BUDA_ASSIGN(Dims steps, n.integers_or("strides", Dims(starts.size(), 1)));
  BUDA_ASSIGN(Ref out, sliced(n, n.input(0), starts, limits, steps));
  n.output(out);
  return success();
}

Result<void> real_dynamic_slice(OpCall& n) {
  BUDA_TRY(n.expect_inputs(4, 4));
  BUDA_ASSIGN(Dims starts, n.known_integers(1, "start_indices"));
  BUDA_ASSIGN(Dims limits, n.known_integers(2, "limit_indices"));
  BUDA_ASSIGN(Dims steps, n.known_integers(3, "strides"));
  BUDA_ASSIGN(Ref out, sliced(n, n.input(0), starts, limits, steps));
  n.output(out);
  return success();
}

// ---- padding, where negative sizes cut off, and elements may be set apart

// Elements of the pad value between neighbours along an axis.
Ref spread(OpCall& n, Ref x, Ref value, std::size_t axis, std::int64_t between) {
  const Shape shape = n.shape_of(x);
  Dims apart(shape.begin(), shape.end());
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
  Ref rows = n.step("apart").reshape(x, Shape(Dims(apart)));
  Dims filling = apart;
  filling[axis + 1] = between;
  const Ref fill = n.broadcast_to(value, Shape(std::move(filling)));
  rows = n.step("filled").concatenate({rows, fill}, static_cast<std::int64_t>(axis) + 1);
  Dims joined(shape.begin(), shape.end());
  joined[axis] *= between + 1;
  rows = n.step("joined").reshape(rows, Shape(std::move(joined)));
  return n.step("spread").slice(rows, static_cast<std::int64_t>(axis), 0, (shape[axis] - 1) * (between + 1) + 1);
}

Ref bordered(OpCall& n, Ref x, Ref value, std::size_t axis, std::int64_t before, std::int64_t after) {
  std::vector<graph::Edge> parts;
  auto border = [&](std::int64_t size) {
    Dims dims = n.shape_of(x).dims();
    dims[axis] = size;
    return n.broadcast_to(value, Shape(std::move(dims)));
  };
  if (before > 0) parts.emplace_back(border(before));
  parts.emplace_back(x);
  if (after > 0) parts.emplace_back(border(after));
  return parts.size() == 1 ? x : n.step("padded").concatenate(std::move(parts), static_cast<std::int64_t>(axis));
}

Result<void> pad(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  BUDA_ASSIGN(Dims low, n.integers("edge_padding_low"));
  BUDA_ASSIGN(Dims high, n.integers("edge_padding_high"));
  BUDA_ASSIGN(Dims interior, n.integers_or("interior_padding", Dims(low.size(), 0)));
  BUDA_ASSIGN(Ref out, with_padding(n, n.input(0), n.input(1), low, high, interior));
  n.output(out);
  return success();
}

Result<void> dynamic_pad(OpCall& n) {
  BUDA_TRY(n.expect_inputs(5, 5));
  BUDA_ASSIGN(Dims low, n.known_integers(2, "edge_padding_low"));
  BUDA_ASSIGN(Dims high, n.known_integers(3, "edge_padding_high"));
  BUDA_ASSIGN(Dims interior, n.known_integers(4, "interior_padding"));
  BUDA_ASSIGN(Ref out, with_padding(n, n.input(0), n.input(1), low, high, interior));
  n.output(out);
  return success();
}

// ---- slices that begin where operands say, moved so that they lie inside

// The start along an axis as I64 [1], if it is not known.
Ref start_of(OpCall& n, std::size_t operand, std::int64_t most) {
  const Number index{&n, n.cast(n.real(operand), DType::i64)};
  const Number least = apply("maximum", index, index.constant(0)),
               inside = apply("minimum", least, index.constant(static_cast<double>(most)));
  return n.step("start").reshape(inside.ref, Shape{1});
}

Result<std::optional<std::int64_t>> known_start(OpCall& n, std::size_t operand, std::int64_t most) {
  const Tensor* known = n.find_known(n.real(operand));
  if (known == nullptr) return std::optional<std::int64_t>();
  const Tensor wide = known->cast(known->dtype() == DType::u64 ? DType::u64 : DType::i64);
  if (wide.size() != 1) return n.refuse("its start indices are not single numbers");
  const std::int64_t index = wide.dtype() == DType::u64
                                 ? static_cast<std::int64_t>(std::min<std::uint64_t>(wide.as<std::uint64_t>()[0], INT64_MAX))
                                 : wide.as<std::int64_t>()[0];
  return std::optional(std::clamp<std::int64_t>(index, 0, most));
}

// The indices of a slice along an axis, from a start that is computed: [size].
Ref places_of(OpCall& n, Ref start, std::int64_t size) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<std::int64_t>(i);
  const Ref counted = n.constant(Tensor(Shape{size}, std::move(steps)));
  return n.step("places").add(start, counted);
}

Result<void> dynamic_slice(OpCall& n) {
  BUDA_ASSIGN(Dims sizes, n.integers("slice_sizes"));
  BUDA_TRY(n.expect_inputs(sizes.size() + 1, sizes.size() + 1));
  Ref x = n.input(0);
  const Shape shape = n.shape_of(x);
  if (sizes.size() != shape.rank()) return n.refuse(cat("its slice_sizes do not fit the shape ", shape.text()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > shape[i]) return n.refuse(cat("takes ", sizes[i], " of ", shape[i], " elements of axis ", i));
    if (sizes[i] == shape[i]) continue;
    const std::int64_t most = shape[i] - sizes[i], axis = static_cast<std::int64_t>(i);
    BUDA_ASSIGN(auto start, known_start(n, i + 1, most));
    if (start) {
      x = n.step("slice").slice(x, axis, *start, *start + sizes[i]);
    } else {
      const Ref places = places_of(n, start_of(n, i + 1, most), sizes[i]);
      x = n.op("gather", {x, places}, {{"dim", axis}});
    }
  }
  n.output(x);
  return success();
}

// With known starts: what lies before and after each axis of the update is kept. Else elements are replaced by their places.
Result<void> dynamic_update_slice(OpCall& n) {
  Ref x = n.input(0);
  const Shape shape = n.shape_of(x), size = n.shape_of(n.input(1));
  const std::size_t rank = shape.rank();
  BUDA_TRY(n.expect_inputs(rank + 2, rank + 2));
  bool all_known = true;
  Dims starts(rank, 0);
  if (size.rank() != rank) return n.refuse(cat("puts a slice of shape ", size.text(), " into shape ", shape.text()));
  for (std::size_t i = 0; i < rank; ++i) {
    if (size[i] > shape[i]) return n.refuse(cat("puts a slice of shape ", size.text(), " into shape ", shape.text()));
    BUDA_ASSIGN(auto start, known_start(n, i + 2, shape[i] - size[i]));
    if (start) starts[i] = *start;
    all_known = all_known && start;
  }
  Ref update = n.input(1);
  if (all_known) {
    // From the last axis to the first: the slab of x that the update lies in, with the update in its place.
    for (std::size_t k = rank; k-- > 0;) {
      const auto axis = static_cast<std::int64_t>(k);
      if (size[k] == shape[k]) continue;
      Ref slab = x;
      for (std::size_t j = 0; j < k; ++j)
        if (size[j] != shape[j]) slab = n.step("slab").slice(slab, static_cast<std::int64_t>(j), starts[j], starts[j] + size[j]);
      std::vector<graph::Edge> parts;
      if (starts[k] > 0) parts.emplace_back(n.step("before").slice(slab, axis, 0, starts[k]));
      parts.emplace_back(update);
      if (starts[k] + size[k] < shape[k]) parts.emplace_back(n.step("after").slice(slab, axis, starts[k] + size[k], shape[k]));
      update = n.step("updated").concatenate(std::move(parts), axis);
    }
    n.output(update);
    return success();
  }
  const Shape strides_shape = shape;
  const auto strides = shape.strides();
  Ref places;
  for (std::size_t i = 0; i < rank; ++i) {
    const Number along{&n, places_of(n, start_of(n, i + 2, shape[i] - size[i]), size[i])};
    const Number scaled = along * static_cast<double>(strides[i]);
    Dims aligned(rank, 1);
    aligned[i] = size[i];
    const Ref axis = n.step("aligned").reshape(scaled.ref, Shape(std::move(aligned)));
    places = places.valid() ? n.step("places").add(places, axis) : axis;
  }
  const auto count = shape.volume().value_or(0), updates = size.volume().value_or(0);
  const Ref flat = n.step("flat").reshape(x, Shape{count}), flat_places = n.step("flat_places").reshape(places, Shape{updates});
  const Ref flat_update = n.step("flat_update").reshape(update, Shape{updates});
  const Ref out = n.op("scatter_elements", {flat, flat_places, flat_update}, {{"dim", std::int64_t{0}}});
  n.output(n.result().reshape(out, shape));
  return success();
}

constexpr OpImporter kSlicingOps[] = {
    {"stablehlo.dynamic_pad", dynamic_pad, Scope::parts, {}, "the padding known"},
    {"stablehlo.dynamic_slice", dynamic_slice, Scope::parts},
    {"stablehlo.dynamic_update_slice", dynamic_update_slice, Scope::parts},
    {"stablehlo.pad", pad, Scope::parts},
    {"stablehlo.real_dynamic_slice", real_dynamic_slice, Scope::parts, {}, "the borders known"},
    {"stablehlo.slice", slice, Scope::parts},
};

}  // namespace

Result<Ref> with_padding(OpCall& n, Ref x, Ref value, const Dims& low, const Dims& high, const Dims& interior) {
  const Shape shape = n.shape_of(x);
  const std::size_t rank = shape.rank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return n.refuse(cat("its padding does not fit the shape ", shape.text()));
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (std::size_t i = 0; i < rank; ++i) {
    if (interior[i] < 0 || interior[i] > kMost || low[i] < -kMost || low[i] > kMost || high[i] < -kMost || high[i] > kMost)
      return n.refuse(cat("pads axis ", i, " with ", low[i], ", ", high[i], " and ", interior[i]));
    if (interior[i] > 0 && shape[i] > 1) {
      if (shape[i] > kMost / (interior[i] + 1)) return n.refuse(cat("pads axis ", i, " with ", interior[i], " between elements"));
      x = spread(n, x, value, i, interior[i]);
    }
  }
  // One node for a plain border of a known value.
  const Tensor* known = n.find_known(value);
  const bool plain = std::all_of(low.begin(), low.end(), [](auto v) { return v >= 0; }) &&
                     std::all_of(high.begin(), high.end(), [](auto v) { return v >= 0; });
  if (known != nullptr && plain && is_float(known->dtype()) && rank > 0)
    return n.step("padded").pad(x, low, high, known->cast(DType::f64).as<double>()[0]);
  for (std::size_t i = 0; i < rank; ++i) {
    x = bordered(n, x, value, i, low[i], high[i]);
    const std::int64_t size = n.shape_of(x)[i], begin = std::max<std::int64_t>(0, -low[i]),
                       end = size - std::max<std::int64_t>(0, -high[i]);
    if (end < begin) return n.refuse(cat("cuts off more of axis ", i, " than there is"));
    if (begin > 0 || end < size) x = n.step("cut").slice(x, static_cast<std::int64_t>(i), begin, end);
  }
  return x;
}

std::span<const OpImporter> slicing_ops() { return kSlicingOps; }

}  // namespace buda::stablehlo
