// SPDX-License-Identifier: Apache-2.0
// Epochs of ops with the same rows of cores, tried for every number of rows.
#include "ribbon.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace buda::ribbon {
namespace {

using balance::OpId;
using balance::OpModel;
using balance::OpSpec;
using balance::PlacedOp;
using balance::Placement;

constexpr int kRounds = 10;        // of making an epoch faster
constexpr int kFailedRounds = 3;   // after which no more is tried
constexpr double kNextGoal = 0.9;  // of the slowest op
// What a core that is busy with such an op counts for, against one with a dense matmul: they take more cores than their work deserves.
constexpr double kOtherPenalty = 8, kSparsePenalty = 128;
// Smaller steps of the inner dimension, and smaller blocks of a result in parts, spend their time on overhead.
constexpr std::int32_t kMinStep = 4;
constexpr std::int64_t kMinStreamedTiles = 8;

bool is_matmul(const OpSpec& spec) { return netlist::op_class(spec.op.type) == netlist::OpClass::matmul; }

// In how many multiples of the target an op ends: 0 for at most two.
int distance_class(double cycles, double target) {
  int out = 0;
  for (double times : {2.0, 5.0, 10.0, 20.0}) out += cycles >= times * target ? 1 : 0;
  return out;
}

// What is smaller is tried first.
using Rank = std::tuple<std::int64_t, std::int32_t, int, std::int32_t, int, int, int, double, std::int64_t>;

Rank rank(const OpModel& m, std::int32_t rows, double target) {
  const bool within = m.cycles <= target;
  const bool short_steps = m.u_kt != 0 && m.u_kt < kMinStep;
  const bool small_parts = m.stream.parts > 1 && m.block.mblock_tiles() < kMinStreamedTiles;
  return {std::abs(std::int64_t{m.grid.rows} - rows),
          m.grid.rows,
          distance_class(m.cycles, target),
          within ? m.grid.cols : std::numeric_limits<std::int32_t>::max(),
          within ? 0 : 1,
          short_steps ? 1 : 0,
          small_parts ? 1 : 0,
          within ? 0.0 : m.cycles,
          -m.block.mblock_tiles()};
}

// Ops [begin, end) of the schedule as they stand in one epoch.
struct Epoch {
  std::vector<PlacedOp> ops;
  double slowest = 0;
  double work = 0;  // core cycles, weighted by the kind of op
  double score() const { return slowest > 0 ? work / slowest : 0; }
};

class Placing {
 public:
  explicit Placing(Placement& placement) : placement_(placement), schedule_(placement.schedule()), work_(schedule_.size()) {
    for (OpId op : schedule_) work_[op.index()] = least_work(op);
  }

  // Places ops from `begin` on in an epoch of their own until one finds no room, or `end`, and takes them back.
  Epoch tried(std::size_t begin, std::size_t end, std::int32_t rows, double target) {
    placement_.next_epoch();
    std::size_t i = begin;
    while (i < end && placement_.place_preferred(schedule_[i], by_rank(rows, target), nearer_to(rows))) ++i;
    i = without_lone_sparse(begin, i);
    Epoch out;
    for (std::size_t k = begin; k < i; ++k) {
      const PlacedOp& placed = placement_.placed(schedule_[k]);
      out.ops.push_back(placed);
      out.slowest = std::max(out.slowest, placed.model.cycles);
      out.work += work_[schedule_[k].index()];
    }
    if (i > begin) placement_.rewind(schedule_[begin]);
    return out;
  }

  bool stands(std::size_t begin, const Epoch& epoch) {
    placement_.next_epoch();
    for (std::size_t k = 0; k < epoch.ops.size(); ++k)
      if (!placement_.place_at(schedule_[begin + k], epoch.ops[k].model, epoch.ops[k].place)) return false;
    return true;
  }

  // An op stays out of an epoch with whose rows it could have in the next one.
  static Placement::Preference nearer_to(std::int32_t rows) {
    return [=](const OpModel& a, const OpModel& b) { return std::abs(a.grid.rows - rows) < std::abs(b.grid.rows - rows); };
  }

  static Placement::Preference by_rank(std::int32_t rows, double target) {
    return [=](const OpModel& a, const OpModel& b) { return rank(a, rows, target) < rank(b, rows, target); };
  }

 private:
  double least_work(OpId op) const {
    double least = std::numeric_limits<double>::infinity();
    for (const OpModel& m : placement_.space().models_of(op)) least = std::min(least, m.kernel_cycles * static_cast<double>(m.cores()));
    const OpSpec& spec = placement_.space().op(op);
    return least / (spec.selection ? kSparsePenalty : is_matmul(spec) ? 1 : kOtherPenalty);
  }

  // A sparse matmul stands beside the op that takes its result, or opens the next epoch with it.
  std::size_t without_lone_sparse(std::size_t begin, std::size_t end) {
    if (end == schedule_.size() || end <= begin + 1 || !placement_.space().op(schedule_[end - 1]).selection) return end;
    placement_.rewind(schedule_[end - 1]);
    return end - 1;
  }

  Placement& placement_;
  const std::vector<OpId>& schedule_;
  std::vector<double> work_;
};

// The epoch from `begin` on, and the number of rows that it has.
std::pair<Epoch, std::int32_t> best_epoch(Placing& placing, const Placement& placement, std::size_t begin, const Options& options) {
  const std::int32_t most = placement.space().device().grid().rows;
  const std::int32_t first = options.rows > 0 ? std::min(options.rows, most) : 1, last = options.rows > 0 ? first : most;
  Epoch best;
  std::int32_t best_rows = first;
  for (std::int32_t rows = first; rows <= last; ++rows) {
    Epoch epoch = placing.tried(begin, placement.schedule().size(), rows, options.target_cycles);
    if (epoch.score() <= best.score()) continue;
    best = std::move(epoch);
    best_rows = rows;
  }
  return {std::move(best), best_rows};
}

// The same ops with less time for the slowest.
Epoch made_faster(Placing& placing, std::size_t begin, Epoch epoch, std::int32_t rows) {
  double goal = kNextGoal * epoch.slowest;
  for (int round = 0, failed = 0; round < kRounds && failed < kFailedRounds; ++round) {
    Epoch next = placing.tried(begin, begin + epoch.ops.size(), rows, goal);
    if (next.ops.size() == epoch.ops.size() && next.slowest < epoch.slowest) {
      epoch = std::move(next);
      goal = kNextGoal * epoch.slowest;
    } else {
      ++failed;
      goal = (goal + epoch.slowest) / 2;  // a smaller step
    }
  }
  return epoch;
}

}  // namespace

Result<balance::Choice> choose(Placement& placement, const Options& options) {
  Placing placing(placement);
  const auto& schedule = placement.schedule();
  for (std::size_t begin = 0; begin < schedule.size();) {
    auto [epoch, rows] = best_epoch(placing, placement, begin, options);
    if (epoch.ops.empty()) {
      // No model can stand in an epoch of its own: the failure says why.
      BUDA_TRY(placement.place_best(schedule[begin], Placing::by_rank(rows, options.target_cycles), Placing::nearer_to(rows)));
      ++begin;
      continue;
    }
    epoch = made_faster(placing, begin, std::move(epoch), rows);
    if (!placing.stands(begin, epoch))
      return internal_error(cat("ribbon cannot repeat the epoch of op '", placement.space().op(schedule[begin]).label, "'"));
    begin += epoch.ops.size();
  }
  return placement.choice();
}

}  // namespace buda::ribbon
