// Waits for tiles on their way are the op's own; waits for tiles that are still to be computed are those of other ops.
#include <buda/perf/op_figures.hpp>

#include <algorithm>

namespace buda::perf {
namespace {

// Cycles for one input, of a part of the epoch's time.
double cycles_of(const EpochSummary& epoch, double part) {
  return part * epoch.time.cycles() / static_cast<double>(std::max<std::int64_t>(epoch.inputs, 1));
}

double bytes_per_cycle(std::uint64_t bytes, double cycles) { return cycles <= 0 ? 0 : static_cast<double>(bytes) / cycles; }

}  // namespace

double math_percent(const EpochSummary::Op& op, double cycles_per_input) {
  return cycles_per_input <= 0 ? 0 : 100 * op.math / cycles_per_input;
}

double bound_cycles(const EpochSummary& epoch, const EpochSummary::Op& op) {
  double moving = op.output.moving;
  for (const auto& in : op.inputs) moving += in.moving;
  return op.kernel.cycles() + cycles_of(epoch, moving);
}

// With an endless buffer behind it the pipe would be at work while the kernel works and while it waits for the pipe.
Bandwidth bandwidth_of(const EpochSummary& epoch, const EpochSummary::Op& op, const EpochSummary::Pipe& pipe) {
  const double kernel = op.kernel.cycles();
  return {bytes_per_cycle(pipe.bytes, kernel), bytes_per_cycle(pipe.bytes, kernel + cycles_of(epoch, pipe.moving))};
}

}  // namespace buda::perf
