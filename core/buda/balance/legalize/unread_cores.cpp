// SPDX-License-Identifier: Apache-2.0
// Edges to users that leave a part out, measured with each model of the op that gives it.
#include <buda/balance/legalize/unread_cores.hpp>

#include <buda/balance/policy/neighbours.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

bool leaves_out(const Problem& problem, const OpUse& use) { return problem.op(use.op).op.inputs[use.input].maps.unpad.has_value(); }

// Which sources a user reads depends on how they share the result, not on the user's own model.
bool has_unread_cores(const Problem& problem, const OpUse& use, const OpModel& of_user, const OpModel& model) {
  const PlacedOp producer{model, 0, {}};
  const auto cost = operand_cost(problem, use.op, of_user, use.input, 0, &producer);
  return std::holds_alternative<EdgeCost>(cost) && std::get<EdgeCost>(cost).unread > 0;
}

}  // namespace

void avoid_unread_cores(const Problem& problem, std::vector<LegalModels>& models) {
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    for (const OpUse& use : problem.ops[i].users) {
      const std::vector<OpModel>& of_user = models[use.op.index()].models;
      if (!leaves_out(problem, use) || of_user.empty()) continue;
      std::vector<OpModel> kept;
      std::copy_if(models[i].models.begin(), models[i].models.end(), std::back_inserter(kept),
                   [&](const OpModel& m) { return !has_unread_cores(problem, use, of_user.front(), m); });
      if (!kept.empty()) models[i].models = std::move(kept);
    }
  }
}

}  // namespace buda::balance
