// SPDX-License-Identifier: Apache-2.0
// Products of real numbers with weights of 8-bit integers (dynamic range quantisation), with the rounding of TensorFlow Lite's reference
// kernels: the numbers are rounded to 8 bits for each run, and the products are summed in integers.
#pragma once

#include "node_import.hpp"

namespace buda::tflite_frontend {

// Are inputs 0 and 1 such numbers and weights, and does the user want the reference's rounding? Weights must be symmetric.
bool has_hybrid_products(NodeImport& n);

// Numbers as integers times a scale, for each slice of the first axis.
struct HybridNumbers {
  graph::ValueRef integers;  // in I32, less their zero point
  graph::ValueRef scale;     // in F32; all axes but the first have size 1
};

// Symmetric: -127 to 127, the largest of a slice being 127 or -127. Else -128 to 127 for the range of the slice and 0.
HybridNumbers hybrid_numbers(NodeImport& n, graph::ValueRef x, bool symmetric);

// In which order a sum of products is multiplied by the scales of the numbers and of the weights.
enum class HybridOrder {
  scales_first,   // sum * (numbers' * weights')
  weights_first,  // (sum * weights') * numbers'
};

// The sum of products (in I32) in real numbers, plus input 2 where there is one. Channels are axis 1 of the sum. `last` makes the last
// node.
graph::ValueRef hybrid_result(NodeImport& n, graph::ValueRef sum, const HybridNumbers& x, HybridOrder order,
                              ops::Builder& (*last)(NodeImport&));

}  // namespace buda::tflite_frontend
