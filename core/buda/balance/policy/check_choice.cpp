// SPDX-License-Identifier: Apache-2.0
// A choice against the rules by which placements are made, and against the resources of cores.
#include <buda/balance/policy/check_choice.hpp>

#include <buda/balance/policy/neighbours.hpp>
#include <buda/balance/problem/node_error.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <map>

namespace buda::balance {
namespace {

// Epochs of a segment come after those of segments before it.
void check_segments(const Problem& problem, const Choice& choice, std::vector<Diagnostic>& out) {
  std::int32_t before = -1, last = -1;
  for (std::size_t i = 0; i < choice.ops.size(); ++i) {
    if (i > 0 && problem.ops[i].segment != problem.ops[i - 1].segment) before = last;
    if (choice.ops[i].epoch <= before)
      out.push_back(internal_error(cat("op '", problem.ops[i].label, "' of segment ", problem.ops[i].segment, " was put into epoch ",
                                       choice.ops[i].epoch, "; segments before it have epochs up to ", before)));
    last = std::max(last, choice.ops[i].epoch);
  }
}

// One epoch's worth of findings about places.
void check_places(const ChoiceSpace& space, const Choice& choice, std::vector<Diagnostic>& out) {
  const Problem& problem = *space.problem;
  std::map<std::int32_t, Placer> epochs;
  for (std::size_t i = 0; i < choice.ops.size(); ++i) {
    const PlacedOp& p = choice.ops[i];
    const std::string& name = problem.ops[i].label;
    const auto& legal = space.models[i].models;
    if (std::find(legal.begin(), legal.end(), p.model) == legal.end())
      out.push_back(internal_error(cat("op '", name, "' was given an implementation that is not legal for it: ", p.model.text())));
    if (p.epoch < 0 || p.epoch >= static_cast<std::int32_t>(choice.ops.size())) {
      out.push_back(internal_error(cat("op '", name, "' was put into epoch ", p.epoch)));
      continue;
    }
    if (const PlaceRule rule = space.overrides[i].place_rule(space.options.allow_transpose); !rule.allows(p.place))
      out.push_back(internal_error(cat("op '", name, "' was placed at [", p.place.at.row, ", ", p.place.at.col, "]",
                                       p.place.transposed ? ", transposed" : "", ", which the options or its override do not allow")));
    auto& placer = epochs.try_emplace(p.epoch, problem.device->grid()).first->second;
    GridRect rect = Placer::rect_of(p.model.grid, p.place);
    if (placer.is_free(rect)) {
      placer.take(rect);
    } else {
      out.push_back(internal_error(cat("op '", name, "' was placed at [", p.place.at.row, ", ", p.place.at.col, "] of epoch ", p.epoch,
                                       ", where it overlaps another or leaves the chip")));
    }
  }
  for (std::size_t i = 0; i < choice.ops.size(); ++i) {
    if (space.overrides[i].epoch_break != true) continue;
    for (std::size_t k = 0; k < i; ++k)
      if (choice.ops[k].epoch == choice.ops[i].epoch)
        out.push_back(internal_error(cat("op '", problem.ops[i].label, "' is to begin an epoch, and op '", problem.ops[k].label,
                                         "', which comes before it, is in the same one")));
  }
}

}  // namespace

std::vector<Diagnostic> check_choice(const ChoiceSpace& space, const Choice& choice) {
  const Problem& problem = *space.problem;
  std::vector<Diagnostic> out;
  if (choice.ops.size() != problem.ops.size()) {
    out.push_back(internal_error(cat("the policy placed ", choice.ops.size(), " of ", problem.ops.size(), " ops")));
    return out;
  }
  check_places(space, choice, out);
  check_segments(problem, choice, out);
  EdgeBook book(problem);
  auto lookup = [&](OpId other) { return &choice.ops[other.index()]; };
  for (std::size_t i = 0; i < choice.ops.size(); ++i) {
    OpId id(static_cast<std::uint32_t>(i));
    const PlacedOp& p = choice.ops[i];
    for (const Operand& operand : problem.op(id).operands)
      if (operand.from.op.valid() && choice.ops[operand.from.op.index()].epoch > p.epoch)
        out.push_back(internal_error(
            cat("op '", problem.op(id).label, "' runs in epoch ", p.epoch, ", before its producer ", describe(problem, operand.from))));
    auto measured = book.measure(id, p.model, p.epoch, lookup);
    if (auto* complaint = std::get_if<EdgeBook::Complaint>(&measured)) {
      out.push_back(book.explain(id, p.model, *complaint));
      return out;
    }
    book.enter(id, std::move(std::get<EdgeBook::Entry>(measured)));
  }
  for (std::size_t i = 0; i < choice.ops.size(); ++i) {
    OpId id(static_cast<std::uint32_t>(i));
    const OpModel& model = choice.ops[i].model;
    auto verdict = judge(problem.op(id), with_model(problem.op(id), model), book.links(id, model, book.entry(id), {}), *problem.device, "");
    if (auto* d = std::get_if<Diagnostic>(&verdict)) out.push_back(std::move(*d));
  }
  return out;
}

}  // namespace buda::balance
