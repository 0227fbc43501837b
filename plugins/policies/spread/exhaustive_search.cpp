// SPDX-License-Identifier: Apache-2.0
// Branch and bound: all choices whose ops and buffers alone are faster than a known plan, and then their estimates, the most promising
// first.
#include "exhaustive_search.hpp"

#include <buda/balance/cost/cost.hpp>
#include <buda/cost/transfer_model.hpp>
#include "rating/flow_times.hpp"
#include "rating/queue_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// Places in which a choice is estimated, at most.
constexpr std::size_t kTriedPlaces = 40;
// Choices that are kept for an estimate, at most.
constexpr std::size_t kMaxChoices = 4000;

struct BoundedChoice {
  double least = 0;        // cycles below which no estimate of it is
  std::size_t number = 0;  // in the order in which they were found
  Choice choice;
  friend bool operator<(const BoundedChoice& a, const BoundedChoice& b) {
    return std::pair(a.least, a.number) < std::pair(b.least, b.number);
  }
};

// Then no model after the first one that is too slow need be tried, and the most promising choices come before the budget ends.
std::vector<const OpModel*> fastest_first(std::span<const OpModel> models) {
  std::vector<const OpModel*> out;
  for (const OpModel& model : models) out.push_back(&model);
  std::stable_sort(out.begin(), out.end(), [](const OpModel* a, const OpModel* b) { return a->cycles < b->cycles; });
  return out;
}

class TryAll {
 public:
  TryAll(Placement& placement, const Estimator& estimator, LinkModel& links, double least, const TryAllBudget& budget)
      : placement_(placement),
        estimator_(estimator),
        links_(links),
        flow_(placement, links),
        budget_(budget),
        inputs_(std::max(placement.space().problem->microbatch, 1)),
        least_(least),
        least_change_(std::round(cost::TransferModel(placement.space().device()).epoch_change(1))) {
    for (OpId op : placement.schedule()) models_.push_back(fastest_first(placement.space().models_of(op)));
  }

  std::optional<Choice> run() {
    if (!placement_.schedule().empty()) placement_.rewind(placement_.schedule().front());
    extend(0, 0, 0);
    std::sort_heap(choices_.begin(), choices_.end());
    for (BoundedChoice& bounded : choices_) {
      if (bounded.least >= least_ || is_over()) break;
      tried_places_ = 0;
      if (estimate(bounded.choice) > bounded.least) move(bounded.choice, 0, bounded.least);
    }
    return std::move(best_);
  }

 private:
  bool is_over() const { return budget_.placements <= 0 || budget_.estimated_cores <= 0; }

  // The present epoch, which ends before number `end`, as the report counts it but for paths.
  double epoch_cycles(std::size_t end) {
    double slowest = 0, longest = 0;
    std::int64_t cores = 0;
    std::map<OpId, double> done;
    for (OpId id : placement_.in_epoch()) {
      cores += placement_.placed(id).model.cores();
      const double own = std::round(links_.times.cycles(id, placement_.placed(id).model, ways_in_epoch(placement_, id, end)));
      double start = 0;
      for (const Operand& operand : placement_.space().op(id).operands)
        if (const auto from = done.find(operand.from.op); from != done.end()) start = std::max(start, from->second);
      longest = std::max(longest, done[id] = start + own);
      slowest = std::max(slowest, own);
    }
    const cost::PipelineTimes flow = flow_.times(end);
    return std::round(cost::TransferModel(placement_.space().device()).epoch_change(cores)) + std::max(longest, std::round(flow.first)) +
           (inputs_ - 1) * std::max(slowest, std::round(flow.interval));
  }

  // Op number `next` with each model, in the present epoch and in a new one. `before`: cycles of the epochs that are closed; `slowest`: of
  // the ops of the open one.
  void extend(std::size_t next, double before, double slowest) {
    const auto& schedule = placement_.schedule();
    if (next == schedule.size()) {
      const double cycles = before + epoch_cycles(next);
      if (cycles < least_) keep(cycles);
      return;
    }
    try_models(next, before, slowest, false);
    if (placement_.in_epoch().empty()) return;
    const double closed = before + epoch_cycles(next);
    const PlacedOp last = placement_.placed(schedule[next - 1]);
    if (closed + least_change_ < least_) try_models(next, closed, 0, true);
    stand_again(next - 1, last);
  }

