// SPDX-License-Identifier: Apache-2.0
// Operations on quantised tensors: by their integers, or by the numbers that these stand for.
#pragma once

#include "op_call.hpp"

#include <functional>

namespace buda::stablehlo {

// Computes the results of an operation whose types are not quantised.
using ComputeOperation = std::function<Result<std::vector<Value>>(const Operation& op, std::vector<Value> operands)>;

// Is one of the operands or results quantised, and the operation not one that only hands values on (a call, a loop, a tuple)?
bool needs_quantized_rule(const Operation& op, const std::vector<Value>& operands);

// The specification's rule: operands are dequantised, the operation is computed with real numbers, results are quantised. Operations that
// move elements, and those whose bodies only compare them, are computed with the integers, which gives the same. Nodes are
// named after `name`.
Result<std::vector<Value>> compute_quantized(ImportState& state, const Operation& op, std::vector<Value> operands, const std::string& name,
                                             const ComputeOperation& compute);

}  // namespace buda::stablehlo
