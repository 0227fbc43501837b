// SPDX-License-Identifier: Apache-2.0
// Normalisation by the root of the mean square along the last axes.
#pragma once

#include "node_import.hpp"

namespace buda::onnx_frontend {

struct RootMeanSquare {
  graph::ValueRef normalized;  // x / sqrt(mean(x^2) + epsilon) * scale, as the node's result
  graph::ValueRef inverse;     // 1 / sqrt(mean(x^2) + epsilon)
};

// Of the axes from `axis` (not negative) on.
RootMeanSquare root_mean_square(NodeImport& n, graph::ValueRef x, graph::ValueRef scale, const graph::ValueType& type, std::int64_t axis,
                                double epsilon);

}  // namespace buda::onnx_frontend
