// SPDX-License-Identifier: Apache-2.0
// A graph as text for people: one line per node, in topological order, without tensors. Not a file format.
#pragma once

#include <buda/graph/fwd.hpp>

#include <string>

namespace buda::passes {

//   graph mlp, tensor level
//   x = input : F32 [1, 64]
//   w = parameter : F32 [64, 10]
//   y = matmul(x, w {transpose}) relu_en=true : F32 [1, 10] Float16_b, acc Float16_b, HiFi3
//   out = output(y)
std::string listing(const graph::Graph& graph);

}  // namespace buda::passes
