// SPDX-License-Identifier: Apache-2.0
// Masks of dropout, which the host draws and pushes: the same on every target and whatever the number of batches that a step is run in.
#pragma once

#include <buda/runtime/ports.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>

namespace buda::runtime {

// What a mask depends on, beside its name and the row of the step.
struct MaskDraw {
  std::uint64_t seed = 0;
  std::int64_t step = 1;
};

// For `batches` batches one behind the other: 0 with the probability `ratio`, else 1 / (1 - ratio).
Tensor dropout_mask(const Port& mask, double ratio, std::int64_t batches, const MaskDraw& draw);
// All elements are `value`.
Tensor filled(const Port& port, double value, std::int64_t batches);

}  // namespace buda::runtime
