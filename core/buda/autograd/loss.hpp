// Losses: graphs from a prediction and a target to the losses of samples or elements, whose mean is what training minimises.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/value_type.hpp>

#include <cstdint>
#include <string_view>

namespace buda::autograd {

// cross_entropy: of logits, along the last axis; targets are probabilities of classes. mse: squares of differences, element by element.
enum class LossKind : std::uint8_t { cross_entropy, mse };

struct Loss {
  LossKind kind = LossKind::cross_entropy;
  double label_smoothing = 0;  // of cross_entropy: a share of each target that goes to all classes alike
};

// "cross_entropy:label_smoothing=0.1". AG010, AG011.
Result<Loss> parse_loss(std::string_view text);

// Inputs `prediction` and `target` of the given type, output `loss`.
Result<graph::Graph> loss_graph(const Loss& loss, const graph::ValueType& prediction);

}  // namespace buda::autograd
