// SPDX-License-Identifier: Apache-2.0
// Dynamic programming over the cuts of a schedule.
#include <buda/balance/bounds/relaxed_epochs.hpp>

#include <algorithm>
#include <limits>
#include <queue>

namespace buda::balance {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of the best choices of an op those that pay by the core: from each to the next larger one a core saves fewer cycles than before.
std::vector<CoreCost> paying_choices(const std::vector<CoreCost>& choices) {
  std::vector<CoreCost> out;
  auto saved = [](const CoreCost& a, const CoreCost& b) { return (a.cycles - b.cycles) / static_cast<double>(b.cores - a.cores); };
  for (const CoreCost& c : choices) {
    while (out.size() > 1 && saved(out[out.size() - 2], out.back()) <= saved(out.back(), c)) out.pop_back();
    out.push_back(c);
  }
  return out;
}

// What the choices of the ops may be, and from which threshold on an op does with its next smaller choice. For the shortest interval, the
// threshold is the interval; for the shortest way of an input through all ops, it is the cycles that a core must save.
class Thresholds {
 public:
  Thresholds(const std::vector<RelaxedOp>& ops, RelaxedGoal goal) : goal_(goal) {
    for (const RelaxedOp& op : ops) choices_.push_back(goal == RelaxedGoal::interval ? op.choices : paying_choices(op.choices));
  }
  const std::vector<CoreCost>& of(std::size_t op) const { return choices_[op]; }
  // `choice` is not the smallest.
  double giving_up(std::size_t op, std::size_t choice) const {
    const CoreCost &larger = choices_[op][choice], &smaller = choices_[op][choice - 1];
    if (goal_ == RelaxedGoal::interval) return smaller.cycles;
    return (smaller.cycles - larger.cycles) / static_cast<double>(larger.cores - smaller.cores);
  }
  // That even the largest choice of an op asks for.
  double least(std::size_t op) const { return goal_ == RelaxedGoal::interval ? choices_[op].back().cycles : 0; }

 private:
  RelaxedGoal goal_;
  std::vector<std::vector<CoreCost>> choices_;
};

// The ops of one epoch, taken up from last to first: the lowest threshold at which they fit the chip.
class Segment {
 public:
  Segment(const Thresholds& thresholds, std::size_t end, std::int64_t cores) : thresholds_(thresholds), end_(end), limit_(cores) {}

  // False where not even the smallest choices of all fit. Ops come in descending order.
  bool add(std::size_t op) {
    const auto& choices = thresholds_.of(op);
    threshold_ = std::max(threshold_, thresholds_.least(op));
    std::size_t choice = choices.size() - 1;
    while (choice > 0 && thresholds_.giving_up(op, choice) <= threshold_) --choice;
    chosen_.push_back(choice);
    cores_ += choices[choice].cores;
    latency_ += choices[choice].cycles;
    slowest_ = std::max(slowest_, choices[choice].cycles);
    offer(op);
    // What a higher threshold lets others give up.
    while (!next_.empty() && (next_.top().threshold <= threshold_ || cores_ > limit_)) give_up(next_.top());
    return cores_ <= limit_;
  }

  // Cycles of the slowest op.
  double slowest() const { return slowest_; }
  // Cycles of one input on its way through all ops, if they followed one another.
  double latency() const { return latency_; }
  // The cycles of an op that was taken up.
  double cycles(std::size_t op) const { return thresholds_.of(op)[chosen_[end_ - 1 - op]].cycles; }

 private:
  // At `threshold`, op `op` does with its next smaller choice.
  struct Step {
    double threshold;
    std::size_t op;
    bool operator<(const Step& other) const { return threshold > other.threshold; }
  };

  std::size_t& choice_of(std::size_t op) { return chosen_[end_ - 1 - op]; }

  void offer(std::size_t op) {
    if (std::size_t c = choice_of(op); c > 0) next_.push({thresholds_.giving_up(op, c), op});
  }

  void give_up(Step step) {
    next_.pop();
    threshold_ = std::max(threshold_, step.threshold);
    std::size_t& c = choice_of(step.op);
    const CoreCost &larger = thresholds_.of(step.op)[c], &smaller = thresholds_.of(step.op)[--c];
    cores_ -= larger.cores - smaller.cores;
    latency_ += smaller.cycles - larger.cycles;
    slowest_ = std::max(slowest_, smaller.cycles);
    offer(step.op);
  }

  const Thresholds& thresholds_;
  std::size_t end_;
  std::int64_t limit_, cores_ = 0;
  double threshold_ = 0, latency_ = 0, slowest_ = 0;
  std::vector<std::size_t> chosen_;  // by distance from the last op
  std::priority_queue<Step> next_;
};

// Bytes through DRAM of the ops [op, end) given those of [op + 1, end): what the op reads from before and writes for later, and what others
// no longer read from before because the op is with them now.
class DramTraffic {
 public:
  DramTraffic(const std::vector<RelaxedOp>& ops, std::size_t end, const std::vector<std::vector<RelaxedOp::Edge>>& readers)
      : ops_(ops), end_(end), readers_(readers) {}

  double add(std::size_t op) {
    const RelaxedOp& o = ops_[op];
    bytes_ += o.dram_bytes;
    for (const auto& operand : o.operands) bytes_ += operand.bytes;
    if (o.last_user >= end_) {
      bytes_ += o.result_bytes;
      written_ += o.result_bytes;
    }
    for (const auto& reader : readers_[op])
      if (reader.other < end_) bytes_ -= reader.bytes;
    return bytes_;
  }
  // Of results that later epochs read.
  double written() const { return written_; }

