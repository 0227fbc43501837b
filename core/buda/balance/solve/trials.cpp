// Ratings of choices.
#include <buda/balance/solve/trials.hpp>

#include <buda/balance/solve/spread.hpp>

#include <algorithm>
#include <numeric>

namespace buda::balance {
namespace {

// Ops that are estimated in all trials together, about a second's worth, and the most trials. Larger problems are rated by their ops.
constexpr std::size_t kEstimatedOps = 4'000, kMostEstimates = 24, kLargestProblem = 2'000;

}  // namespace

Trials::Trials(const PolicyContext& context, double inputs)
    : context_(context), inputs_(inputs), estimates_(context.estimates() && context.schedule().size() <= kLargestProblem) {
  left_ = estimates_ ? std::clamp<std::size_t>(kEstimatedOps / std::max<std::size_t>(context.schedule().size(), 1), 3, kMostEstimates) : 0;
}

Trial Trials::rated(Choice choice) const {
  Trial out;
  out.cycles = pipelined_cycles(choice) + choice.epochs() * kEpochChangeCycles / inputs_;
  out.choice = std::move(choice);
  return out;
}

Trial Trials::estimated(Choice choice) {
  Trial out = rated(std::move(choice));
  if (left_ > 0) {
    --left_;
    if (auto epochs = context_.estimate(out.choice)) {
      out.epochs = std::move(*epochs);
      const double sum = std::accumulate(out.epochs.begin(), out.epochs.end(), 0.0);
      out.cycles =
          sum / static_cast<double>(std::max(context_.problem().microbatch, 1)) + out.choice.epochs() * kEpochChangeCycles / inputs_;
    } else {
      out.fails = true;
    }
  }
  if (!best_ || out.is_better(*best_)) best_ = out;
  return out;
}

}  // namespace buda::balance
