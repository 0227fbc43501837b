// SPDX-License-Identifier: Apache-2.0
// How far a model's outputs are from those that are expected, as one number and as a verdict.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <map>
#include <string>

namespace buda::compiler {

// Energy of the error over that of the expected values' deviation from their mean: about twice what the correlation lacks of 1.
// Infinite where a value is a number on one side only.
double error_share(const Tensor& expected, const Tensor& actual);

// The error as a part of what the output's criterion allows, as an energy: at most 1 where it holds, and errors that do not depend on each
// other add up in it. So outputs of all sizes and criteria can be weighed against each other; a number near 0 whose criterion allows 0.001
// may be wrong by a multiple of itself, and nothing is lost. Of several measures that are asked for the largest.
double miss(const Tensor& expected, const Tensor& actual, double floor);

struct Score {
  bool holds = true;
  bool has_correlation = false;
  double correlation = 1;                // the smallest of the outputs that have one
  std::map<std::string, double> misses;  // by output
  std::string output;                    // the first that does not hold, or the one with the smallest correlation
  std::string reason;                    // why it does not hold
  std::string text() const;              // "correlation 0.9871"
  double largest_miss() const;
};

// Every expected output is held against the standard criterion (tensor/compare.hpp) with `floor` as its correlation; where one is defined,
// it is at least the floor, also for small outputs.
Result<Score> score_outputs(const NamedTensors& expected, const NamedTensors& actual, double floor);

}  // namespace buda::compiler
