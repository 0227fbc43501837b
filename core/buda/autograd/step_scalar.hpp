// SPDX-License-Identifier: Apache-2.0
// Numbers of a training step that the host computes in double precision and pushes: in 16 bits 0.999 is 1, and Adam's corrections would
// divide by 0 on the device.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::autograd {

// rate: lr; decay: lr * weight decay; adam_rate: lr sqrt(1 - beta2^t) / (1 - beta1^t); adam_epsilon: epsilon sqrt(1 - beta2^t), for which
// the step is rate * mean / (sqrt(square) + epsilon) of uncorrected moments; adam_correction: adam_rate without lr; falling_rate: lr / (1 +
// (t - 1) lr_decay); share: 1 / batches whose gradients were added up; moving: 1 - (1 - part)^batches, what a moving mean takes of the
// mean of so many new values; step: t.
enum class ScalarKind : std::uint8_t { rate, decay, adam_rate, adam_epsilon, adam_correction, falling_rate, share, moving, step };

struct StepNumbers {
  std::int64_t t = 1;        // the step's, from 1
  double rate_factor = 1;    // by which a schedule multiplies the learning rate
  std::int64_t batches = 1;  // whose gradients the step adds up
};

struct StepScalar {
  ScalarKind kind = ScalarKind::rate;
  double lr = 0, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0, lr_decay = 0, part = 0;

  double value(const StepNumbers& step) const;
  std::string text() const;  // "adam_epsilon epsilon=1e-08 beta2=0.999"
};

// The inverse of text(). AG012: any other text.
Result<StepScalar> parse_step_scalar(std::string_view text);

}  // namespace buda::autograd

#pragma GCC visibility pop
