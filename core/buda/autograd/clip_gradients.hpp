// SPDX-License-Identifier: Apache-2.0
// Gradients that are kept small, as by PyTorch's clip_grad_value_ and clip_grad_norm_.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <vector>

namespace buda::autograd {

struct Clipping {
  double norm = 0;   // all gradients are scaled so that the norm of all of them is at most this; 0: not
  double value = 0;  // elements are clipped to this magnitude first; 0: not
};

// Puts what it makes of the gradients in their place; invalid ones stay. New nodes are called after `basis`.
Result<void> clip_gradients(graph::Graph& graph, graph::NodeId basis, std::vector<graph::ValueRef>& gradients, const Clipping& clipping);

}  // namespace buda::autograd
