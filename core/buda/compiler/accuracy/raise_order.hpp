// SPDX-License-Identifier: Apache-2.0
// In which order raises are worth their cycles.
#pragma once

#include <cstddef>
#include <vector>

namespace buda::compiler {

// A choice of an op: what it costs, and the part of what the op makes outputs miss that is left with it. The first choice of an op is to
// leave it as it is.
struct RaiseChoice {
  double cost = 0;
  double left = 1;
};

struct RaisableOp {
  std::vector<double> effects;  // what the op makes each output miss (score.hpp)
  std::vector<RaiseChoice> choices;
};

// The op goes from its present choice to this one.
struct RaiseStep {
  std::size_t op = 0;
  std::size_t choice = 0;
  friend bool operator==(const RaiseStep&, const RaiseStep&) = default;
};

struct RaiseOrder {
  std::vector<RaiseStep> steps;
  std::size_t enough = 0;  // after so many steps each output is estimated to miss no more than it may
};

// Effects times what makes them add up to what the outputs miss as measured, output by output.
std::vector<RaisableOp> scaled_to(std::vector<RaisableOp> ops, const std::vector<double>& misses);

// Steps by what they bring outputs nearer to their criteria for their cost, the best first. `misses`: of each output. Each output counts by
// the part of its way to the criterion that a step goes; one that is there counts no more, until all are. Then they go half the way that is
// left, and so on. Equal steps come in the order of ops.
RaiseOrder raise_order(const std::vector<RaisableOp>& ops, const std::vector<double>& misses);

}  // namespace buda::compiler
