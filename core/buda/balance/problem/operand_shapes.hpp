// SPDX-License-Identifier: Apache-2.0
// Shapes of operands that do not follow from the result's shape alone: those of splices and embeddings, and of weights of depthwise
// products.
#pragma once

#include <buda/balance/problem/problem.hpp>

#include <string>
#include <vector>

namespace buda::balance {

struct ShapeFinding {
  std::string code, message;
};

// A depthwise product of several matrices has one matrix of weights in a graph, and one for each of them in a netlist.
void repeat_weights(OpSpec& spec);

bool has_free_operands(const netlist::Op& op);

// `in`: the shapes in which the operands arrive, after their manipulations. Sets what follows from them: the parts of a splice, the indices
// of an embedding.
std::vector<ShapeFinding> check_free_operands(OpSpec& spec, const std::vector<netlist::TileShape>& in);

}  // namespace buda::balance
