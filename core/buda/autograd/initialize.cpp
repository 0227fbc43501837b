// SPDX-License-Identifier: Apache-2.0
// What a parameter is, its users tell.
#include <buda/autograd/initialize.hpp>

#include <buda/base/rng.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::autograd {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

bool is_convolution(const Node& n) { return n.op().starts_with("conv") && !n.op().ends_with("_transpose"); }

// Inputs that a result of the product adds up; 0: this user does not multiply by it.
std::int64_t inputs_of(const Graph& graph, const graph::Use& use, const Shape& weights) {
  const Node& user = graph.node(use.node);
  const bool is_product = user.op() == "matmul" || user.op() == "gemm" || is_convolution(user);
  if (!is_product || use.input != 1 || weights.rank() < 2) return 0;
  const auto turned = user.attrs.find("trans_b");
  const bool outputs_first = is_convolution(user) || (turned != user.attrs.end() && turned->second == graph::Attr(true));
  if (!outputs_first) return weights[weights.rank() - 2];
  std::int64_t n = 1;
  for (std::size_t i = 1; i < weights.rank(); ++i) n *= weights[i];
  return n;
}

bool is_added(const Graph& graph, const graph::Use& use) {
  const Node& user = graph.node(use.node);
  return user.op() == "add" || (use.input == 2 && (user.op() == "matmul" || user.op() == "gemm" || is_convolution(user)));
}

}  // namespace

Result<void> initialize(Graph& graph, const std::vector<NodeId>& parameters, std::uint64_t seed) {
  Rng rng(seed);
  for (NodeId id : parameters) {
    Node& n = graph.node(id);
    const graph::ValueType type = n.outputs[0];
    const std::vector<graph::Use> users = graph.users(id);
    std::int64_t inputs = 0;
    for (const graph::Use& use : users) inputs = std::max(inputs, inputs_of(graph, use, type.shape));
    if (inputs > 0) {
      const double bound = 1 / std::sqrt(static_cast<double>(inputs));
      std::vector<double> drawn(static_cast<std::size_t>(type.shape.volume().value_or(0)));
      for (double& x : drawn) x = rng.uniform(-bound, bound);
      n.value = graph::Value(Tensor(type.shape, std::move(drawn)).cast(type.dtype));
    } else if (std::any_of(users.begin(), users.end(), [&](const graph::Use& use) { return is_added(graph, use); })) {
      BUDA_ASSIGN(Tensor zeros, Tensor::zeros(type.dtype, type.shape));
      n.value = graph::Value(std::move(zeros));
    }
  }
  return success();
}

}  // namespace buda::autograd
