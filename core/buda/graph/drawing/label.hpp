// SPDX-License-Identifier: Apache-2.0
// What a node is called in messages, reports and drawings.
#pragma once

#include <buda/graph/fwd.hpp>

#include <string>
#include <vector>

namespace buda::graph {

// The names that make a node's label. An op that does the work of several nodes of the model is called after all of them, in the order of
// its origins (of more than eight, which no fusion joins, after the first seven and how many more); other nodes have their own name:
//
//   name              origins                  label
//   /1/Relu           /0/Gemm, /1/Relu         /0/Gemm + /1/Relu
//   /1/Relu.mask      /0/Gemm, /1/Relu         /0/Gemm + /1/Relu.mask
//   /0/Gemm.bias      /0/Gemm                  /0/Gemm.bias
//
// A label is for people; options and files know a node by its name.
std::vector<std::string> label_parts(const Node& n);
std::string label(const Node& n);

}  // namespace buda::graph
