// SPDX-License-Identifier: Apache-2.0
// Rounding and stalling of sums of so many steps.
#include <buda/passes/formats/accumulation_error.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {

namespace {

// Of a step's sum, root mean square, beside its mean. Of terms of mean size 1 the mean is 16 c; what is random in 16 normally distributed
// terms has a variance of 16 pi / 2, and none is left where all are alike.
double size_of_steps(double c) { return std::sqrt(1 + (1 - c * c) / (10 * c * c)); }

}  // namespace

double expected_error(const SumSteps& sum, int significant_bits) {
  if (sum.terms <= 1 || sum.coherence <= 0) return 0;
  const double unit = std::ldexp(1.0, -significant_bits), steps = static_cast<double>(sum.steps);
  const double rounding = unit * std::sqrt((4 + steps * static_cast<double>(sum.phases)) / 16);
  const double stalled = std::max(0.0, 1 - 2 * size_of_steps(sum.coherence) / (unit * steps));
  return sum.coherence * std::min(1.0, rounding + stalled);
}

// From sums of module numerics (docs/internals/numerics.md): more than 25 blocks only of eight tiles, larger ones only where they are few.
graph::SumBlocks exact_blocks(std::int64_t tiles) {
  constexpr std::int64_t kMaxSmallBlocks = 25, kSmallBlock = 8, kLargestBlock = 16;
  const std::int64_t least = std::min(ceil_div(tiles, kMaxSmallBlocks), kSmallBlock);
  const std::int64_t most = std::min(std::max(kSmallBlock, std::min(kLargestBlock, tiles / 4)), tiles / 2);
  return {least, std::max(least, most)};
}

// A block more, which waits and is added, takes about as long as half a tile more.
std::int64_t tiles_in_blocks(std::int64_t tiles, graph::SumBlocks blocks) {
  std::int64_t out = 0, least_cost = 0;
  for (std::int64_t block = blocks.most; block >= blocks.least; --block) {
    const std::int64_t filled = align_up(tiles, block), cost = 2 * filled + filled / block;
    if (out == 0 || cost < least_cost) out = filled, least_cost = cost;
  }
  return out;
}

bool is_inexact_in(DataFormat accumulate, const std::optional<SumSteps>& sum, double largest_error) {
  const int significant_bits = exponent_family(accumulate) == ExponentFamily::a ? 11 : 8;
  return sum && expected_error(*sum, significant_bits) > largest_error;
}

}  // namespace buda::passes
