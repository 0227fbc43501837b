// SPDX-License-Identifier: Apache-2.0
// The inverse of a maximum over windows: elements back to the places that they came from.
#include <buda/base/text.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <cstring>

namespace buda::ops {
namespace {

Result<std::vector<ValueType>> infer_unpool(const InferCall& call) {
  const auto& [x, indices] = std::tie(call.inputs[0], call.inputs[1]);
  if (indices.dtype != DType::i64) return dtype_error(cat("indices are I64, not ", dtype_name(indices.dtype)));
  if (indices.shape != x.shape)
    return shape_error(cat("the indices are ", indices.shape.text(), "; each element of x ", x.shape.text(), " needs one"));
  Shape shape(call.attrs.integers("shape"));
  if (!shape.volume() || shape.rank() != x.shape.rank())
    return shape_error(cat("'shape' ", shape.text(), " is not a legal shape for a result of ", x.shape.rank(), " axes"));
  return one(x.dtype, std::move(shape));
}

Result<std::vector<Tensor>> evaluate_unpool(const EvaluateCall& call) {
  const Tensor& x = call.inputs[0];
  BUDA_ASSIGN(Buffer out, Buffer::make(x.dtype(), call.outputs[0].shape));
  fill(out, x.dtype(), 0);
  std::size_t size = dtype_size(x.dtype());
  auto places = call.inputs[1].as<std::int64_t>();
  auto count = static_cast<std::int64_t>(out.byte_count() / size);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= count)
      return shape_error(cat("index ", i, " is ", places[i], "; the result has ", count, " elements"));
    std::memcpy(out.bytes() + static_cast<std::size_t>(places[i]) * size, x.bytes().data() + i * size, size);
  }
  return std::vector<Tensor>{std::move(out).take()};
}

}  // namespace

std::vector<OpDef> unpool_ops() {
  return {{.name = "max_unpool",
           .level = Level::tensor,
           .family = "unpool",
           .summary = "zeros, and the elements of x at the places of the result that the indices name; of several at one place the last",
           .inputs = {"x", "indices"},
           .least_inputs = 2,
           .most_inputs = 2,
           .attrs = {{"shape", AttrType::integers, std::nullopt, "shape of the result", {}}},
           .infer = infer_unpool,
           .evaluate = evaluate_unpool}};
}

}  // namespace buda::ops
