// SPDX-License-Identifier: Apache-2.0
// Emulated bfloat16: a graph of tensor level whose floating-point values all have the precision of bfloat16.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/named_tensors.hpp>

namespace buda::runtime {

// The nearest bfloat16 numbers, ties to even, in the tensor's own type. Tensors of integers and booleans are left as they are.
Tensor rounded_to_bfloat16(const Tensor& tensor);
void round_to_bfloat16(NamedTensors& tensors);

// Rounds parameters and constants. At device level, whose values of type F32 may stand for integers, it is an error (OP062).
Result<void> round_weights_to_bfloat16(graph::Graph& graph);

// Rounds the results of each op; within an op numbers are F32, sums too.
void round_results_to_bfloat16(ops::EvaluateOptions& options);

}  // namespace buda::runtime
