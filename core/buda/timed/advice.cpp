// SPDX-License-Identifier: Apache-2.0
// Predictions are bounds: the causes shrink as said, and what then takes longest says how far.
#include <buda/timed/advice.hpp>

#include <buda/base/text.hpp>
#include <buda/io/process.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace buda::timed {
namespace {

using perf::EpochSummary;

struct Bound {
  double cycles = 0;  // from input to input
  std::string what;
};

// What no order of events gets below: the longest kernel, and the bytes through the busiest resource. `faster`: an op whose kernel takes
// `part` of its time.
Bound least_period(const EpochSummary& epoch, const std::string& faster = {}, double part = 1) {
  Bound out;
  auto raise = [&](double cycles, std::string what) {
    if (cycles > out.cycles) out = {cycles, std::move(what)};
  };
  for (const auto& op : epoch.ops)
    raise(op.name == faster ? op.kernel.cycles() * part : op.kernel.cycles(), cat("kernel of '", op.name, '\''));
  const double time = epoch.time.cycles() / static_cast<double>(std::max<std::int64_t>(epoch.inputs, 1));
  if (!epoch.loads.empty()) raise(epoch.loads.front().utilisation * time, epoch.loads.front().resource);
  return out;
}

std::string whole(double cycles) { return cat(static_cast<std::int64_t>(std::llround(cycles))); }

// The next larger number of rows or columns that divides `tiles`; 0 where there is none up to `most`.
std::int32_t next_divisor(std::int64_t tiles, std::int32_t now, std::int32_t most) {
  for (std::int32_t n = now + 1; n <= most; ++n)
    if (tiles % n == 0) return n;
  return 0;
}

// The op's grid with more rows or columns, at most twice as many, where the tensor can be divided so and the epoch leaves the cores idle.
// That with the most cores; rows first.
std::optional<GridShape> larger(const EpochSummary::Op& op, GridShape workers, std::int64_t idle) {
  std::optional<GridShape> out;
  auto offer = [&](GridShape grid) {
    const std::int64_t more = grid.volume() - op.grid.volume();
    if (more > 0 && more <= std::min(idle, op.grid.volume()) && (!out || grid.volume() > out->volume())) out = grid;
  };
  const std::int64_t tile_rows = std::int64_t{op.grid.rows} * op.mblock_m * op.ublock_r;
  const std::int64_t tile_columns = std::int64_t{op.grid.cols} * op.mblock_n * op.ublock_c;
  for (std::int32_t rows = op.grid.rows; (rows = next_divisor(tile_rows, rows, workers.rows)) != 0;) offer({rows, op.grid.cols});
  for (std::int32_t cols = op.grid.cols; (cols = next_divisor(tile_columns, cols, workers.cols)) != 0;) offer({op.grid.rows, cols});
  return out;
}

std::optional<std::string> larger_grid(const EpochSummary& epoch, GridShape workers, std::int64_t idle) {
  constexpr double kWorthwhile = 0.1, kMaxRemainingPart = 0.97;
  if (epoch.causes.empty() || epoch.causes.front().kind != EpochSummary::Cause::Kind::kernel) return std::nullopt;
  const auto& cause = epoch.causes.front();
  if (cause.share < kWorthwhile) return std::nullopt;
  const auto op = std::find_if(epoch.ops.begin(), epoch.ops.end(), [&](const auto& o) { return o.name == cause.op; });
  if (op == epoch.ops.end() || op->type.empty()) return std::nullopt;
  const auto grid = larger(*op, workers, idle);
  if (!grid) return std::nullopt;
  const double part = static_cast<double>(op->grid.volume()) / static_cast<double>(grid->volume());
  const Bound bound = least_period(epoch, op->name, part);
  const double cycles = std::max(epoch.period.cycles() * (1 - cause.share * (1 - part)), bound.cycles);
  if (cycles > kMaxRemainingPart * epoch.period.cycles()) return std::nullopt;
  const bool bounded = bound.cycles >= cycles;
  return cat(io::shell_line({"--set", cat("op.", op->name, ".grid=[", grid->rows, ',', grid->cols, ']')}), " predicts ", whole(cycles),
             " cycles per input", bounded ? cat(", then ", bound.what) : std::string());
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

std::vector<std::string> advice_for(const EpochSummary& epoch, GridShape workers, std::int32_t chips) {
  std::int64_t idle = workers.volume() * chips;
  for (const auto& op : epoch.ops) idle -= op.cores;
  std::vector<std::string> out;
  if (auto text = larger_grid(epoch, workers, idle)) out.push_back(std::move(*text));
  if (auto text = more_inputs(epoch)) out.push_back(std::move(*text));
  return out;
}

}  // namespace buda::timed
