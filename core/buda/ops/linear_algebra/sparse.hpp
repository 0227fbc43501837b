// SPDX-License-Identifier: Apache-2.0
// Products with selection matrices: sparse matrices, known when the model is compiled, of which each row names a few rows of the other
// factor.
//
// A selection matrix is an integer tensor [K, T, R]: entry (k, t, r) says which row of x goes into row r of slice t of the result, counted
// from 1; 0 names none. Each row of the result is the sum of the up to K rows named for it, times `weights` (of the selection matrix's
// shape) where they are given. So a matrix of R * T rows and N columns takes K * R * T numbers, whatever N is: the selection matrices of a
// convolution have one for each tap and place, where the dense matrix would be thousands of times as large. Counting from 1 makes padding
// with zeros name nothing.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/ops/table/op.hpp>

#include <vector>

namespace buda::ops {

// Their definitions, which matmul_ops() gives along with its own.
std::vector<OpDef> sparse_ops();
std::vector<OpDef> depthwise_ops();

// The device's matmul with `identity`: inputs picks, x and perhaps weights. On the device a selection matrix lies as a matrix: row k * T +
// t, column r; T is the attribute `slices`. Rows and columns beyond are zero.
Result<std::vector<ValueType>> infer_device_sparse_matmul(const InferCall& call);
Result<Tensor> evaluate_device_sparse_matmul(const EvaluateCall& call);
double device_sparse_matmul_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs& attrs);
// Whether a node of a device graph is one.
bool is_sparse_product(const graph::Node& n);

}  // namespace buda::ops
