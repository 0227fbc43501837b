// SPDX-License-Identifier: Apache-2.0
// Losses: graphs from a prediction and a target to the losses of samples or elements, whose mean is what training minimises.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/value_type.hpp>

#include <cstdint>
#include <string_view>

namespace buda::autograd {

// cross_entropy: of logits, along the last axis, where targets are probabilities of classes; nll: the same of logarithms of probabilities.
// Element by element: mse, l1, smooth_l1, huber; bce of probabilities and bce_with_logits, with targets from 0 to 1; kl_div of logarithms
// of probabilities, with probabilities as targets.
enum class LossKind : std::uint8_t { cross_entropy, mse, nll, l1, smooth_l1, huber, bce, bce_with_logits, kl_div };

struct Loss {
  LossKind kind = LossKind::cross_entropy;
  double label_smoothing = 0;  // of cross_entropy: a share of each target that goes to all classes alike
  double beta = 1;             // of smooth_l1: where squares end
  double delta = 1;            // of huber: likewise
  double pos_weight = 1;       // of bce_with_logits: how much more targets of 1 count
  double batchmean = 0;        // of kl_div: the mean over samples, not elements
};

// "cross_entropy:label_smoothing=0.1". AG010, AG011.
Result<Loss> parse_loss(std::string_view text);

// The op whose input a loss of this kind takes instead of its result, since what it computes from that cannot overflow; empty: none. Then
// the loss is one of another kind.
std::string_view op_before(LossKind kind);
LossKind of_input(LossKind kind);

// "bce": without its numbers.
std::string_view loss_name(LossKind kind);

// Inputs `prediction` and `target` of the given type, output `loss`.
Result<graph::Graph> loss_graph(const Loss& loss, const graph::ValueType& prediction);

}  // namespace buda::autograd
