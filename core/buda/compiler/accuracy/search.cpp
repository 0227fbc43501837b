// SPDX-License-Identifier: Apache-2.0
// Galloping up, then halving.
#include <buda/compiler/accuracy/search.hpp>

#include <algorithm>
#include <numeric>

namespace buda::compiler {
namespace {

class Search {
 public:
  Search(const std::vector<std::size_t>& groups, std::size_t most_trials, const std::function<Result<TrialVerdict>(const Taken&)>& attempt)
      : groups_(groups), left_(groups.size()), trials_left_(most_trials), attempt_(attempt) {
    std::iota(left_.begin(), left_.end(), std::size_t{0});
  }

  Result<std::optional<Taken>> run(std::size_t first) {
    std::size_t low = 0, next = std::clamp<std::size_t>(first, 1, std::max<std::size_t>(left_.size(), 1));
    while (low < left_.size() && trials_left_ > 0) {
      next = std::min(next, left_.size());
      BUDA_ASSIGN(const TrialVerdict verdict, try_first(next));
      if (verdict == TrialVerdict::holds) return halve(low, next);
      if (verdict == TrialVerdict::no_fit) {
        BUDA_ASSIGN(const auto found, drop_offender(low, next));
        if (found) return halve(low, *found);
        next = low + 1;
        continue;
      }
      const std::size_t stride = next - low;
      low = next;
      next = low + 2 * stride;
    }
    return std::optional<Taken>();
  }

 private:
  Taken first_of(std::size_t count) const { return {left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(count)}; }

  Result<TrialVerdict> try_first(std::size_t count) {
    if (trials_left_ == 0) return TrialVerdict::too_little;
    --trials_left_;
    return attempt_(first_of(count));
  }

  // `high` steps hold, `low` ones do not.
  Result<std::optional<Taken>> halve(std::size_t low, std::size_t high) {
    while (high - low > 1 && trials_left_ > 0) {
      const std::size_t middle = low + (high - low) / 2;
      BUDA_ASSIGN(const TrialVerdict verdict, try_first(middle));
      (verdict == TrialVerdict::holds ? high : low) = middle;
    }
    return std::optional<Taken>(first_of(high));
  }

  // `high` steps do not fit, and `low` ones do. Takes out the step with which it begins, and moves `low` up to it; or finds a number of
  // steps that holds.
  Result<std::optional<std::size_t>> drop_offender(std::size_t& low, std::size_t high) {
    while (high - low > 1 && trials_left_ > 0) {
      const std::size_t middle = low + (high - low) / 2;
      BUDA_ASSIGN(const TrialVerdict verdict, try_first(middle));
      if (verdict == TrialVerdict::holds) return std::optional<std::size_t>(middle);
      (verdict == TrialVerdict::no_fit ? high : low) = middle;
    }
    const std::size_t group = groups_[left_[high - 1]];
    left_.erase(std::remove_if(left_.begin() + static_cast<std::ptrdiff_t>(high - 1), left_.end(),
                               [&](std::size_t step) { return groups_[step] == group; }),
                left_.end());
    return std::optional<std::size_t>();
  }

  const std::vector<std::size_t>& groups_;
  Taken left_;  // steps that are not taken out
  std::size_t trials_left_;
  const std::function<Result<TrialVerdict>(const Taken&)>& attempt_;
};

}  // namespace

Result<std::optional<Taken>> fewest_steps(const std::vector<std::size_t>& groups, std::size_t first, std::size_t most_trials,
                                          const std::function<Result<TrialVerdict>(const Taken&)>& attempt) {
  return Search(groups, most_trials, attempt).run(first);
}

}  // namespace buda::compiler
