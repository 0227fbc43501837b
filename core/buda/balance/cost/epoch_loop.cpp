// SPDX-License-Identifier: Apache-2.0
// Round after round, with the times at which cores were done in the one before.
#include <buda/balance/cost/epoch_loop.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace buda::balance {
namespace {

// The first begins with idle cores; later ones differ by less than a cycle in a hundred.
constexpr int kRounds = 3;

using Core = std::pair<std::int32_t, std::int32_t>;  // row and column

template <class Visit>
void for_each_core(const GridRect& rect, Visit visit) {
  for (std::int32_t r = 0; r < rect.shape.rows; ++r)
    for (std::int32_t c = 0; c < rect.shape.cols; ++c) visit(Core{rect.origin.row + r, rect.origin.col + c});
}

// One chip.
class Loop {
 public:
  explicit Loop(std::vector<const LoopedEpoch*> epochs)
      : epochs_(std::move(epochs)), hidden_(epochs_.size(), 0), alone_(epochs_.size(), 0) {
    for (std::size_t e = 0; e < epochs_.size(); ++e) alone_[e] = cost::pipeline_ends(epochs_[e]->ops, epochs_[e]->inputs).all;
  }

  std::vector<double> run() {
    for (int round = 0; round < kRounds; ++round)
      for (std::size_t e = 0; e < epochs_.size(); ++e) go_through(e);
    return hidden_;
  }

 private:
  void go_through(std::size_t e) {
    const LoopedEpoch& epoch = *epochs_[e];
    std::vector<cost::PipelineOp> ops = epoch.ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      double since = 0;
      for_each_core(epoch.cores[i], [&](Core core) {
        if (const auto done = done_.find(core); done != done_.end()) since = std::max(since, done->second);
      });
      if (epoch.cores[i].shape.volume() > 0) ops[i].start = std::max(since + epoch.change - now_, 0.0);
    }
    const cost::PipelineEnds ends = cost::pipeline_ends(ops, epoch.inputs);
    const double waited = std::clamp(ends.all - alone_[e], 0.0, epoch.change);
    hidden_[e] = epoch.change - waited;
    now_ += epoch.cycles + waited;
    for (std::size_t i = 0; i < ops.size(); ++i)
      for_each_core(epoch.cores[i], [&](Core core) { done_[core] = now_ - (ends.all - ends.ops[i]); });
  }

  std::vector<const LoopedEpoch*> epochs_;
  std::vector<double> hidden_, alone_;  // by epoch; alone: the cycles of its pipeline, for the inputs that are followed
  std::map<Core, double> done_;         // when each core was, from the begin of the first round
  double now_ = 0;
};

}  // namespace

std::vector<double> hidden_changes(const std::vector<LoopedEpoch>& loop) {
  std::map<std::int32_t, std::vector<std::size_t>> by_chip;
  for (std::size_t e = 0; e < loop.size(); ++e) by_chip[loop[e].chip].push_back(e);
  std::vector<double> out(loop.size(), 0);
  for (const auto& [chip, numbers] : by_chip) {
    std::vector<const LoopedEpoch*> epochs;
    for (std::size_t e : numbers) epochs.push_back(&loop[e]);
    const std::vector<double> hidden = Loop(std::move(epochs)).run();
    for (std::size_t i = 0; i < numbers.size(); ++i) out[numbers[i]] = hidden[i];
  }
  return out;
}

}  // namespace buda::balance
