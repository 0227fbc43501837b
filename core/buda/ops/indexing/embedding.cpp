// SPDX-License-Identifier: Apache-2.0
// The device's lookup: the numbers stand in row 0 of their matrix, and each gives a row of the result.
#include <buda/ops/indexing/embedding.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

Result<std::vector<ValueType>> infer_embedding(const InferCall& call) {
  const ValueType &table = call.inputs[0], &indices = call.inputs[1];
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs.first(1), Accepts::floats));
  if (!is_integer(indices.dtype)) return dtype_error(cat("indices must be integers, not ", dtype_name(indices.dtype)));
  if (table.shape.rank() != 4 || table.shape[0] != 1 || table.shape[1] != 1)
    return shape_error(cat("a table is one matrix, not ", table.shape.text()));
  if (indices.shape.rank() != 4 || indices.shape[1] != 1 || indices.shape[3] > kMaxIndices)
    return shape_error(cat("up to ", kMaxIndices, " indices must be one row, but their shape is ", indices.shape.text()));
  return one(dtype, {indices.shape[0], 1, indices.shape[3], table.shape[3]});
}

Result<std::vector<Tensor>> evaluate_embedding(const EvaluateCall& call) {
  const Shape& shape = call.outputs[0].shape;
  const Tensor table = call.inputs[0].cast(DType::f32), indices = call.inputs[1].cast(DType::i64);
  const std::int64_t columns = shape[3], rows = table.shape()[2], stride = indices.shape()[2] * indices.shape()[3];
  std::vector<float> out(static_cast<std::size_t>(*shape.volume()));
  auto to = out.begin();
  for (std::int64_t w = 0; w < shape[0]; ++w)
    for (std::int64_t i = 0; i < shape[2]; ++i) {
      const std::int64_t row = indices.as<std::int64_t>()[static_cast<std::size_t>(w * stride + i)];
      if (row < 0 || row >= rows) return shape_error(cat("index ", row, " is not a row of a table of ", rows));
      to = std::copy_n(table.as<float>().data() + row * columns, columns, to);
    }
  return std::vector<Tensor>{Tensor(shape, std::move(out)).cast(call.outputs[0].dtype)};
}

}  // namespace

OpDef device_embedding() {
  return {.name = "embedding",
          .level = Level::device,
          .family = "embedding",
          .summary = "row i is the row of the table whose number is column i of row 0 of the indices",
          .inputs = {"table", "indices"},
          .least_inputs = 2,
          .most_inputs = 2,
          .attrs = with_packer_attrs({}),
          .infer = infer_embedding,
          .evaluate = evaluate_embedding};
}

}  // namespace buda::ops
