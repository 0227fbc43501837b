// SPDX-License-Identifier: Apache-2.0
// Activations inside of onnxruntime's fused operators.
#include "fused_activation.hpp"

#include <buda/base/text.hpp>

#include <limits>

namespace buda::onnx_frontend {

ops::Builder& before_activation(NodeImport& n, const std::string& activation) { return activation.empty() ? n.result() : n.step("linear"); }

Result<graph::ValueRef> activated(NodeImport& n, graph::ValueRef value, const std::string& activation,
                                  const std::vector<double>& parameters) {
  auto parameter = [&](std::size_t i, double standard) { return i < parameters.size() ? parameters[i] : standard; };
  if (activation.empty()) return value;
  for (auto [theirs, ours] :
       {std::pair{"Relu", "relu"}, {"Tanh", "tanh"}, {"Sigmoid", "sigmoid"}, {"Softplus", "softplus"}, {"Softsign", "softsign"}})
    if (activation == theirs) return n.result().op(ours, {value});
  if (activation == "LeakyRelu") return n.result().leaky_relu(value, parameter(0, 0.01));
  if (activation == "Elu") return n.result().op("elu", {value}, {{"alpha", parameter(0, 1)}});
  if (activation == "ThresholdedRelu") return n.result().op("thresholded_relu", {value}, {{"alpha", parameter(0, 1)}});
  if (activation == "HardSigmoid")
    return n.result().op("hard_sigmoid", {value}, {{"alpha", parameter(0, 0.2)}, {"beta", parameter(1, 0.5)}});
  if (activation == "Clip") {
    constexpr double kLargestFloat = std::numeric_limits<float>::max();
    return n.result().clip(value, parameter(0, -kLargestFloat), parameter(1, kLargestFloat));
  }
  return n.refuse(cat("its activation is '", activation,
                      "'; Clip, Elu, HardSigmoid, LeakyRelu, Relu, Sigmoid, Softplus, Softsign, Tanh and ThresholdedRelu are supported"));
}

}  // namespace buda::onnx_frontend
