// SPDX-License-Identifier: Apache-2.0
// Candidates have the same polynomial hash of kinds, modulo 2^64; each is then compared op by op.
#include "repeated_runs.hpp"

#include <algorithm>

namespace buda::balance {
namespace {

constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15;

}  // namespace

RepeatedRuns::RepeatedRuns(const Placement& placement) {
  const auto& schedule = placement.schedule();
  std::vector<std::size_t> place(schedule.size());
  for (std::size_t i = 0; i < schedule.size(); ++i) place[schedule[i].index()] = i;
  hashes_ = {0};
  powers_ = {1};
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const OpSpec& spec = placement.space().op(schedule[i]);
    Op op{placement.space().kind_of(schedule[i]), {}, i};
    for (const Operand& operand : spec.operands) op.producers.push_back(operand.from.op.valid() ? place[operand.from.op.index()] : kNone);
    for (const OpUse& use : spec.users) op.last_user = std::max(op.last_user, place[use.op.index()]);
    hashes_.push_back(hashes_.back() * kBase + op.kind + 1);
    powers_.push_back(powers_.back() * kBase);
    ops_.push_back(std::move(op));
  }
}

bool RepeatedRuns::is_same(std::size_t begin, std::size_t end, std::size_t other) const {
  const auto inside = [](std::size_t producer, std::size_t first) {
    return producer == kNone || producer < first ? kNone : producer - first;
  };
  for (std::size_t i = 0; i < end - begin; ++i) {
    const Op &a = ops_[begin + i], &b = ops_[other + i];
    if (a.kind != b.kind || a.producers.size() != b.producers.size()) return false;
    for (std::size_t k = 0; k < a.producers.size(); ++k)
      if ((a.producers[k] == kNone) != (b.producers[k] == kNone) || inside(a.producers[k], begin) != inside(b.producers[k], other))
        return false;
    if ((a.last_user >= end) != (b.last_user >= other + (end - begin))) return false;
  }
  return true;
}

const std::vector<std::size_t>& RepeatedRuns::starts(std::size_t begin, std::size_t end) {
  const auto [known, fresh] = starts_.try_emplace({begin, end});
  if (!fresh) return known->second;
  const std::size_t length = end - begin;
  const auto [runs, first_of_length] = by_hash_.try_emplace(length);
  if (first_of_length)
    for (std::size_t at = 0; at + length <= ops_.size(); ++at) runs->second[hash(at, at + length)].push_back(at);
  for (std::size_t other : runs->second.at(hash(begin, end)))
    if (is_same(begin, end, other)) known->second.push_back(other);
  return known->second;
}

}  // namespace buda::balance
