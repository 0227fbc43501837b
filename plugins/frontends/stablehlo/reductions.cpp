// SPDX-License-Identifier: Apache-2.0
// reduce: along whole axes, with any associative body.
#include "op_call.hpp"
#include "regions.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

// Neighbours are combined in pairs, then these, and so on: the order of elements stays, and the number of nodes grows with the logarithm.
Result<std::vector<Value>> folded(OpCall& n, std::vector<Value> values, std::int64_t axis) {
  while (true) {
    const Shape shape = n.shape_of(n.ref(values[0].real));
    // Halves of different types do not go together, and what is made of them has no shape.
    if (static_cast<std::size_t>(axis) >= shape.rank()) return n.refuse("its body does not return what it takes");
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    if (size <= 1) return values;
    const std::int64_t even = size / 2 * 2;
    auto every_second = [&](std::int64_t first) {
      std::vector<Value> out;
      for (const Value& v : values) out.push_back(of_parts(n, v, [&](Ref x) { return n.step("half").slice(x, axis, first, even, 2); }));
      return out;
    };
    const std::vector<Value> left = every_second(0), right = every_second(1);
    BUDA_ASSIGN(std::vector<Value> made, combined(n, 0, left, right));
    if (even != size) {
      for (std::size_t i = 0; i < made.size(); ++i) {
        const Value rest = of_parts(n, values[i], [&](Ref x) { return n.step("rest").slice(x, axis, even, size); });
        const Ref re = n.step("joined").concatenate({n.ref(made[i].real), n.ref(rest.real)}, axis);
        const Ref im = rest.is_complex() ? n.step("joined").concatenate({n.ref(made[i].imaginary), n.ref(rest.imaginary)}, axis) : Ref();
        made[i] = tensor_value(re, im);
      }
    }
    values = std::move(made);
  }
}

// With an op of ours; booleans as bytes.
Ref reduced(OpCall& n, Ref x, const Dims& axes, std::string_view reduction) {
  const bool boolean = n.dtype_of(x) == DType::boolean;
  const Ref numbers = boolean ? n.cast(x, DType::u8) : x;
  const Ref out = n.op(cat("reduce_", reduction), {numbers}, {{"dims", axes}, {"keep_dims", false}});
  return boolean ? n.cast(out, DType::boolean) : out;
}

Result<std::vector<Value>> with_start(OpCall& n, std::vector<Value> values, const std::vector<Value>& starts, std::string_view reduction) {
  if (!reduction.empty() && is_neutral(n, n.ref(starts[0].real), reduction) && !starts[0].is_complex()) return values;
  return combined(n, 0, starts, values);
}

Result<void> reduce(OpCall& n) {
  const std::size_t count = n.result_count();
  BUDA_TRY(n.expect_inputs(2 * count, 2 * count));
  BUDA_TRY(n.expect_regions(1));
  BUDA_ASSIGN(Dims axes, n.integers_or("dimensions", {}));
  if (count == 0) return n.refuse("has no results");
  const Shape shape = n.shape(0);
  std::sort(axes.begin(), axes.end());
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || static_cast<std::size_t>(axes[i]) >= shape.rank() || (i > 0 && axes[i] == axes[i - 1]))
      return n.refuse(cat("reduces the axes ", list_text(axes), " of shape ", shape.text()));
  std::vector<Value> values, starts;
  for (std::size_t i = 0; i < count; ++i) {
    if (n.shape(i) != shape) return n.refuse("its operands have different shapes");
    values.push_back(n.value(i));
    starts.push_back(n.value(count + i));
  }
  Dims left;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i))) left.push_back(shape[i]);
  const bool empty = shape.volume() == 0;
  std::string_view reduction = reduction_of(combination(n.operation().regions[0], count), n.dtype(0) == DType::boolean);
  if (n.is_complex(0) && reduction != "sum") reduction = "";
  if (empty) {
    for (std::size_t i = 0; i < count; ++i) values[i] = of_parts(n, starts[i], [&](Ref x) { return n.broadcast_to(x, Shape(Dims(left))); });
  } else {
    if (!reduction.empty() && !axes.empty()) {
      values[0] = of_parts(n, values[0], [&](Ref x) { return reduced(n, x, axes, reduction); });
    } else {
      for (auto axis : axes) {
        BUDA_ASSIGN(values, folded(n, std::move(values), axis));
      }
      for (Value& v : values)
        v = of_parts(n, v, [&](Ref x) { return n.shape_of(x) == Shape(Dims(left)) ? x : n.step("reduced").reshape(x, Shape(Dims(left))); });
    }
    BUDA_ASSIGN(values, with_start(n, std::move(values), starts, reduction));
  }
  for (std::size_t i = 0; i < count; ++i) n.output(std::move(values[i]), i);
  return success();
}

constexpr OpImporter kReductionOps[] = {
    {"stablehlo.reduce", reduce, Scope::whole, {}, "any body of elementwise operators"},
};

}  // namespace

std::span<const OpImporter> reduction_ops() { return kReductionOps; }

}  // namespace buda::stablehlo
