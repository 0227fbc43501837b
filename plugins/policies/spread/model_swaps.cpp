// SPDX-License-Identifier: Apache-2.0
// Rounds of single exchanges.
#include "model_swaps.hpp"

#include <buda/cost/transfer_model.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// Exchanges after each other, and for each of them the models that are compared and those that are placed on trial. Others do not go with
// their neighbours.
constexpr int kMaxRounds = 8;
constexpr std::size_t kComparedExchanges = 32, kTriedExchanges = 4;
// Edges that count as slow beside the slowest one, and the part of its time to which an exchange must bring an op and its edges.
constexpr double kExchangedEdges = 0.95, kWorthTrying = 0.97;

struct Exchange {
  std::size_t op = 0;  // its number in the epoch
  const OpModel* model = nullptr;
  double cost = 0;  // least first
};

class Exchanges {
 public:
  Exchanges(PacedPlacer& placer, Trials& trials, std::size_t begin, std::size_t end)
      : placer_(placer), placement_(placer.placement()), trials_(trials), begin_(begin), end_(end) {}

  // The epoch after the first exchange that makes it faster; nothing where none does.
  std::optional<RatedEpoch> better_than(const RatedEpoch& standing) {
    auto better = first_better(for_faster_edges(), standing);
    return better || !stand(standing.ops) ? better : first_better(for_fewer_cores(), standing);
  }

  // Places the ops from the first one on that stands otherwise.
  bool stand(const std::vector<PlacedOp>& ops) {
    const std::vector<OpId>& schedule = placement_.schedule();
    std::size_t same = 0;
    while (same < ops.size() && placement_.is_placed(schedule[begin_ + same]) && placement_.placed(schedule[begin_ + same]) == ops[same])
      ++same;
    if (same < ops.size() && placement_.is_placed(schedule[begin_ + same])) placement_.rewind(schedule[begin_ + same]);
    if (same == 0) placement_.next_epoch();
    trials_.count_ops(ops.size() - same);
    for (std::size_t i = same; i < ops.size(); ++i)
      if (!placement_.place_at(schedule[begin_ + i], ops[i].model, ops[i].place)) return false;
    return true;
  }

 private:
  std::optional<RatedEpoch> first_better(std::vector<Exchange> exchanges, const RatedEpoch& standing) {
    std::stable_sort(exchanges.begin(), exchanges.end(), [](const Exchange& a, const Exchange& b) { return a.cost < b.cost; });
    exchanges.resize(std::min(exchanges.size(), kComparedExchanges));
    std::size_t tried = 0;
    for (const Exchange& exchange : exchanges) {
      if (tried == kTriedExchanges || trials_.ops_left() == 0) break;
      std::vector<PlacedOp> ops = standing.ops;
      ops[exchange.op].model = *exchange.model;
      if (!stand(ops)) continue;
      ++tried;
      RatedEpoch rated = trials_.rated_epoch(end_);
      if (rated.cycles < standing.cycles) return rated;
    }
    return std::nullopt;
  }

  std::vector<Exchange> for_faster_edges() {
    const std::vector<OpId>& ops = placement_.in_epoch();
    const std::vector<double> edges = placer_.edge_cycles(ops);
    double interval = 0;
    for (OpId op : ops) interval = std::max(interval, placer_.cycles(op));
    const double slowest = *std::max_element(edges.begin(), edges.end());
    std::vector<Exchange> out;
    if (slowest <= interval) return out;
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (edges[i] >= kExchangedEdges * slowest) add_models(i, kWorthTrying * slowest, out);
    return out;
  }

  void add_models(std::size_t i, double most, std::vector<Exchange>& out) {
    const OpId op = placement_.in_epoch()[i];
    const PlacedOp& now = placement_.placed(op);
    for (const OpModel& model : placement_.space().models_of(op)) {
      if (model == now.model || model.grid.rows > now.model.grid.rows || model.grid.cols > now.model.grid.cols) continue;
      const double slowest = std::max(placer_.cycles(op, model), placer_.edge_cycles_with(op, model));
      if (slowest <= most) out.push_back({i, &model, slowest});
    }
  }

  // Each core that an epoch uses makes the change to it longer. An op with fewer of them may take so much longer at most, and must not hold
  // up the others.
  std::vector<Exchange> for_fewer_cores() {
    const cost::TransferModel transfers(placement_.space().device());
    const double of_core = transfers.epoch_change(1) - transfers.epoch_change(0);
    const std::vector<OpId>& ops = placement_.in_epoch();
    double interval = 0;
    for (OpId op : ops) interval = std::max(interval, placer_.cycles(op));
    std::vector<Exchange> out;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const PlacedOp& now = placement_.placed(ops[i]);
      const double cycles = placer_.cycles(ops[i], now.model);
      for (const OpModel& model : placement_.space().models_of(ops[i])) {
        if (model.cores() >= now.model.cores() || model.grid.rows > now.model.grid.rows || model.grid.cols > now.model.grid.cols) continue;
        const double longer = placer_.cycles(ops[i], model), saved = of_core * static_cast<double>(now.model.cores() - model.cores());
        if (longer <= interval && longer - cycles < saved) out.push_back({i, &model, longer - cycles - saved});
      }
    }
    return out;
  }

  PacedPlacer& placer_;
  Placement& placement_;
  Trials& trials_;
  std::size_t begin_, end_;
};

}  // namespace

RatedEpoch with_other_models(PacedPlacer& placer, Trials& trials, std::size_t begin, std::size_t end, RatedEpoch standing) {
  Exchanges exchanges(placer, trials, begin, end);
  for (int round = 0; round < kMaxRounds; ++round) {
    auto better = exchanges.better_than(standing);
    if (!better) break;
    standing = std::move(*better);
    if (!exchanges.stand(standing.ops)) break;
  }
  return standing;
}

}  // namespace buda::balance
