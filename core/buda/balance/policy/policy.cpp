// SPDX-License-Identifier: Apache-2.0
// The book-keeping behind policies, and the check of what they return.
#include <buda/balance/policy/policy.hpp>

#include <buda/balance/policy/neighbours.hpp>
#include <buda/balance/problem/node_error.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace buda::balance {
namespace {

Diagnostic objection_to(const OpSpec& spec, const std::string& why) {
  Diagnostic d = does_not_fit("BL013", spec.node_name, "epoch", 0, 0, cat("op '", spec.label, "' cannot be placed here: ", why), "");
  d.data.clear();
  return d;
}

// The ops from which `op` takes inputs within its epoch, each once, with all uses.
std::vector<std::pair<OpId, std::vector<EdgeBook::ExtraUse>>> direct_producers(const Problem& problem, OpId op,
                                                                               const EdgeBook::Entry& entry) {
  std::vector<std::pair<OpId, std::vector<EdgeBook::ExtraUse>>> out;
  const auto& operands = problem.op(op).operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!entry.direct[i]) continue;
    OpId from = operands[i].from.op;
    auto it = std::find_if(out.begin(), out.end(), [&](const auto& p) { return p.first == from; });
    if (it == out.end()) it = out.insert(out.end(), {from, {}});
    it->second.push_back({{op, i}, &entry});
  }
  return out;
}

// Indices of models, those that are preferred first; among equals the order of the models.
std::vector<std::size_t> by_preference(std::span<const OpModel> models, const PolicyContext::Preference& preferred) {
  std::vector<std::size_t> order(models.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return preferred(models[a], models[b]); });
  return order;
}

// How often a policy may place ops: tens of times what searches of that effort do, and minutes at most.
std::int64_t placement_budget(const ChoiceSpace& space) {
  if (space.placement_budget > 0) return space.placement_budget;
  constexpr std::int64_t kForEachOp[] = {20'000, 20'000, 50'000, 100'000}, kAtLeast = 1'000'000;
  const auto effort = static_cast<std::size_t>(std::clamp(space.effort, 0, 3));
  return kAtLeast + kForEachOp[effort] * static_cast<std::int64_t>(space.problem->ops.size());
}

}  // namespace

std::int32_t Choice::epochs() const {
  std::int32_t last = -1;
  for (const auto& op : ops) last = std::max(last, op.epoch);
  return last + 1;
}

PolicyContext::PolicyContext(const ChoiceSpace& space, std::uint64_t seed, Estimate estimate, unsigned threads, Bound bound)
    : PolicyContext(space, seed, std::move(estimate), threads, std::move(bound),
                    std::make_shared<std::atomic<std::int64_t>>(placement_budget(space))) {}

PolicyContext::PolicyContext(const ChoiceSpace& space, std::uint64_t seed, Estimate estimate, unsigned threads, Bound bound,
                             Counter placements_left)
    : space_(&space),
      seed_(seed),
      placed_(space.problem->ops.size()),
      placer_(space.problem->device->grid()),
      edges_(std::make_unique<EdgeBook>(*space.problem, space.kinds)),
      estimate_(std::move(estimate)),
      bound_(std::move(bound)),
      placements_left_(std::move(placements_left)),
      threads_(threads) {
  for (std::size_t i = 0; i < placed_.size(); ++i) schedule_.push_back(OpId(static_cast<std::uint32_t>(i)));
}

PolicyContext::~PolicyContext() = default;

// Breaks that the user wants, and ops that are placed already.
std::optional<Diagnostic> PolicyContext::objection_of_epoch(OpId id) const {
  const OpSpec& spec = op(id);
  if (is_placed(id)) return objection_to(spec, "it is placed already");
  const std::int32_t segment = history_.empty() ? 0 : op(history_.back()).segment;
  if (spec.segment < segment || (spec.segment > segment && !in_epoch_.empty()))
    return objection_to(spec, cat("it is in segment ", spec.segment, " of the device, and the current epoch in segment ", segment));
  if (space_->overrides[id.index()].epoch_break == true && !in_epoch_.empty())
    return objection_to(spec, "it must begin an epoch, and the current one already has ops");
  for (OpId other : in_epoch_)
    if (space_->overrides[other.index()].epoch_break == true && id < other)
      return objection_to(spec, cat("op '", op(other).label, "', a later op, must begin this epoch"));
  return std::nullopt;
}

// Whether op and producers have what they need of their cores if the op is in this epoch.
bool PolicyContext::fits_in(std::int32_t epoch, OpId id, const OpModel& model) const {
  const auto measured = edges_->measure(id, model, epoch, [this](OpId other) { return is_placed(other) ? &placed(other) : nullptr; });
  const auto* entry = std::get_if<EdgeBook::Entry>(&measured);
  if (entry == nullptr || !edges_->fits(id, model, *entry, {})) return false;
  const auto producers = direct_producers(problem(), id, *entry);
  return std::all_of(producers.begin(), producers.end(), [&](const auto& producer) {
    return edges_->fits(producer.first, placed(producer.first).model, edges_->entry(producer.first), producer.second);
  });
}

bool PolicyContext::may_stand(OpId id, const OpModel& model) const { return !objection_of_epoch(id) && fits_in(epoch_, id, model); }

// In the epoch after the present one, if it were the first op there.
bool PolicyContext::may_stand_alone(OpId id, const OpModel& model) const {
  return place_rule(id).fits(model.grid, device().grid()) && fits_in(epoch_ + 1, id, model);
}

