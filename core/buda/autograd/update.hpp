// SPDX-License-Identifier: Apache-2.0
// Optimizers: how a parameter and the states beside it change with its gradient.
#pragma once

#include <buda/autograd/step_scalar.hpp>
#include <buda/autograd/term.hpp>
#include <buda/diag/result.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace buda::autograd {

enum class OptimizerKind : std::uint8_t { sgd, adam, adamw, adagrad, rmsprop, lamb, lars };

// Which numbers an optimizer has, and what they are without being given, is in the table of update.cpp.
struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  double lr = 0.01;
  double decay = 0;  // of weights: times the parameter added to its gradient; of adamw and lamb to the step
  double momentum = 0, nesterov = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double correction = 0;                    // of lamb: moments are corrected as adam's
  double alpha = 0.99, centered = 0;        // of rmsprop: how much of the mean square stays; of its deviation from the mean
  double lr_decay = 0, initial = 0;         // of adagrad: the rate falls as 1 / (1 + t lr_decay); what its sum begins with
  double coefficient = 0.02;                // of lars
  double least_ratio = 0, most_ratio = 10;  // of lamb: limits of the ratio of norms
};

// "sgd:lr=0.1,momentum=0.9". AG010, AG011.
Result<Optimizer> parse_optimizer(std::string_view text);

// How a sum is kept over many small steps. plain: in one value. pairs: in two, of which the second holds what the first has lost to
// rounding, so that 16-bit formats learn: y = low + change; high' = high + y; low' = y - (high' - high).
// float32: in one value in Float32, whatever the formats of the model, on boards that compute in it.
enum class Update : std::uint8_t { pairs, plain, float32 };

// What an optimizer asks of the graph that it is built into: states that begin with zeros, and numbers of the step.
struct UpdateContext {
  // The value of a state beside the parameter, as it was before the step; `step` is told what is added to it, and gives what it is then.
  std::function<Term(std::string_view state)> state;
  std::function<Term(std::string_view state, const Term& change)> add;
  std::function<Term(const StepScalar&)> scalar;
};

// What is taken away from the parameter.
Term step_of(const Optimizer& optimizer, const Term& parameter, const Term& gradient, const UpdateContext& context);

}  // namespace buda::autograd
