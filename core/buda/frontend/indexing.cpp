// SPDX-License-Identifier: Apache-2.0
// Gathers and codes of indices.
#include <buda/frontend/indexing.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::frontend {

namespace {

using Ref = graph::ValueRef;

}  // namespace

// With batch axes: each sample's slices by its own indices, which is a gather of single elements' coordinates.
Result<Ref> gathered(OpImport& op, Ref table, const Shape& shape, Ref indices, const Shape& of_indices, std::int64_t axis,
                     std::int64_t batch) {
  BUDA_ASSIGN(const std::int64_t along, axis_of(op, axis, shape.rank()));
  if (batch == 0) return op.result().op("gather", {table, indices}, {{"dim", along}});
  const auto rank = static_cast<std::int64_t>(of_indices.rank());
  const std::int64_t shared = batch < 0 ? batch + rank : batch;
  if (shared < 0 || shared != along || shared > rank)
    return op.refuse(cat("its batch_dims ", batch, " with axis ", along, " are not supported; both must be equal"));
  Ref column = op.step("indices").unsqueeze(indices, {rank});
  return op.result().op("gather_nd", {table, column}, {{"batch_dims", shared}});
}

Ref one_hot(OpImport& op, Ref indices, std::int64_t depth, double on, double off, DType dtype, std::int64_t axis) {
  Ref values = op.step("values").constant(Tensor(Shape{2}, std::vector<double>{off, on}).cast(dtype));
  return op.result().op("one_hot", {indices, values}, {{"depth", depth}, {"dim", axis}});
}

}  // namespace buda::frontend