std::optional<Diagnostic> PolicyContext::objection(OpId id, const OpModel& model) const {
  if (auto d = objection_of_epoch(id)) return d;
  const OpSpec& spec = op(id);
  auto lookup = [this](OpId other) { return is_placed(other) ? &placed(other) : nullptr; };
  auto measured = edges_->measure(id, model, epoch_, lookup);
  if (auto* complaint = std::get_if<EdgeBook::Complaint>(&measured)) return edges_->explain(id, model, *complaint);
  const auto& entry = std::get<EdgeBook::Entry>(measured);
  auto own = judge(spec, with_model(spec, model), edges_->links(id, model, entry, {}), device(), "");
  if (auto* d = std::get_if<Diagnostic>(&own)) return std::move(*d);
  for (const auto& [producer, uses] : direct_producers(problem(), id, entry)) {
    const OpModel& theirs = placed(producer).model;
    auto links = edges_->links(producer, theirs, edges_->entry(producer), uses);
    auto verdict = judge(op(producer), with_model(op(producer), theirs), links, device(), "");
    if (auto* d = std::get_if<Diagnostic>(&verdict)) {
      d->notes.push_back({{}, cat("with op '", spec.label, "' (", model.text(), ") as one more reader in the same epoch")});
      return std::move(*d);
    }
  }
  return std::nullopt;
}

void PolicyContext::put(OpId id, const OpModel& model, const Place& place) {
  if (placements_left_->fetch_sub(1) <= 0)
    throw std::runtime_error(cat("it placed ops ", placement_budget(*space_), " times, which is its budget at effort ", effort(),
                                 "; placements_left() tells what remains"));
  auto lookup = [this](OpId other) { return is_placed(other) ? &placed(other) : nullptr; };
  auto measured = edges_->measure(id, model, epoch_, lookup);
  if (auto* entry = std::get_if<EdgeBook::Entry>(&measured)) edges_->enter(id, std::move(*entry));
  placer_.take(Placer::rect_of(model.grid, place));
  placed_[id.index()] = PlacedOp{model, epoch_, place};
  in_epoch_.push_back(id);
  history_.push_back(id);
}

bool PolicyContext::place(OpId id, const OpModel& model) {
  auto spot = placer_.find(model.grid, place_rule(id));
  if (!spot || !may_stand(id, model)) return false;
  put(id, model, *spot);
  return true;
}

bool PolicyContext::place_at(OpId id, const OpModel& model, Place place) {
  if (!place_rule(id).allows(place) || !placer_.is_free(Placer::rect_of(model.grid, place)) || !may_stand(id, model)) return false;
  put(id, model, place);
  return true;
}

bool PolicyContext::place_preferred(OpId id, const Preference& preferred, const Preference& worth_an_epoch) {
  auto all = models(id);
  const std::vector<std::size_t> order = by_preference(all, preferred);
  std::size_t unasked = 0;  // the first in `order` of which it is not known that it cannot stand alone, either
  for (std::size_t i = 0; i < order.size(); ++i) {
    const OpModel& model = all[order[i]];
    for (; worth_an_epoch && !in_epoch_.empty() && unasked < i && worth_an_epoch(all[order[unasked]], model); ++unasked)
      if (may_stand_alone(id, all[order[unasked]])) return false;
    if (place(id, model)) return true;
  }
  return false;
}

Result<void> PolicyContext::place_best(OpId id, const Preference& preferred, const Preference& worth_an_epoch) {
  if (place_preferred(id, preferred, worth_an_epoch)) return success();
  if (!in_epoch_.empty()) {
    next_epoch();
    if (place_preferred(id, preferred, worth_an_epoch)) return success();
  }
  // The whole chip is free: what is left are objections, and that to the first choice says most.
  auto all = models(id);
  const OpModel& first = all[by_preference(all, preferred).front()];
  auto why = objection(id, first);
  Diagnostic d = why ? std::move(*why) : objection_to(op(id), cat(first.text(), " does not fit on the chip"));
  d.code = "BL014";
  d.message = cat("op '", op(id).label, "': none of its ", all.size(),
                  " implementations fits in an epoch of its own; the preferred one: ", d.message);
  if (op(id).selection) d.data.emplace_back(kPicksRows, "true");
  return d;
}

void PolicyContext::next_epoch() {
  if (in_epoch_.empty()) return;
  ++epoch_;
  in_epoch_.clear();
  placer_.clear();
}

void PolicyContext::rewind(OpId id) {
  auto from = std::find(history_.begin(), history_.end(), id);
  if (from == history_.end()) return;
  for (auto it = from; it != history_.end(); ++it) {
    placed_[it->index()].reset();
    edges_->forget(*it);
  }
  history_.erase(from, history_.end());
  epoch_ = history_.empty() ? 0 : placed(history_.back()).epoch;
  in_epoch_.clear();
  placer_.clear();
  for (OpId other : history_) {
    if (placed(other).epoch != epoch_) continue;
    in_epoch_.push_back(other);
    placer_.take(Placer::rect_of(placed(other).model.grid, placed(other).place));
  }
}

Result<Choice> PolicyContext::choice() const {
  Choice out;
  for (OpId id : schedule_) {
    if (!is_placed(id)) {
      Diagnostic d = internal_error(cat("left op '", op(id).label, "' unplaced"));  // balance() says which policy
      d.code = kIllegalChoice;
      d.node = op(id).node_name;
      return d;
    }
    out.ops.push_back(placed(id));
  }
  return out;
}

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
