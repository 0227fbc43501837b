// SPDX-License-Identifier: Apache-2.0
// The device's concatenation: its inputs agree but for one axis, along which they follow one another with all their padding.
#include <buda/ops/movement/splice.hpp>

#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

std::size_t axis_of(const Attrs& attrs) {
  const std::string& dim = attrs.text("dim");
  return dim == "z" ? 1 : dim == "r" ? 2 : 3;
}

Result<std::vector<ValueType>> infer_splice(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  const std::size_t axis = axis_of(call.attrs);
  std::vector<ValueType> others(call.inputs.begin(), call.inputs.end());
  std::int64_t sum = 0;
  for (ValueType& type : others) {
    if (type.shape.rank() != 4) continue;
    sum += type.shape[axis];
    type.shape[axis] = 1;
  }
  BUDA_ASSIGN(Shape shape, common_device_shape(others));
  shape[axis] = sum;
  return one(dtype, std::move(shape));
}

Result<std::vector<Tensor>> evaluate_splice(const EvaluateCall& call) {
  const Shape& shape = call.outputs[0].shape;
  const std::size_t axis = axis_of(call.attrs);
  std::int64_t outer = 1, inner = 1;  // what is repeated for each w, and what belongs to one place along the axis
  for (std::size_t i = 1; i < 4; ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  std::vector<Tensor> parts;
  for (const Tensor& part : call.inputs) parts.push_back(part.cast(DType::f32));
  std::vector<float> out(static_cast<std::size_t>(*shape.volume()));
  auto to = out.begin();
  for (std::int64_t w = 0; w < shape[0]; ++w)
    for (std::int64_t o = 0; o < outer; ++o)
      for (const Tensor& part : parts) {
        const std::int64_t size = part.shape()[axis] * inner, matrix = part.shape()[0] == 1 ? 0 : w;
        to = std::copy_n(part.as<float>().data() + (matrix * outer + o) * size, size, to);
      }
  return std::vector<Tensor>{Tensor(shape, std::move(out)).cast(call.outputs[0].dtype)};
}

}  // namespace

OpDef device_splice() {
  return {.name = "splice",
          .level = Level::device,
          .family = "splice",
          .summary = "the inputs one after the other along z, r or c, tile by tile",
          .inputs = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"},
          .least_inputs = 1,
          .most_inputs = 8,
          .attrs = with_packer_attrs({{"dim", AttrType::text, std::nullopt, "z, r or c", {"z", "r", "c"}}}),
          .infer = infer_splice,
          .evaluate = evaluate_splice};
}

}  // namespace buda::ops
