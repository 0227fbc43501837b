// SPDX-License-Identifier: Apache-2.0
// The reference meaning of an op: what an op's evaluation is given, and how it is called.
#pragma once

#include <buda/ops/table/op.hpp>
#include <buda/tensor/tensor.hpp>

#include <span>
#include <vector>

namespace buda::ops {

struct EvaluateCall {
  std::span<const Tensor> inputs;  // as they arrive; at device level 4-D and padded
  std::span<const ValueType> outputs;
  Attrs attrs;
  unsigned threads = 1;  // the result does not depend on it
};

// infer (op.hpp), then the op's evaluation. Results have the inferred types.
Result<std::vector<Tensor>> evaluate(const OpDef& def, std::span<const Tensor> inputs, const AttrMap& attrs, unsigned threads);

}  // namespace buda::ops
