// Finds runs.
#include <buda/pipes/number_runs.hpp>

#include <algorithm>

namespace buda::pipes {
namespace {

constexpr std::size_t kLongestPeriod = 16;
constexpr std::size_t kShortestRun = 3;

}  // namespace

NumberRun first_run(std::span<const std::uint64_t> rest) {
  NumberRun best;
  for (std::size_t period = 1; period <= kLongestPeriod && 2 * period <= rest.size(); ++period) {
    // Differences wrap around like the numbers, so that every step has a sign.
    const std::uint64_t step = rest[period] - rest[0];
    std::size_t same = 1;
    while (same + period < rest.size() && rest[same + period] - rest[same] == step) ++same;
    NumberRun run{period, same / period + 1, static_cast<std::int64_t>(step)};
    if (run.count >= 2 && run.length() >= kShortestRun && run.length() > best.length()) best = run;
  }
  return best;
}

}  // namespace buda::pipes
