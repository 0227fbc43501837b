// Rounding and stalling of sums of so many steps.
#include <buda/passes/formats/accumulation_error.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {

double expected_error(const SumSteps& sum, int significant_bits) {
  if (sum.terms <= 1) return 0;
  const double unit = std::ldexp(1.0, -significant_bits), steps = static_cast<double>(sum.steps);
  const double rounding = unit * std::sqrt((4 + steps * static_cast<double>(sum.phases)) / 16);
  const double stalled = std::max(0.0, 1 - 2 / (unit * steps));
  return sum.coherence * std::min(1.0, rounding + stalled);
}

bool is_inexact_in(DataFormat accumulate, const std::optional<SumSteps>& sum, double largest_error) {
  const int significant_bits = exponent_family(accumulate) == ExponentFamily::a ? 11 : 8;
  return sum && expected_error(*sum, significant_bits) > largest_error;
}

}  // namespace buda::passes
