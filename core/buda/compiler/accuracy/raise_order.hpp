// In which order raises are worth their cycles.
#pragma once

#include <cstddef>
#include <vector>

namespace buda::compiler {

// A choice of an op: what it costs and what is left of the loss. The first choice of an op is to leave it as it is.
struct RaiseChoice {
  double cost = 0;
  double loss = 0;
};

// The op goes from its present choice to this one.
struct RaiseStep {
  std::size_t op = 0;
  std::size_t choice = 0;
  double saved = 0;  // of the loss
  friend bool operator==(const RaiseStep&, const RaiseStep&) = default;
};

// Steps by what they save for their cost, the best first: for each op those on the lower hull of its choices. After any number of steps no
// other choices that cost as much in sum lose less, where losses add up. Equal ones in the order of ops.
std::vector<RaiseStep> raise_steps(const std::vector<std::vector<RaiseChoice>>& ops);

}  // namespace buda::compiler
