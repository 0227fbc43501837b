// SPDX-License-Identifier: Apache-2.0
// The books of a placement: places, edges, and what may stand next.
#include <buda/balance/policy/placement.hpp>

#include <buda/balance/policy/check_choice.hpp>
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
std::vector<std::size_t> by_preference(std::span<const OpModel> models, const Placement::Preference& preferred) {
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

Placement::Placement(const ChoiceSpace& space)
    : space_(&space),
      placed_(space.problem->ops.size()),
      placer_(space.device().grid()),
      edges_(std::make_unique<EdgeBook>(*space.problem, space.kinds)),
      placements_left_(std::make_shared<std::atomic<std::int64_t>>(placement_budget(space))) {
  for (std::size_t i = 0; i < placed_.size(); ++i) schedule_.push_back(OpId(static_cast<std::uint32_t>(i)));
}

Placement::Placement(const Placement& other)
    : space_(other.space_),
      schedule_(other.schedule_),
      placed_(other.placed_),
      history_(other.history_),
      in_epoch_(other.in_epoch_),
      epoch_(other.epoch_),
      placer_(other.placer_),
      edges_(std::make_unique<EdgeBook>(*other.edges_)),
      placements_left_(other.placements_left_) {}

Placement& Placement::operator=(const Placement& other) { return *this = Placement(other); }

Placement::Placement(Placement&&) noexcept = default;
Placement& Placement::operator=(Placement&&) noexcept = default;
Placement::~Placement() = default;

// Breaks that the user wants, and ops that are placed already.
std::optional<Diagnostic> Placement::objection_of_epoch(OpId id) const {
  const OpSpec& spec = space_->op(id);
  if (is_placed(id)) return objection_to(spec, "it is placed already");
  const std::int32_t segment = history_.empty() ? 0 : space_->op(history_.back()).segment;
  if (spec.segment < segment || (spec.segment > segment && !in_epoch_.empty()))
    return objection_to(spec, cat("it is in segment ", spec.segment, " of the device, and the current epoch in segment ", segment));
  if (space_->overrides[id.index()].epoch_break == true && !in_epoch_.empty())
    return objection_to(spec, "it must begin an epoch, and the current one already has ops");
  for (OpId other : in_epoch_)
    if (space_->overrides[other.index()].epoch_break == true && id < other)
      return objection_to(spec, cat("op '", space_->op(other).label, "', a later op, must begin this epoch"));
  return std::nullopt;
}

// Whether op and producers have what they need of their cores if the op is in this epoch.
bool Placement::fits_in(std::int32_t epoch, OpId id, const OpModel& model) const {
  const auto measured = edges_->measure(id, model, epoch, [this](OpId other) { return is_placed(other) ? &placed(other) : nullptr; });
  const auto* entry = std::get_if<EdgeBook::Entry>(&measured);
  if (entry == nullptr || !edges_->fits(id, model, *entry, {})) return false;
  const auto producers = direct_producers(*space_->problem, id, *entry);
  return std::all_of(producers.begin(), producers.end(), [&](const auto& producer) {
    return edges_->fits(producer.first, placed(producer.first).model, edges_->entry(producer.first), producer.second);
  });
}

bool Placement::may_stand(OpId id, const OpModel& model) const { return !objection_of_epoch(id) && fits_in(epoch_, id, model); }

std::optional<Diagnostic> Placement::objection(OpId id, const OpModel& model) const {
  if (auto d = objection_of_epoch(id)) return d;
  const OpSpec& spec = space_->op(id);
  auto lookup = [this](OpId other) { return is_placed(other) ? &placed(other) : nullptr; };
  auto measured = edges_->measure(id, model, epoch_, lookup);
  if (auto* complaint = std::get_if<EdgeBook::Complaint>(&measured)) return edges_->explain(id, model, *complaint);
  const auto& entry = std::get<EdgeBook::Entry>(measured);
  auto own = judge(spec, with_model(spec, model), edges_->links(id, model, entry, {}), space_->device(), "");
  if (auto* d = std::get_if<Diagnostic>(&own)) return std::move(*d);
  for (const auto& [producer, uses] : direct_producers(*space_->problem, id, entry)) {
    const OpModel& theirs = placed(producer).model;
    auto links = edges_->links(producer, theirs, edges_->entry(producer), uses);
    auto verdict = judge(space_->op(producer), with_model(space_->op(producer), theirs), links, space_->device(), "");
    if (auto* d = std::get_if<Diagnostic>(&verdict)) {
      d->notes.push_back({{}, cat("with op '", spec.label, "' (", model.text(), ") as one more reader in the same epoch")});
      return std::move(*d);
    }
  }
  return std::nullopt;
}

void Placement::put(OpId id, const OpModel& model, const Place& place) {
  if (placements_left_->fetch_sub(1) <= 0)
    throw std::runtime_error(cat("it placed ops ", placement_budget(*space_), " times, which is its budget at effort ", space_->effort,
                                 "; placements_left() tells what remains"));
  auto lookup = [this](OpId other) { return is_placed(other) ? &placed(other) : nullptr; };
  auto measured = edges_->measure(id, model, epoch_, lookup);
  if (auto* entry = std::get_if<EdgeBook::Entry>(&measured)) edges_->enter(id, std::move(*entry));
  placer_.take(Placer::rect_of(model.grid, place));
  placed_[id.index()] = PlacedOp{model, epoch_, place};
  in_epoch_.push_back(id);
  history_.push_back(id);
}

bool Placement::place(OpId id, const OpModel& model) {
  auto spot = placer_.find(model.grid, space_->place_rule(id));
  if (!spot || !may_stand(id, model)) return false;
  put(id, model, *spot);
  return true;
}

bool Placement::place_at(OpId id, const OpModel& model, Place place) {
  if (!space_->place_rule(id).allows(place) || !placer_.is_free(Placer::rect_of(model.grid, place)) || !may_stand(id, model)) return false;
  put(id, model, place);
  return true;
}

bool Placement::place_preferred(OpId id, const Preference& preferred, const Preference& worth_an_epoch) {
  auto all = space_->models_of(id);
  const std::vector<std::size_t> order = by_preference(all, preferred);
  // In the epoch after the present one, if it were the first op there.
  const auto may_stand_alone = [&](const OpModel& model) {
    return space_->place_rule(id).fits(model.grid, space_->device().grid()) && fits_in(epoch_ + 1, id, model);
  };
  std::size_t unasked = 0;  // the first in `order` of which it is not known that it cannot stand alone, either
  for (std::size_t i = 0; i < order.size(); ++i) {
    const OpModel& model = all[order[i]];
    for (; worth_an_epoch && !in_epoch_.empty() && unasked < i && worth_an_epoch(all[order[unasked]], model); ++unasked)
      if (may_stand_alone(all[order[unasked]])) return false;
    if (place(id, model)) return true;
  }
  return false;
}

Result<void> Placement::place_best(OpId id, const Preference& preferred, const Preference& worth_an_epoch) {
  if (place_preferred(id, preferred, worth_an_epoch)) return success();
  if (!in_epoch_.empty()) {
    next_epoch();
    if (place_preferred(id, preferred, worth_an_epoch)) return success();
  }
  // The whole chip is free: what is left are objections, and that to the first choice says most.
  auto all = space_->models_of(id);
  const OpModel& first = all[by_preference(all, preferred).front()];
  auto why = objection(id, first);
  Diagnostic d = why ? std::move(*why) : objection_to(space_->op(id), cat(first.text(), " does not fit on the chip"));
  d.code = "BL014";
  d.message = cat("op '", space_->op(id).label, "': none of its ", all.size(),
                  " implementations fits in an epoch of its own; the preferred one: ", d.message);
  if (space_->op(id).selection) d.data.emplace_back(kPicksRows, "true");
  return d;
}

void Placement::next_epoch() {
  if (in_epoch_.empty()) return;
  ++epoch_;
  in_epoch_.clear();
  placer_.clear();
}

void Placement::rewind(OpId id) {
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

Result<Choice> Placement::choice() const {
  Choice out;
  for (OpId id : schedule_) {
    if (!is_placed(id)) {
      Diagnostic d = internal_error(cat("left op '", space_->op(id).label, "' unplaced"));  // balance() says which policy
      d.code = kIllegalChoice;
      d.node = space_->op(id).node_name;
      return d;
    }
    out.ops.push_back(placed(id));
  }
  return out;
}

}  // namespace buda::balance
