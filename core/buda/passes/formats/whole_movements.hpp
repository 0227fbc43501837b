// SPDX-License-Identifier: Apache-2.0
// Movements through the matrix unit that keep every bit that it reads.
//
// A product with a selection matrix moves rows. The unit takes 11 bits of a significand, but multiplies only 10 of operand 1: the last bit
// of a Float16, and of what it reads of a Float32, would be lost, so that a number no longer equals its copy. Such a value is moved in two
// parts, which are put together again:
//
//   before                                            after
//   y = matmul(picks, x) #identity : … Float32        high = multiply(x, ones)            10 bits
//                                                     low = subtract(x, high)             the last one
//                                                     y = add(matmul(picks, high), matmul(picks, low))
//
// Formats of at most 8 bits need none of that, nor does a movement that is read by products alone, which lose the bit themselves.
#pragma once

#include <buda/graph/graph.hpp>

#include <cstddef>
#include <vector>

namespace buda::passes {

// Among these nodes, whose values have formats. The parts are in Float32 if the device computes in it, else in the format of what is moved.
// Gives the number of movements.
std::size_t keep_whole_movements(graph::Graph& graph, const std::vector<graph::NodeId>& nodes, bool in_float32);

}  // namespace buda::passes
