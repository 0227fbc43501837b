// SPDX-License-Identifier: Apache-2.0
// Nodes that TensorFlow's optimiser makes of several, as graphs of Grappler and of TensorFlow.js have them: a product or normalisation and
// what follows it.
#include "fused.hpp"

#include <buda/base/text.hpp>

namespace buda::tensorflow_frontend {

using Ref = graph::ValueRef;

FollowingOps::FollowingOps(NodeImport& node, std::size_t first_argument)
    : node_(&node), ops_(node.texts("fused_ops")), argument_(first_argument) {}

ops::Builder& FollowingOps::before() { return ops_.empty() ? node_->result() : node_->step("linear"); }

Result<Ref> FollowingOps::next_argument() {
  if (argument_ >= node_->input_count())
    return node_->refuse(cat("its fused_ops ", list_text(ops_), " read more than its ", node_->input_count(), " inputs"));
  return node_->input(argument_++);
}

Result<Ref> FollowingOps::take_bias(std::int64_t channels) {
  if (ops_.empty() || ops_.front() != "BiasAdd") return Ref();
  BUDA_ASSIGN(Ref bias, next_argument());
  BUDA_ASSIGN(Shape shape, node_->shape_of(bias));
  if (shape != Shape{channels})
    return node_->refuse(cat("its bias (input ", argument_ - 1, ") is ", shape.text(), "; ", Shape{channels}.text(), " is needed"));
  ops_.erase(ops_.begin());
  return bias;
}

// A vector of channels, with axes of size 1 for what stands behind the channels.
Result<Ref> FollowingOps::along_channels(Ref argument, std::size_t rank, bool channels_first, std::string_view step) {
  BUDA_ASSIGN(Shape shape, node_->shape_of(argument));
  if (!channels_first || shape.rank() != 1) return argument;
  NodeImport::Dims sizes(rank - 1, 1);
  sizes[0] = shape[0];
  return node_->step(step).reshape(argument, Shape(std::move(sizes)));
}

Result<Ref> FollowingOps::apply_one(const std::string& op, Ref value, bool channels_first, bool last) {
  NodeImport& n = *node_;
  const std::string name = cat(to_lower(op), steps_ == 0 ? "" : cat('.', steps_));
  ++steps_;
  auto builder = [&]() -> ops::Builder& { return last ? n.result() : n.step(name); };
  BUDA_ASSIGN(Shape shape, n.shape_of(value));
  if (op == "BiasAdd" || op == "Prelu") {
    BUDA_ASSIGN(Ref argument, next_argument());
    BUDA_ASSIGN(Shape given, n.shape_of(argument));
    if (channels_first && given.rank() == 3) argument = n.step(name + ".first").transpose(argument, {2, 0, 1});
    BUDA_ASSIGN(argument, along_channels(argument, shape.rank(), channels_first, name + ".channels"));
    return op == "Prelu" ? builder().op("prelu", {value, argument}) : builder().add(value, argument);
  }
  if (op == "Add" || op == "Mul") {
    BUDA_ASSIGN(Ref argument, next_argument());
    BUDA_ASSIGN(Shape given, n.shape_of(argument));
    if (channels_first && given.rank() == 4 && n.channels_last()) argument = n.layouts().channels_first(n.step(name + ".first"), argument);
    return op == "Mul" ? builder().multiply(value, argument) : builder().add(value, argument);
  }
  if (op == "FusedBatchNorm") {
    std::vector<graph::Edge> inputs{value};
    for (int i = 0; i < 4; ++i) {
      BUDA_ASSIGN(Ref argument, next_argument());
      inputs.emplace_back(argument);
    }
    if (!channels_first) return n.refuse("a normalisation after a product of matrices is not supported");
    return builder().op("batchnorm", std::move(inputs), {{"epsilon", n.real("epsilon", 1e-4)}});
  }
  if (op == "Relu6") return builder().clip(value, 0, 6);
  if (op == "LeakyRelu") return builder().op("leaky_relu", {value}, {{"alpha", n.real("leakyrelu_alpha", 0.2)}});
  if (op == "GeluExact") return builder().gelu(value);
  if (op == "GeluApproximate") return builder().gelu(value, "tanh");
  for (auto [theirs, ours] : {std::pair{"Relu", "relu"}, {"Elu", "elu"}, {"Tanh", "tanh"}, {"Sigmoid", "sigmoid"}})
    if (op == theirs) return builder().op(ours, {value});
  if (op == "_FusedSwish" || op == "_MklSwish" || op == "Swish") {
    Ref gate = n.step(name + ".gate").sigmoid(value);
    return builder().multiply(value, gate);
  }
  return n.refuse(
      cat("its fused_ops ", list_text(n.texts("fused_ops")), " have '", op,
          "'; Add, BiasAdd, Elu, FusedBatchNorm, GeluApproximate, GeluExact, LeakyRelu, Mul, Prelu, Relu, Relu6, Sigmoid, Swish and Tanh "
          "are supported"));
}

Result<Ref> FollowingOps::apply(Ref value, bool channels_first) {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    BUDA_ASSIGN(value, apply_one(ops_[i], value, channels_first, i + 1 == ops_.size()));
  }
  if (argument_ != node_->input_count())
    return node_->refuse(
        cat("its fused_ops ", list_text(node_->texts("fused_ops")), " read ", argument_, " of its ", node_->input_count(), " inputs"));
  return value;
}

}  // namespace buda::tensorflow_frontend
