// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings: pairs of numbers turned by an angle of their position.
#pragma once

#include "node_import.hpp"

namespace buda::onnx_frontend {

// The angles of each position, in the shape [samples or 1, 1, positions, pairs].
struct Angles {
  graph::ValueRef cosine, sine;
  std::int64_t pairs = 0;
};

// Rows of input `table`, [positions, pairs], for the positions of input `places`: [samples, length], or one number for the first of them.
Result<graph::ValueRef> rows_of_positions(NodeImport& n, std::size_t table, std::size_t places, std::int64_t batch, std::int64_t length,
                                          std::int64_t pairs, std::string_view step);

// x, [batch, heads, positions, width], with its first 2 * pairs columns turned: its halves, or interleaved its neighbours, are pairs.
graph::ValueRef turned(NodeImport& n, graph::ValueRef x, const Shape& heads, const Angles& angles, bool interleaved,
                       const std::string& prefix = {});

// ONNX's from opset 23 on (x, cosines, sines, positions), and onnxruntime's (x, positions, cosines, sines).
Result<void> import_rotary_embedding(NodeImport& n);

}  // namespace buda::onnx_frontend
