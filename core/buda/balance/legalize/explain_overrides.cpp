// SPDX-License-Identifier: Apache-2.0
// Neighbours of what was asked for are tried one after the other.
#include <buda/balance/legalize/explain_overrides.hpp>

#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/models/alike.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace buda::balance {
namespace {

// The nearest legal choices that a plan can be made of, in words: what is legal alone may still need more than a core has beside its
// neighbours. `space`: with models for all other ops.
std::vector<std::string> nearest_that_work(const Problem& problem, ChoiceSpace space, OpId op, const std::vector<NearChoice>& near,
                                           const CanBuild& can_build) {
  constexpr std::size_t kMaxShown = 3, kMaxTrials = 12;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(near.size(), kMaxTrials) && out.size() < kMaxShown; ++i) {
    Problem tried = problem;
    tried.ops[op.index()] = with_buffered_inputs(tried.op(op), near[i].overrides.buffered_inputs);
    space.overrides[op.index()] = near[i].overrides;
    space.models[op.index()].models = near[i].models;
    space.kinds = kinds_of(tried, space);
    space.problem = std::make_shared<const Problem>(std::move(tried));
    if (can_build(space)) out.push_back(near[i].text);
  }
  return out;
}

}  // namespace

std::vector<std::size_t> kinds_of(const Problem& problem, const ChoiceSpace& space) {
  const std::vector<std::size_t> first = first_alike(problem);
  std::map<std::size_t, std::vector<std::size_t>> kinds;  // by first alike
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    auto& known = kinds[first[i]];
    const auto is_same = [&](std::size_t k) {
      return space.overrides[k].given.empty() && space.overrides[i].given.empty() && space.models[k].models == space.models[i].models;
    };
    auto same = std::find_if(known.begin(), known.end(), is_same);
    if (same == known.end()) same = known.insert(known.end(), i);
    out.push_back(*same);
  }
  return out;
}

void explain_overrides(Problem problem, ChoiceSpace space, const std::map<std::size_t, std::vector<NearChoice>>& illegal,
                       const CanBuild& can_build, Failure& failure) {
  const std::vector<OpOverride> given = space.overrides;
  space.effort = 0;
  for (const auto& [i, near] : illegal) {
    space.overrides[i] = near.front().overrides;
    space.models[i].models = near.front().models;
    problem.ops[i] = with_buffered_inputs(std::move(problem.ops[i]), near.front().overrides.buffered_inputs);
  }
  const bool all_fit = std::none_of(space.models.begin(), space.models.end(), [](const LegalModels& m) { return m.models.empty(); });
  for (const auto& [i, near] : illegal) {
    const OpId op(static_cast<OpId::rep>(i));
    const auto nearest = all_fit ? nearest_that_work(problem, space, op, near, can_build) : std::vector<std::string>{};
    failure.add(illegal_override(problem.op(op), given[i], nearest, *problem.device));
  }
}

}  // namespace buda::balance
