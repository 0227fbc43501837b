// SPDX-License-Identifier: Apache-2.0
// Which models of an op can take which operands directly.
#include <buda/balance/legalize/cut_edges.hpp>

#include <buda/balance/policy/neighbours.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace buda::balance {
namespace {

// By model of an op: whether it can take an operand from some model of the producer.
using CompatibleModels = std::vector<bool>;

bool can_take(const Problem& problem, OpId op, const OpModel& model, std::size_t input, const OpModel& from) {
  const PlacedOp producer{from, 0, {}};
  const auto cost = operand_cost(problem, op, model, input, 0, &producer);
  if (!std::holds_alternative<EdgeCost>(cost)) return false;
  return std::holds_alternative<std::int32_t>(judge_with_inputs(problem, op, model, {{input, std::get<EdgeCost>(cost), true}}));
}

CompatibleModels compatible_models(const Problem& problem, OpId op, std::size_t input, const std::vector<OpModel>& models,
                                   const std::vector<OpModel>& from) {
  CompatibleModels out;
  std::size_t last = 0;  // the model of the producer that went with the model before
  for (const OpModel& model : models) {
    bool found = false;
    for (std::size_t k = 0; k < from.size() && !found; ++k) {
      const std::size_t i = (last + k) % from.size();
      found = can_take(problem, op, model, input, from[i]);
      if (found) last = i;
    }
    out.push_back(found);
  }
  return out;
}

// Operands that come straight from an op, where that is possible: on another chip or in another segment there is a queue anyway.
std::vector<std::size_t> direct_operands(const Problem& problem, OpId op) {
  const OpSpec& spec = problem.op(op);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const Operand& operand = spec.operands[i];
    if (!operand.from.op.valid() || operand.queued) continue;
    const OpSpec& producer = problem.op(operand.from.op);
    if (producer.segment == spec.segment && producer.chip == spec.chip && producer.copies == spec.copies) out.push_back(i);
  }
  return out;
}

bool some_model_fits_all(const std::vector<CompatibleModels>& all) {
  for (std::size_t m = 0; m < all.front().size(); ++m)
    if (std::all_of(all.begin(), all.end(), [m](const CompatibleModels& c) { return c[m]; })) return true;
  return false;
}

// Numbers in `all` of the operands to cut, by the fewest models that can take them, until one takes the others.
std::vector<std::size_t> fewest_to_cut(const std::vector<CompatibleModels>& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = [&](std::size_t k) { return std::count(all[k].begin(), all[k].end(), true); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return count(a) < count(b); });
  std::vector<CompatibleModels> left;
  for (std::size_t k : order) left.push_back(all[k]);
  std::size_t cut = 0;
  while (!left.empty() && !some_model_fits_all(left)) {
    left.erase(left.begin());
    ++cut;
  }
  order.resize(cut);
  return order;
}

class Cutter {
 public:
  Cutter(SelfCut cut, Problem& problem) : cut_(cut), problem_(problem) {}

  void cut_op(OpId op, const std::vector<LegalModels>& models) {
    const std::vector<std::size_t> direct = direct_operands(problem_, op);
    std::vector<CompatibleModels> all;
    for (std::size_t i : direct) {
      const OpId from = problem_.op(op).operands[i].from.op;
      all.push_back(compatible_models(problem_, op, i, models[op.index()].models, models[from.index()].models));
    }
    if (all.empty() || some_model_fits_all(all)) return;
    if (cut_ == SelfCut::fast_cut) {
      for (std::size_t i : direct) queue(op, i);
      return;
    }
    for (std::size_t k : fewest_to_cut(all)) {
      const OpId from = problem_.op(op).operands[direct[k]].from.op;
      queue(op, direct[k]);
      if (cut_ != SelfCut::producer) continue;
      for (const OpUse& use : problem_.op(from).users) queue(use.op, use.input);
    }
  }

  std::size_t cuts() const { return cuts_; }

 private:
  void queue(OpId op, std::size_t input) {
    Operand& operand = problem_.ops[op.index()].operands[input];
    if (operand.queued) return;
    operand.queued = true;
    problem_.ops[operand.from.op.index()].feeds_queued = true;
    ++cuts_;
  }

  SelfCut cut_;
  Problem& problem_;
  std::size_t cuts_ = 0;
};

}  // namespace

std::size_t cut_edges(SelfCut cut, const std::vector<LegalModels>& models, Problem& problem) {
  if (cut == SelfCut::none) return 0;
  Cutter cutter(cut, problem);
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    if (!models[i].models.empty()) cutter.cut_op(OpId(static_cast<std::uint32_t>(i)), models);
  return cutter.cuts();
}

}  // namespace buda::balance
