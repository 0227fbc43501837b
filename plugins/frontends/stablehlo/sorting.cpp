// SPDX-License-Identifier: Apache-2.0
// sort with any comparison, and top_k.
#include "op_call.hpp"
#include "regions.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

// The place of each element along the last axis once sorted: how many others come before it, which are those that compare less, and equal
// ones in front of it. Every pair is compared, so that any comparison can be read.
Result<Ref> ranks(OpCall& n, const std::vector<Value>& values, std::int64_t size) {
  const Dims shape = n.shape_of(n.ref(values[0].real)).dims();
  Dims row = shape, column = shape;
  row.insert(row.end() - 1, 1);
  column.push_back(1);
  // [.., i, j]: does element j come before element i?
  std::vector<Value> both;
  for (const Value& v : values) {
    both.push_back(of_parts(n, v, [&](Ref x) { return n.step("other").reshape(x, Shape(Dims(row))); }));
    both.push_back(of_parts(n, v, [&](Ref x) { return n.step("own").reshape(x, Shape(Dims(column))); }));
  }
  BUDA_ASSIGN(std::vector<Value> made, n.run(0, both, true));
  if (made.size() != 1 || !made[0].is_tensor()) return n.refuse("its comparison returns no single value");
  for (std::size_t i = 0; i < both.size(); i += 2) std::swap(both[i], both[i + 1]);
  BUDA_ASSIGN(std::vector<Value> opposite, n.run(0, both, true));
  const Number less{&n, n.ref(made[0].real)}, greater{&n, n.ref(opposite[0].real)};
  if (n.dtype_of(less.ref) != DType::boolean) return n.refuse("its comparison returns no boolean");
  const Ref places = n.constant([&] {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    return Tensor(Shape{size}, std::move(numbers));
  }());
  const Number j{&n, places}, i{&n, n.step("own").reshape(places, Shape{size, 1})}, in_front = j < i;
  const Number not_greater = apply("logical_not", greater), equal_in_front = apply("logical_and", in_front, not_greater);
  const Number before = apply("logical_or", less, equal_in_front);
  Dims square = shape;
  square.push_back(size);
  const Ref numbers = n.cast(n.broadcast_to(before.ref, Shape(std::move(square))), DType::i64);
  return n.op("reduce_sum", {numbers}, {{"dims", Dims{-1}}, {"keep_dims", false}});
}

Result<void> sort(OpCall& n) {
  const std::size_t count = n.result_count();
  BUDA_TRY(n.expect_inputs(count, count));
  BUDA_TRY(n.expect_regions(1));
  if (count == 0) return n.refuse("has no results");
  const Shape shape = n.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.rank());
  BUDA_ASSIGN(std::int64_t axis, n.integer_or("dimension", -1));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return n.refuse(cat("sorts along axis ", axis, " of shape ", shape.text()));
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  constexpr std::int64_t kMost = 8192;
  if (size > kMost) return n.refuse(cat("sorts ", size, " elements; up to ", kMost, " are supported"));
  if (shape.volume() == 0) {
    for (std::size_t i = 0; i < count; ++i) n.output(n.value(i), i);
    return success();
  }
  Dims order;  // the axis comes last
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  const bool turned = axis != rank - 1;
  auto to_last = [&](Ref x) { return turned ? n.step("turned").transpose(x, order) : x; };
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    if (n.shape(i) != shape) return n.refuse("its operands have different shapes");
    values.push_back(of_parts(n, n.value(i), to_last));
  }
  BUDA_ASSIGN(Ref places, ranks(n, values, size));
  for (std::size_t i = 0; i < count; ++i) {
    n.output(of_parts(n, values[i],
                      [&](Ref x) {
                        const Ref sorted = n.op("scatter_elements", {x, places, x}, {{"dim", rank - 1}});
                        return turned ? n.step("back").transpose(sorted, back) : sorted;
                      }),
             i);
  }
  return success();
}

Result<void> top_k(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  BUDA_ASSIGN(std::int64_t k, n.integer("k"));
  const bool boolean = n.dtype(0) == DType::boolean;
  const Ref x = boolean ? n.cast(n.real(0), DType::u8) : n.real(0);
  if (n.shape(0).rank() == 0 || n.is_complex(0)) return n.refuse("takes real tensors with at least one axis");
  const Ref values = n.op("topk", {x}, {{"k", k}, {"dim", std::int64_t{-1}}});
  n.output(boolean ? n.cast(values, DType::boolean) : values);
  if (values.valid()) n.output(n.cast(Ref(values.node, 1), DType::i32), 1);
  return success();
}

constexpr OpImporter kSortingOps[] = {
    {"chlo.top_k", top_k},
    {"stablehlo.sort", sort, Scope::whole, {}, "any comparison"},
};

}  // namespace

std::span<const OpImporter> sorting_ops() { return kSortingOps; }

}  // namespace buda::stablehlo
