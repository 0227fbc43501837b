// SPDX-License-Identifier: Apache-2.0
// Steps between a tensor of the model and the tensor that a queue holds.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/schema/record.hpp>
#include <buda/tensor/fwd.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::host_plan {

// One step on the way between the model's tensor and the 4-D tensor (w, z, r, c) that a queue holds. For an input or a parameter the
// steps lead from the model's tensor to the queue's; for an output from the queue's to the model's.
enum class TransformKind : std::uint8_t {
  reshape,    // dims: the new shape; same elements in row-major order
  transpose,  // dims: the permutation; axis i of the result is axis dims[i] of the input
  pad,        // dims: elements added at the end of each axis, with `value`
  narrow,     // dims: the length kept of each axis, from its start
};

struct Transform {
  TransformKind kind = TransformKind::reshape;
  std::vector<std::int64_t> dims;
  double value = 0;
  friend bool operator==(const Transform&, const Transform&) = default;
};

const schema::EnumNames<TransformKind>& describe_enum(const TransformKind*);
const schema::Record<Transform>& describe(const Transform*);

// The shape after the steps, without doing them: a plan is checked against its queues before anything is allocated.
Result<Shape> shape_after(const Shape& shape, const std::vector<Transform>& transforms);

// Applies the steps in order. Elements keep their type; an error names the step. Linear in the elements per step.
Result<Tensor> apply_transforms(const Tensor& tensor, const std::vector<Transform>& transforms);

}  // namespace buda::host_plan

#pragma GCC visibility pop
