// SPDX-License-Identifier: Apache-2.0
// Operations of the Builder that are several of ours, and those whose arguments need a look at shapes.
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::ops {

using graph::ValueType;

Builder::Ref Builder::refuse(std::string_view op_name, std::string message) {
  return fail(take_name(op_name), input_error("OP003", {}, std::move(message)));
}

const Shape* Builder::shape_of(const Edge& edge) const {
  const ValueType* type = edge.source.valid() ? graph_->type(edge.source) : nullptr;
  return type == nullptr ? nullptr : &type->shape;
}

// H(a) = (a > 0) + (a == 0) * at.
Builder::Ref Builder::heaviside(Edge a, Edge at) {
  if (shape_of(a) == nullptr) return {};
  std::string name = take_name("heaviside"), dtype(dtype_name(graph_->type(a.source)->dtype));
  Ref zero = named(name + "_zero").constant(Tensor::scalar(0.0f).cast(graph_->type(a.source)->dtype));
  Ref above = named(name + "_above").op("greater", {a, zero});
  Ref equal = named(name + "_equal").op("equal", {a, zero});
  above = named(name + "_one").op("cast", {above}, {{"dtype", dtype}});
  equal = named(name + "_mask").op("cast", {equal}, {{"dtype", dtype}});
  equal = named(name + "_middle").multiply(equal, std::move(at));
  return named(name).add(above, equal);
}

Builder::Ref Builder::index(Edge a, std::int64_t dim, std::int64_t start, std::optional<std::int64_t> stop, std::int64_t stride) {
  const Shape* shape = shape_of(a);
  if (shape == nullptr) return {};
  auto rank = static_cast<std::int64_t>(shape->rank());
  if (dim < -rank || dim >= rank) return refuse("index", cat("a value of shape ", shape->text(), " has no axis ", dim));
  std::int64_t end = stop.value_or((*shape)[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)]);
  return slice(std::move(a), dim, start, end, stride);
}

Builder::Ref Builder::select(Edge a, std::int64_t dim, std::int64_t start, std::int64_t length, std::int64_t stride) {
  const Shape* shape = shape_of(a);
  if (shape == nullptr) return {};
  auto rank = static_cast<std::int64_t>(shape->rank());
  if (dim < -rank || dim >= rank) return refuse("select", cat("a value of shape ", shape->text(), " has no axis ", dim));
  std::int64_t size = (*shape)[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)];
  if (start < 0 || length < 1 || start > size - length || stride < 0 || (stride > 0 && stride < length))
    return refuse("select", cat("elements ", start, " to ", start + length, " of ", size, ", every ", stride,
                                ", cannot be selected: they must exist, and a stride must not be below the length"));
  if (stride == 0) return slice(std::move(a), dim, start, start + length);
  std::string name = take_name("select");
  std::vector<Edge> parts;
  for (std::int64_t at = start; at <= size - length; at += stride) {
    named(cat(name, '_', parts.size()));
    parts.emplace_back(slice(a, dim, at, at + length));
  }
  return named(name).concatenate(std::move(parts), dim);
}

Builder::Ref Builder::binary_stack(Edge a, Edge b, std::int64_t dim) {
  const Shape* shape = shape_of(a);
  if (shape == nullptr) return {};
  auto rank = static_cast<std::int64_t>(shape->rank());
  if (dim < -rank || dim >= rank) return refuse("binary_stack", cat("a value of shape ", shape->text(), " has no axis ", dim));
  if (dim < 0) dim += rank;
  Dims dims = shape->dims();
  dims[static_cast<std::size_t>(dim)] *= 2;
  std::string name = take_name("binary_stack");
  Ref first = named(name + "_a").unsqueeze(std::move(a), {dim + 1});
  Ref second = named(name + "_b").unsqueeze(std::move(b), {dim + 1});
  Ref pairs = named(name + "_pairs").concatenate({first, second}, dim + 1);
  return named(name).reshape(pairs, Shape(std::move(dims)));
}

