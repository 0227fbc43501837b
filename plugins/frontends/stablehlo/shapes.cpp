// SPDX-License-Identifier: Apache-2.0
// Operations that give elements other places or another shape.
#include "op_call.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/slices.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

Result<void> reshape(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 2));
  if (n.lifted()) {
    n.output(n.input(0));
    return success();
  }
  Shape to;
  if (n.input_count() == 2 && n.result_type().has_open_sizes()) {
    BUDA_ASSIGN(Dims sizes, n.known_integers(1, "shape"));
    to = Shape(std::move(sizes));
  } else {
    BUDA_ASSIGN(to, n.stated_shape());
  }
  n.output(n.shape_of(n.input(0)) == to ? n.input(0) : n.result().reshape(n.input(0), to));
  return success();
}

// Axis i of the operand becomes axis dims[i] of the result; all others are new.
Result<void> broadcast_in_dim(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 2));
  if (n.lifted()) {
    n.output(n.input(0));
    return success();
  }
  BUDA_ASSIGN(Dims axes, n.integers_or("broadcast_dimensions", {}));
  Shape to;
  if (n.input_count() == 2 && n.result_type().has_open_sizes()) {
    BUDA_ASSIGN(Dims sizes, n.known_integers(1, "shape"));
    to = Shape(std::move(sizes));
  } else {
    BUDA_ASSIGN(to, n.stated_shape());
  }
  Ref x = n.input(0);
  const Shape from = n.shape_of(x);
  if (axes.size() != from.rank()) return n.refuse(cat("names ", axes.size(), " axes, and its operand has ", from.rank()));
  Dims order(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || static_cast<std::size_t>(axes[i]) >= to.rank() || std::count(axes.begin(), axes.end(), axes[i]) != 1)
      return n.refuse(cat("names the axes ", list_text(axes), " of a result of shape ", to.text()));
    order[i] = static_cast<std::int64_t>(i);
  }
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return axes[static_cast<std::size_t>(a)] < axes[static_cast<std::size_t>(b)]; });
  if (!std::is_sorted(axes.begin(), axes.end())) x = n.step("transpose").transpose(x, order);
  Dims aligned(to.rank(), 1);
  bool last = true;  // are they the last axes, which broadcast as they are?
  for (std::size_t i = 0; i < axes.size(); ++i) {
    aligned[static_cast<std::size_t>(axes[i])] = from[i];
    last = last && axes[i] == static_cast<std::int64_t>(to.rank() - axes.size() + i);
  }
  if (!last) x = n.step("aligned").reshape(x, Shape(std::move(aligned)));
  n.output(n.broadcast_to(x, to));
  return success();
}

// The old form, whose new axes come first.
Result<void> broadcast(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_ASSIGN(Shape to, n.stated_shape());
  n.output(n.broadcast_to(n.input(0), to));
  return success();
}

Result<void> transpose(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_ASSIGN(Dims permutation, n.integers("permutation"));
  n.output(n.result().transpose(n.input(0), permutation));
  return success();
}

Result<void> concatenate(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1 << 16));
  BUDA_ASSIGN(std::int64_t axis, n.integer("dimension"));
  std::vector<graph::Edge> parts;
  for (std::size_t i = 0; i < n.input_count(); ++i) parts.emplace_back(n.input(i));
  n.output(parts.size() == 1 ? n.input(0) : n.result().concatenate(std::move(parts), axis));
  return success();
}

Result<void> reverse(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_ASSIGN(Dims axes, n.integers("dimensions"));
  Ref x = n.input(0);
  n.output(axes.empty() ? x : frontend::reversed(n, x, axes));
  return success();
}

Result<void> iota(OpCall& n) {
  BUDA_ASSIGN(std::int64_t axis, n.integer("iota_dimension"));
  const Type& type = n.result_type();
  Shape shape(Dims(type.dims));
  if (n.input_count() == 1) {
    BUDA_ASSIGN(Dims sizes, n.known_integers(0, "shape"));
    shape = Shape(std::move(sizes));
  }
  constexpr std::int64_t kMost = 1 << 27;
  if (!type.dtype || !shape.volume() || axis < 0 || static_cast<std::size_t>(axis) >= shape.rank() ||
      shape[static_cast<std::size_t>(axis)] > kMost)
    return n.refuse(cat("counts along axis ", axis, " of ", type.text));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  Dims aligned(shape.rank(), 1);
  aligned[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)];
  const Tensor counted = Tensor(Shape(std::move(aligned)), std::move(numbers)).cast(*type.dtype);
  const Ref out = n.broadcast_to(n.constant(counted), shape);
  if (!type.is_complex) {
    n.output(out);
  } else {
    n.output(out, n.op("multiply", {out, n.scalar(0, *type.dtype)}), 0);
  }
  return success();
}

Result<void> dimension_size(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_ASSIGN(std::int64_t axis, n.integer("dimension"));
  const Shape shape = n.shape(0);
  if (axis < 0 || static_cast<std::size_t>(axis) >= shape.rank()) return n.refuse(cat("asks for axis ", axis, " of shape ", shape.text()));
  n.output(n.constant(Tensor::scalar(static_cast<std::int32_t>(shape[static_cast<std::size_t>(axis)]))));
  return success();
}

// The operand, as it is.
Result<void> same(OpCall& n) {
  for (std::size_t i = 0; i < std::min(n.input_count(), n.result_count()); ++i) n.output(n.value(i), i);
  return success();
}

Result<void> constant_like(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const Attribute* value = n.attribute("value");
  const auto* real = value == nullptr ? nullptr : value->as<double>();
  const auto* integer = value == nullptr ? nullptr : value->as<std::int64_t>();
  if (n.is_complex(0) || (real == nullptr && integer == nullptr)) return n.refuse("its value is not read");
  n.output(n.broadcast_to(n.scalar(real != nullptr ? *real : static_cast<double>(*integer), n.dtype(0)), n.shape(0)));
  return success();
}

constexpr OpImporter kShapeOps[] = {
    {"chlo.constant_like", constant_like},
    {"stablehlo.broadcast", broadcast, Scope::parts},
    {"stablehlo.broadcast_in_dim", broadcast_in_dim, Scope::everywhere},
    {"stablehlo.concatenate", concatenate, Scope::parts},
    {"stablehlo.dynamic_broadcast_in_dim", broadcast_in_dim, Scope::parts, {}, "the shape known"},
    {"stablehlo.dynamic_iota", iota, Scope::whole, {}, "the shape known"},
    {"stablehlo.dynamic_reshape", reshape, Scope::parts, {}, "the shape known"},
    {"stablehlo.get_dimension_size", dimension_size},
    {"stablehlo.iota", iota},
    {"stablehlo.optimization_barrier", same},
    {"stablehlo.reshape", reshape, Scope::everywhere},
    {"stablehlo.reverse", reverse, Scope::parts},
    {"stablehlo.transpose", transpose, Scope::parts},
};

}  // namespace

std::span<const OpImporter> shape_ops() { return kShapeOps; }

}  // namespace buda::stablehlo
