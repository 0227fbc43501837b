// Dynamic programming over the cuts of a schedule.
#include <buda/balance/solve/relaxed_epochs.hpp>

#include <algorithm>
#include <limits>
#include <queue>

namespace buda::balance {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The ops of one epoch, taken up from last to first: the smallest interval at which they fit the chip.
class Segment {
 public:
  Segment(const std::vector<RelaxedOp>& ops, std::size_t end, std::int64_t cores) : ops_(ops), end_(end), limit_(cores) {}

  // False where not even the smallest choices of all fit. Ops come in descending order.
  bool add(std::size_t op) {
    const auto& choices = ops_[op].choices;
    interval_ = std::max(interval_, choices.back().cycles);
    std::size_t choice = 0;
    while (choices[choice].cycles > interval_) ++choice;
    chosen_.push_back(choice);
    cores_ += choices[choice].cores;
    latency_ += choices[choice].cycles;
    offer(op);
    // What a longer interval lets others give up.
    while (!next_.empty() && (next_.top().interval <= interval_ || cores_ > limit_)) give_up(next_.top());
    return cores_ <= limit_;
  }

  double interval() const { return interval_; }
  // Cycles of one input on its way through all ops, if they followed one another.
  double latency() const { return latency_; }

 private:
  // At `interval`, op `op` can do with its next smaller choice.
  struct Step {
    double interval;
    std::size_t op;
    bool operator<(const Step& other) const { return interval > other.interval; }
  };

  std::size_t& choice_of(std::size_t op) { return chosen_[end_ - 1 - op]; }

  void offer(std::size_t op) {
    if (std::size_t c = choice_of(op); c > 0) next_.push({ops_[op].choices[c - 1].cycles, op});
  }

  void give_up(Step step) {
    next_.pop();
    interval_ = std::max(interval_, step.interval);
    std::size_t& c = choice_of(step.op);
    const CoreCost &larger = ops_[step.op].choices[c], &smaller = ops_[step.op].choices[--c];
    cores_ -= larger.cores - smaller.cores;
    latency_ += smaller.cycles - larger.cycles;
    offer(step.op);
  }

  const std::vector<RelaxedOp>& ops_;
  std::size_t end_;
  std::int64_t limit_, cores_ = 0;
  double interval_ = 0, latency_ = 0;
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
    if (o.last_user >= end_) bytes_ += o.result_bytes;
    for (const auto& reader : readers_[op])
      if (reader.other < end_) bytes_ -= reader.bytes;
    return bytes_;
  }

 private:
  const std::vector<RelaxedOp>& ops_;
  std::size_t end_;
  const std::vector<std::vector<RelaxedOp::Edge>>& readers_;
  double bytes_ = 0;
};

}  // namespace

std::vector<RelaxedEpoch> relaxed_epochs(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip) {
  // By op the edges to those that read it.
  std::vector<std::vector<RelaxedOp::Edge>> readers(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const auto& operand : ops[i].operands) readers[operand.other].push_back({i, operand.bytes});
  std::vector<double> best(ops.size() + 1, kNever), interval(ops.size() + 1, 0);
  std::vector<std::size_t> from(ops.size() + 1, 0);
  best[0] = 0;
  for (std::size_t end = 1; end <= ops.size(); ++end) {
    Segment segment(ops, end, chip.cores);
    DramTraffic traffic(ops, end, readers);
    for (std::size_t begin = end; begin-- > 0;) {
      const bool fits = segment.add(begin);
      // An op that fits no chip stands alone.
      if (!fits && begin + 1 < end) break;
      const double bound = std::max(segment.interval(), traffic.add(begin) / chip.dram_bytes_per_cycle);
      const double cost = best[begin] + bound + (chip.cycles_per_epoch + segment.latency()) / chip.inputs_per_epoch;
      if (cost < best[end]) {
        best[end] = cost;
        from[end] = begin;
        interval[end] = bound;
      }
      if (ops[begin].begins_epoch) break;
    }
  }
  std::vector<RelaxedEpoch> out;
  for (std::size_t end = ops.size(); end > 0; end = from[end]) out.push_back({from[end], end, interval[end]});
  std::reverse(out.begin(), out.end());
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
