// SPDX-License-Identifier: Apache-2.0
// What the families' rules have in common: their errors, and conditions on types.
#pragma once

#include <buda/ops/table/op.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace buda::ops {

// A shape or type that the op's rule does not allow: code OP003 or OP004.
Diagnostic shape_error(std::string message);
Diagnostic dtype_error(std::string message);

// Which element types an op takes.
enum class Accepts : std::uint8_t { floats, numbers, anything };

// All inputs have the same element type, and it is one of those.
Result<DType> common_dtype(std::span<const ValueType> inputs, Accepts accepts);

// NumPy's broadcast of all inputs.
Result<Shape> broadcast_all(std::span<const ValueType> inputs);

// At device level nothing broadcasts by itself, but for w: a value with w = 1 serves all inputs of the batch. The common shape.
Result<Shape> common_device_shape(std::span<const ValueType> inputs);

// Axes counted from the front, in rising order, without repetitions. An empty list means all axes.
Result<std::vector<std::size_t>> resolved_axes(const Shape& shape, const std::vector<std::int64_t>& dims);
Result<std::size_t> resolved_axis(const Shape& shape, std::int64_t dim);

// One result of the given type; also for results that have the first input's.
std::vector<ValueType> one(DType dtype, Shape shape);
Result<std::vector<ValueType>> like_first(const InferCall& call);

// As a double, so that no size overflows.
double volume(const Shape& shape);
double one_per_element(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs& attrs);

Result<std::vector<Tensor>> one_tensor(Result<Tensor> tensor);

// Attributes that every op of a device has, because the packer applies them: a ReLU on the way out.
std::vector<AttrDef> with_packer_attrs(std::vector<AttrDef> attrs);
// Does that to a result: `min` sets what is not above the threshold to 0, `max` what is negative to 0 and what is above the threshold to
// the threshold. ops::evaluate calls it for every device op.
Result<Tensor> after_packer(const Attrs& attrs, Tensor value, unsigned threads);

}  // namespace buda::ops