  void try_models(std::size_t next, double before, double slowest, bool in_new_epoch) {
    const OpId op = placement_.schedule()[next];
    for (const OpModel* candidate : models_[next]) {
      const OpModel& model = *candidate;
      const double most = std::max(slowest, std::round(model.cycles));
      if (before + least_change_ + inputs_ * most >= least_ || is_over()) break;
      if (in_new_epoch) placement_.next_epoch();
      --budget_.placements;
      if (!placement_.place(op, model)) continue;
      extend(next + 1, before, most);
      placement_.rewind(op);
    }
  }

  // The epoch of op number `last` is the present one.
  void stand_again(std::size_t last, const PlacedOp& placed) {
    const OpId op = placement_.schedule()[last];
    placement_.rewind(op);
    if (placement_.epoch() != placed.epoch) placement_.next_epoch();
    placement_.place_at(op, placed.model, placed.place);
  }

  // The choice that stands, which takes `least` cycles or more, if it is among the most promising ones.
  void keep(double least) {
    if (choices_.size() == kMaxChoices && choices_.front().least <= least) return;
    auto choice = placement_.choice();
    if (!choice) return;
    if (choices_.size() == kMaxChoices) {
      std::pop_heap(choices_.begin(), choices_.end());
      choices_.pop_back();
    }
    choices_.push_back({least, found_++, std::move(*choice)});
    std::push_heap(choices_.begin(), choices_.end());
  }

  double estimate(const Choice& choice) {
    if (budget_.estimated_cores <= 0) return 0;
    for (const PlacedOp& op : choice.ops) budget_.estimated_cores -= op.model.cores();
    const auto epochs = estimator_.estimate(choice);
    if (!epochs) return std::numeric_limits<double>::infinity();
    const double cycles = std::accumulate(epochs->begin(), epochs->end(), 0.0);
    if (cycles < least_) {
      least_ = cycles;
      best_ = choice;
    }
    return cycles;
  }

  // The ops from number `next` on in all places.
  void move(Choice& choice, std::size_t next, double by_models) {
    if (by_models >= least_ || tried_places_ >= kTriedPlaces || is_over()) return;
    if (next == choice.ops.size()) {
      ++tried_places_;
      estimate(choice);
      return;
    }
    const PlacedOp original = choice.ops[next];
    const GridShape chip = placement_.space().device().grid(), shape = Placer::rect_of(original.model.grid, original.place).shape;
    for (std::int32_t row = 0; row + shape.rows <= chip.rows; ++row)
      for (std::int32_t col = 0; col + shape.cols <= chip.cols; ++col) {
        choice.ops[next].place.at = {row, col};
        const GridRect own{{row, col}, shape};
        const auto is_in_the_way = [&](const PlacedOp& p) {
          return p.epoch == original.epoch && Placer::rect_of(p.model.grid, p.place).overlaps(own);
        };
        if (std::none_of(choice.ops.begin(), choice.ops.begin() + static_cast<std::ptrdiff_t>(next), is_in_the_way))
          move(choice, next + 1, by_models);
      }
    choice.ops[next] = original;
  }

  Placement& placement_;
  const Estimator& estimator_;
  LinkModel& links_;
  FlowTimes flow_;
  TryAllBudget budget_;
  double inputs_, least_, least_change_;
  std::vector<std::vector<const OpModel*>> models_;  // by number in the schedule
  std::vector<BoundedChoice> choices_;               // a heap, the least promising first
  std::size_t found_ = 0;
  std::optional<Choice> best_;
  std::size_t tried_places_ = 0;
};

}  // namespace

std::optional<Choice> best_of_all(Placement& placement, const Estimator& estimator, LinkModel& links, double least,
                                  const TryAllBudget& budget) {
  return TryAll(placement, estimator, links, least, budget).run();
}

}  // namespace buda::balance
