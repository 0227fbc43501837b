// Predictions are bounds: the causes shrink as said, and what then takes longest says how far.
#include "advice.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace buda::grid {
namespace {

using perf::EpochSummary;

struct Bound {
  double cycles = 0;  // from input to input
  std::string what;
};

// What no order of events gets below: the longest kernel, and the bytes through the busiest resource. `faster`: an op whose kernel takes
// half of its time.
Bound least_period(const EpochSummary& epoch, const std::string& faster = {}) {
  Bound out;
  auto raise = [&](double cycles, std::string what) {
    if (cycles > out.cycles) out = {cycles, std::move(what)};
  };
  for (const auto& op : epoch.ops)
    raise(op.name == faster ? op.kernel.cycles() / 2 : op.kernel.cycles(), cat("kernel of '", op.name, '\''));
  const double time = epoch.time.cycles() / static_cast<double>(std::max<std::int64_t>(epoch.inputs, 1));
  if (!epoch.loads.empty()) raise(epoch.loads.front().utilisation * time, epoch.loads.front().resource);
  return out;
}

std::string whole(double cycles) { return cat(static_cast<std::int64_t>(std::llround(cycles))); }

// The op's grid with twice the rows or columns, where its block can be halved and the chip is large enough.
std::optional<GridShape> doubled(const EpochSummary::Op& op, GridShape workers) {
  if (op.mblock_m * op.ublock_r % 2 == 0 && op.grid.rows * 2 <= workers.rows) return GridShape{op.grid.rows * 2, op.grid.cols};
  if (op.mblock_n * op.ublock_c % 2 == 0 && op.grid.cols * 2 <= workers.cols) return GridShape{op.grid.rows, op.grid.cols * 2};
  return std::nullopt;
}

std::optional<std::string> larger_grid(const EpochSummary& epoch, GridShape workers) {
  constexpr double kWorthwhile = 0.1;
  if (epoch.causes.empty() || epoch.causes.front().kind != EpochSummary::Cause::Kind::kernel) return std::nullopt;
  const auto& cause = epoch.causes.front();
  if (cause.share < kWorthwhile) return std::nullopt;
  const auto op = std::find_if(epoch.ops.begin(), epoch.ops.end(), [&](const auto& o) { return o.name == cause.op; });
  if (op == epoch.ops.end() || op->type.empty()) return std::nullopt;
  const auto grid = doubled(*op, workers);
  if (!grid) return std::nullopt;
  const Bound bound = least_period(epoch, op->name);
  const double cycles = std::max(epoch.period.cycles() * (1 - cause.share / 2), bound.cycles);
  const bool bounded = bound.cycles >= cycles;
  return cat("--set op.", op->name, ".grid=[", grid->rows, ",", grid->cols, "] predicts ", whole(cycles), " cycles per input",
             bounded ? cat(", then ", bound.what) : std::string());
}

// Where one input goes through all ops before the next begins, most of the chip waits.
std::optional<std::string> more_inputs(const EpochSummary& epoch) {
  constexpr double kInputs = 16, kWorthwhile = 0.7;
  if (epoch.inputs != 1) return std::nullopt;
  const Bound bound = least_period(epoch);
  const double cycles = (epoch.first_input.cycles() + (kInputs - 1) * bound.cycles) / kInputs;
  if (cycles > kWorthwhile * epoch.period.cycles()) return std::nullopt;
  return cat("--microbatch ", whole(kInputs), " predicts ", whole(cycles), " cycles per input at best, then ", bound.what);
}

}  // namespace

std::vector<std::string> advice_for(const EpochSummary& epoch, GridShape workers) {
  std::vector<std::string> out;
  if (auto text = larger_grid(epoch, workers)) out.push_back(std::move(*text));
  if (auto text = more_inputs(epoch)) out.push_back(std::move(*text));
  return out;
}

}  // namespace buda::grid