// [z, r, c] to [z * slices, r, c / slices] or back.
Builder::Ref Builder::between_z_and_columns(std::string_view op_name, Edge a, std::int64_t slices, bool slice) {
  const Shape* shape = shape_of(a);
  if (shape == nullptr) return {};
  std::size_t rank = shape->rank();
  if (rank < 3) return refuse(op_name, cat("takes at least three axes, not the shape ", shape->text()));
  Dims dims = shape->dims();
  std::int64_t &z = dims[rank - 3], r = dims[rank - 2], &c = dims[rank - 1];
  if (slices == -1 && !slice) slices = z;
  if (slices < 1 || (slice ? c : z) % slices != 0)
    return refuse(op_name,
                  slice ? cat("cannot cut ", c, " columns in ", slices, " slices") : cat("cannot stack ", z, " matrices in ", slices));
  z = slice ? z * slices : z / slices;
  c = slice ? c / slices : c * slices;
  // As [z, slices, r, c of a slice] with the smaller z and c; columns are between slices and elements: [z, r, slices, c].
  std::int64_t outer = slice ? z / slices : z, inner = slice ? c : c / slices;
  Dims split(dims.begin(), dims.end() - 3), permutation;
  for (std::size_t axis = 0; axis < rank - 3; ++axis) permutation.push_back(static_cast<std::int64_t>(axis));
  auto first = static_cast<std::int64_t>(rank - 3);
  for (std::int64_t axis : {first, first + 2, first + 1, first + 3}) permutation.push_back(axis);
  for (std::int64_t size : slice ? Dims{outer, r, slices, inner} : Dims{outer, slices, r, inner}) split.push_back(size);
  std::string name = take_name(op_name);
  Ref apart = named(name + "_apart").reshape(std::move(a), Shape(std::move(split)));
  Ref turned = named(name + "_turned").transpose(apart, std::move(permutation));
  return named(name).reshape(turned, Shape(std::move(dims)));
}

// [z, r, c] to [z * slices, r / slices, c] or back: the order of elements stays.
Builder::Ref Builder::between_z_and_rows(std::string_view op_name, Edge a, std::int64_t slices, bool slice) {
  const Shape* shape = shape_of(a);
  if (shape == nullptr) return {};
  std::size_t rank = shape->rank();
  if (rank < 3) return refuse(op_name, cat("takes at least three axes, not the shape ", shape->text()));
  Dims dims = shape->dims();
  std::int64_t &z = dims[rank - 3], &r = dims[rank - 2];
  if (slices == -1 && !slice) slices = z;
  if (slices < 1 || (slice ? r : z) % slices != 0)
    return refuse(op_name,
                  slice ? cat("cannot cut ", r, " rows in ", slices, " slices") : cat("cannot stack ", z, " matrices in ", slices));
  z = slice ? z * slices : z / slices;
  r = slice ? r / slices : r * slices;
  named(take_name(op_name));
  return reshape(std::move(a), Shape(std::move(dims)));
}

Builder::Ref Builder::hslice(Edge a, std::int64_t slices) { return between_z_and_columns("hslice", std::move(a), slices, true); }
Builder::Ref Builder::hstack(Edge a, std::int64_t slices) { return between_z_and_columns("hstack", std::move(a), slices, false); }
Builder::Ref Builder::vslice(Edge a, std::int64_t slices) { return between_z_and_rows("vslice", std::move(a), slices, true); }
Builder::Ref Builder::vstack(Edge a, std::int64_t slices) { return between_z_and_rows("vstack", std::move(a), slices, false); }

Builder::Ref Builder::relu(Edge a, double threshold, std::string_view mode) {
  if (mode == "max") return clip(std::move(a), 0, threshold);
  if (mode != "min") return refuse("relu", cat("the mode is min or max, not '", mode, "'"));
  if (threshold == 0) return relu(std::move(a));
  return op("thresholded_relu", {std::move(a)}, {{"alpha", threshold}});
}

Builder::Ref Builder::argmax(Edge a, std::optional<std::int64_t> dim) {
  if (dim) return op("argmax", {std::move(a)}, {{"dim", *dim}});
  std::string name = take_name("argmax");
  Ref flat = named(name + "_flat").reshape(std::move(a), {-1});
  return named(name).op("argmax", {flat}, {{"dim", std::int64_t{0}}, {"keep_dims", false}});
}

}  // namespace buda::ops
