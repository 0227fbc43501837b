// SPDX-License-Identifier: Apache-2.0
// Waits for tiles on their way are the op's own; waits for tiles that are still to be computed are those of other ops.
#include <buda/perf/op_figures.hpp>

#include <algorithm>

namespace buda::perf {
namespace {

double bytes_per_cycle(std::uint64_t bytes, double cycles) { return cycles <= 0 ? 0 : static_cast<double>(bytes) / cycles; }

}  // namespace

// Cycles for one input. Reports of earlier versions have the mean of the whole epoch only.
double delay_of(const EpochSummary& epoch, const EpochSummary::Pipe& pipe) {
  return pipe.delay.value_or(pipe.moving * epoch.time.cycles() / static_cast<double>(std::max<std::int64_t>(epoch.inputs, 1)));
}

double math_percent(const EpochSummary::Op& op, double cycles_per_input) {
  return cycles_per_input <= 0 ? 0 : 100 * op.math / cycles_per_input;
}

double bound_cycles(const EpochSummary& epoch, const EpochSummary::Op& op) {
  double delay = delay_of(epoch, op.output);
  for (const auto& in : op.inputs) delay += delay_of(epoch, in);
  // Cores differ: the mean of their delays and the longest of their kernels can add up to more than any of them takes.
  const double kernel = op.kernel.cycles();
  return std::min(kernel + delay, std::max(kernel, epoch.period.cycles()));
}

// With an endless buffer behind it the pipe would be at work while the kernel works and while it waits for the pipe.
Bandwidth bandwidth_of(const EpochSummary& epoch, const EpochSummary::Op& op, const EpochSummary::Pipe& pipe) {
  const double kernel = op.kernel.cycles();
  return {bytes_per_cycle(pipe.bytes, kernel), bytes_per_cycle(pipe.bytes, kernel + delay_of(epoch, pipe))};
}

}  // namespace buda::perf
