// SPDX-License-Identifier: Apache-2.0
// Each op is placed as it stood, in the order of the schedule.
#include <buda/balance/policy/replay.hpp>

namespace buda::balance {

void begin_again(Placement& placement, std::size_t begin) {
  if (placement.is_placed(placement.schedule()[begin])) placement.rewind(placement.schedule()[begin]);
  placement.next_epoch();
}

namespace {

// `op_of`: by place in the schedule.
template <class OpOf>
bool stand(Placement& placement, std::size_t begin, std::size_t end, OpOf op_of) {
  for (std::size_t i = begin; i < end; ++i) {
    const PlacedOp& op = op_of(i);
    if (placement.place_at(placement.schedule()[i], op.model, op.place)) continue;
    if (i > begin) begin_again(placement, begin);
    return false;
  }
  return true;
}

}  // namespace

bool stand_as_in(Placement& placement, std::size_t begin, std::size_t end, const Choice& choice) {
  return stand(placement, begin, end, [&](std::size_t i) -> const PlacedOp& { return choice.ops[placement.schedule()[i].index()]; });
}

bool stand_as(Placement& placement, std::size_t begin, const std::vector<PlacedOp>& ops) {
  return stand(placement, begin, begin + ops.size(), [&](std::size_t i) -> const PlacedOp& { return ops[i - begin]; });
}

std::vector<std::size_t> bounds_of(const Placement& placement, const Choice& choice) {
  const auto& schedule = placement.schedule();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (i == 0 || choice.ops[schedule[i].index()].epoch != choice.ops[schedule[i - 1].index()].epoch) out.push_back(i);
  out.push_back(schedule.size());
  return out;
}

Result<void> for_each_epoch(Placement& placement, const Choice& choice, const std::function<void(std::size_t end)>& visit) {
  const auto bounds = bounds_of(placement, choice);
  if (!placement.schedule().empty()) placement.rewind(placement.schedule().front());
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    placement.next_epoch();
    if (!stand_as_in(placement, bounds[e], bounds[e + 1], choice)) return internal_error("a choice does not stand a second time");
    visit(bounds[e + 1]);
  }
  return success();
}

}  // namespace buda::balance