 private:
  const std::vector<RelaxedOp>& ops_;
  std::size_t end_;
  const std::vector<std::vector<RelaxedOp::Edge>>& readers_;
  double bytes_ = 0, written_ = 0;
};

// Calls visit(begin, end, cost, interval) for the ops [begin, end) of every epoch that fits the chip: `end` ascending, for each of them
// `begin` descending. The cost is that of one input.
template <class Visit>
void for_each_epoch_of(const std::vector<RelaxedOp>& ops, const Thresholds& thresholds, const RelaxedChip& chip, Visit visit) {
  // By op the edges to those that read it.
  std::vector<std::vector<RelaxedOp::Edge>> readers(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const auto& operand : ops[i].operands) readers[operand.other].push_back({i, operand.bytes, operand.cycles});
  for (std::size_t end = 1; end <= ops.size(); ++end) {
    Segment segment(thresholds, end, chip.cores);
    DramTraffic traffic(ops, end, readers);
    double edges = 0, inputs = 0;
    for (std::size_t begin = end; begin-- > 0;) {
      const bool fits = segment.add(begin);
      // An op that fits no chip stands alone.
      if (!fits && begin + 1 < end) break;
      const double dram = traffic.add(begin) / chip.dram_bytes_per_cycle;
      for (const auto& reader : readers[begin])
        if (reader.other < end) edges = std::max(edges, reader.cycles);
      const double bound = std::max({segment.slowest(), edges, dram});
      const double first = chip.cycles_per_epoch + std::max(segment.latency(), dram);
      const double queues = chip.cycles_per_written_byte * traffic.written();
      inputs = std::max(inputs, ops[begin].inputs > 0 ? ops[begin].inputs : chip.inputs_per_epoch);
      // Of epochs that run less often, the cost of one of the chip's inputs is a share.
      const double running = inputs < chip.inputs_per_epoch ? bound * inputs / chip.inputs_per_epoch : bound;
      visit(begin, end, running + (first - bound) / chip.inputs_per_epoch + queues, bound);
      if (ops[begin].begins_epoch) break;
    }
  }
}

// What the ops of an epoch may take: for the interval all the same, for the latency as they share the cores.
std::vector<double> cycles_of_ops(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, RelaxedGoal goal, const RelaxedEpoch& epoch) {
  std::vector<double> out(epoch.end - epoch.begin, epoch.interval);
  if (goal == RelaxedGoal::interval) return out;
  const std::vector<RelaxedOp> own(ops.begin() + static_cast<std::ptrdiff_t>(epoch.begin),
                                   ops.begin() + static_cast<std::ptrdiff_t>(epoch.end));
  const Thresholds thresholds(own, goal);
  Segment segment(thresholds, own.size(), chip.cores);
  for (std::size_t i = own.size(); i-- > 0;) segment.add(i);
  for (std::size_t i = 0; i < own.size(); ++i) out[i] = segment.cycles(i);
  return out;
}

}  // namespace

RelaxedCuts::RelaxedCuts(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, RelaxedGoal goal)
    : ops_(ops), chip_(chip), goal_(goal), best_(ops.size() + 1) {
  struct Reach {
    std::size_t end;
    double cost, interval;
  };
  std::vector<std::vector<Reach>> epochs(ops.size());
  for_each_epoch_of(ops, Thresholds(ops, goal), chip, [&](std::size_t begin, std::size_t end, double cost, double interval) {
    epochs[begin].push_back({end, cost, interval});
  });
  for (std::size_t begin = ops.size(); begin-- > 0;) {
    best_[begin].rest = kNever;
    for (const Reach& epoch : epochs[begin])
      if (const double rest = epoch.cost + best_[epoch.end].rest; rest < best_[begin].rest)
        best_[begin] = {epoch.end, epoch.interval, rest};
  }
}

RelaxedEpoch RelaxedCuts::epoch_from(std::size_t begin) const {
  RelaxedEpoch out{begin, best_[begin].end, best_[begin].interval, {}};
  out.cycles = cycles_of_ops(ops_, chip_, goal_, out);
  return out;
}

std::vector<RelaxedEpoch> relaxed_epochs(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, RelaxedGoal goal) {
  const Thresholds thresholds(ops, goal);
  std::vector<double> best(ops.size() + 1, kNever), interval(ops.size() + 1, 0);
  std::vector<std::size_t> from(ops.size() + 1, 0);
  best[0] = 0;
  for_each_epoch_of(ops, thresholds, chip, [&](std::size_t begin, std::size_t end, double cost, double bound) {
    if (best[begin] + cost >= best[end]) return;
    best[end] = best[begin] + cost;
    from[end] = begin;
    interval[end] = bound;
  });
  std::vector<RelaxedEpoch> out;
  for (std::size_t end = ops.size(); end > 0; end = from[end]) out.push_back({from[end], end, interval[end], {}});
  std::reverse(out.begin(), out.end());
  for (RelaxedEpoch& epoch : out) epoch.cycles = cycles_of_ops(ops, chip, goal, epoch);
  return out;
}

std::vector<CoreCost> best_choices(std::vector<CoreCost> choices) {
  std::sort(choices.begin(), choices.end(),
            [](const CoreCost& a, const CoreCost& b) { return a.cores != b.cores ? a.cores < b.cores : a.cycles < b.cycles; });
  std::vector<CoreCost> out;
  for (const CoreCost& c : choices)
    if (out.empty() || c.cycles < out.back().cycles) out.push_back(c);
  return out;
}

}  // namespace buda::balance
