// SPDX-License-Identifier: Apache-2.0
// Rounds of trials, in each of which every epoch tries some of its ops.
#include <buda/balance/sums/wider_sums.hpp>

#include <buda/balance/legalize/make_space.hpp>
#include <buda/balance/policy/check_choice.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace buda::balance {
namespace {

// What an epoch, and the whole model, may take longer.
constexpr double kBorneSlowdown = 1.005;
// How many bottlenecks of epochs are tried, as far as the whole plan stays within its limit.
constexpr std::size_t kMaxBottlenecks = 16;
// Choices of all ops anew, each with wide sums for half of the ops of the one before.
constexpr int kFurtherChoices = 2;
constexpr int kMaxRounds = 24;

// In a destination register of Float32, with partial sums in a format.
struct WideModel {
  OpModel model;
  DataFormat partial = DataFormat::float32;
};

struct Candidate {
  std::size_t op = 0;
  std::vector<WideModel> models;  // in the order in which they are tried
  std::size_t tried = 0;
};

double total(const std::vector<double>& epochs) { return std::accumulate(epochs.begin(), epochs.end(), 0.0); }

bool adds_in_l1(const ChoiceSpace& space) { return space.options.l1_accumulate && space.problem->device->features.l1_accumulate; }

bool may_widen(const ChoiceSpace& space, std::size_t op) {
  const OpSpec& spec = space.problem->ops[op];
  return spec.sum_roundings > 0 && spec.op.acc_format != DataFormat::float32 && !space.overrides[op].wide_sums;
}

// Ops that add up in 16 bits and need not, those that round most first.
std::vector<std::size_t> narrow_ops(const ChoiceSpace& space) {
  const std::vector<OpSpec>& ops = space.problem->ops;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (may_widen(space, i)) out.push_back(i);
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return ops[a].sum_roundings > ops[b].sum_roundings; });
  return out;
}

// In how much a model differs from another but for its blocks, which are smaller in Float32.
int differences(const OpModel& a, const OpModel& b) {
  return (a.u_kt != b.u_kt ? 1 : 0) + (a.resident != b.resident ? 1 : 0) + (a.buf_size_mb != b.buf_size_mb ? 1 : 0) +
         (a.held_inputs != b.held_inputs ? 1 : 0);
}

// Models of a widened op that stand where it stands now, and take at most so many cycles: of each format of partial sums the one that
// differs least, and the fastest one beside it.
std::vector<WideModel> models_in_place(const ChoiceSpace& space, std::size_t op, const OpModel& now, double most) {
  OpOverride wanted = space.overrides[op];
  wanted.grid = now.grid;
  wanted.stream = now.stream;
  wanted.stream_direction.reset();
  const OpSpec& spec = space.problem->ops[op];
  std::vector<WideModel> out;
  for (const DataFormat partial : {DataFormat::float32, spec.op.intermed_format}) {
    OpSpec widened = spec;
    widen_sums(widened, partial, adds_in_l1(space));
    std::vector<OpModel> models = legal_models(widened, *space.problem->device, space.options, &wanted).models;
    std::erase_if(
        models, [&](const OpModel& m) { return m.grid != now.grid || m.stream != now.stream || m.bands != now.bands || m.cycles > most; });
    const auto nearest = std::min_element(models.begin(), models.end(), [&](const OpModel& a, const OpModel& b) {
      return std::pair(differences(a, now), a.cycles) < std::pair(differences(b, now), b.cycles);
    });
    if (nearest == models.end()) continue;
    const auto fastest =
        std::min_element(models.begin(), models.end(), [](const OpModel& a, const OpModel& b) { return a.cycles < b.cycles; });
    out.push_back({*nearest, partial});
    if (fastest != nearest) out.push_back({*fastest, partial});
  }
  return out;
}

class Widening {
 public:
  Widening(const ChoiceSpace& space, const Choice& choice, const EstimateOf& estimate)
      : given_(space), choice_(choice), estimate_(estimate), epochs_(static_cast<std::size_t>(choice.epochs())) {}

  // The candidates of each epoch, those that round most first. `cycles`: of the epochs as they are.
  void find_candidates(const std::vector<double>& cycles, unsigned threads) {
    const Problem& problem = *given_.problem;
    const std::vector<std::size_t> ops = narrow_ops(given_);
    for (std::size_t e = 0; e < epochs_.size() && e < cycles.size(); ++e) epochs_[e].most = cycles[e] * kBorneSlowdown;
    std::vector<Candidate> found(ops.size());
    parallel_for(threads, ops.size(), [&](std::size_t k) {
      const PlacedOp& now = choice_.ops[ops[k]];
      const double most =
          epochs_[static_cast<std::size_t>(now.epoch)].most / std::max(inputs_of_op(problem, OpId(static_cast<std::uint32_t>(ops[k]))), 1);
      found[k] = {ops[k], models_in_place(given_, ops[k], now.model, most), 0};
    });
    for (Candidate& candidate : found) {
      if (candidate.models.empty()) continue;
      Epoch& epoch = epoch_of(candidate.op);
      candidates_.push_back(std::move(candidate));
      epoch.proposed.push_back(candidates_.size() - 1);
    }
    for (Epoch& epoch : epochs_)
      if (!epoch.proposed.empty()) epoch.waiting.push_back(std::exchange(epoch.proposed, {}));
  }

  // `before`: cycles of the epochs as they are.
  std::optional<WidenedPlan> run(const std::vector<double>& before, unsigned threads) {
    find_candidates(before, threads);
    for (int round = 0; round < kMaxRounds && propose(); ++round) decide();
    widen_bottlenecks(total(before) * kBorneSlowdown);
    WidenedPlan plan = plan_of(accepted());
    const auto after = estimate_(*plan.problem, plan.choice);
    if (accepted().empty() || !after || total(*after) > total(before) * kBorneSlowdown) return std::nullopt;
    plan.cycles = total(*after);
    return plan;
  }

 private:
  using Ops = std::vector<std::size_t>;  // of candidates_
  struct Epoch {
    double most = 0;  // cycles
    Ops accepted, proposed;
    std::vector<Ops> waiting;  // the last one comes first
  };

  // Whether any epoch has something to try.
  bool propose() {
    bool any = false;
    for (Epoch& epoch : epochs_) {
      if (epoch.waiting.empty()) continue;
      epoch.proposed = std::move(epoch.waiting.back());
      epoch.waiting.pop_back();
      any = true;
    }
    return any;
  }

  void decide() {
    if (!is_legal(proposals()))
      for (Epoch& epoch : epochs_)
        if (!epoch.proposed.empty() && !is_legal(with(epoch))) reject(epoch);
    const WidenedPlan plan = plan_of(proposals());
    const auto cycles = estimate_(*plan.problem, plan.choice);
    for (std::size_t e = 0; e < epochs_.size(); ++e) {
      Epoch& epoch = epochs_[e];
      if (epoch.proposed.empty()) continue;
      if (!cycles || e >= cycles->size() || (*cycles)[e] > epoch.most) {
        reject(epoch);
      } else {
        epoch.accepted.insert(epoch.accepted.end(), epoch.proposed.begin(), epoch.proposed.end());
        epoch.proposed.clear();
      }
    }
  }

  void reject(Epoch& epoch) {
    const Ops tried = std::exchange(epoch.proposed, {});
    if (tried.size() < 2) {
      Candidate& only = candidates_[tried.front()];
      if (++only.tried < only.models.size()) epoch.waiting.push_back(tried);
      return;
    }
    const auto middle = tried.begin() + static_cast<std::ptrdiff_t>((tried.size() + 1) / 2);
    epoch.waiting.emplace_back(middle, tried.end());
    epoch.waiting.emplace_back(tried.begin(), middle);
  }

  // Ops that are still narrow, those that round most first, as far as all epochs take at most so many cycles: an epoch that takes some
  // per cent longer is little of the whole, and the one sum may lose more than all others together.
  void widen_bottlenecks(double most) {
    std::vector<std::size_t> narrow = narrow_ops(given_);
    std::erase_if(narrow, [&](std::size_t op) {
      const Epoch& epoch = epoch_of(op);
      return std::any_of(epoch.accepted.begin(), epoch.accepted.end(), [&](std::size_t c) { return candidates_[c].op == op; });
    });
    narrow.resize(std::min(narrow.size(), kMaxBottlenecks));
    for (std::size_t op : narrow) {
      candidates_.push_back({op, models_in_place(given_, op, choice_.ops[op].model, most), 0});
      Candidate& candidate = candidates_.back();
      Epoch& epoch = epoch_of(op);
      epoch.accepted.push_back(candidates_.size() - 1);
      while (candidate.tried < candidate.models.size() && !takes_at_most(most)) ++candidate.tried;
      if (candidate.tried == candidate.models.size()) epoch.accepted.pop_back();
    }
  }

  bool takes_at_most(double most) const {
    if (!is_legal(accepted())) return false;
    const WidenedPlan plan = plan_of(accepted());
    const auto cycles = estimate_(*plan.problem, plan.choice);
    return cycles && total(*cycles) <= most;
  }

  const Epoch& epoch_of(std::size_t op) const { return epochs_[static_cast<std::size_t>(choice_.ops[op].epoch)]; }
  Epoch& epoch_of(std::size_t op) { return epochs_[static_cast<std::size_t>(choice_.ops[op].epoch)]; }

  Ops accepted() const {
    Ops out;
    for (const Epoch& epoch : epochs_) out.insert(out.end(), epoch.accepted.begin(), epoch.accepted.end());
    return out;
  }

  Ops proposals() const {
    Ops out = accepted();
    for (const Epoch& epoch : epochs_) out.insert(out.end(), epoch.proposed.begin(), epoch.proposed.end());
    return out;
  }

  Ops with(const Epoch& epoch) const {
    Ops out = accepted();
    out.insert(out.end(), epoch.proposed.begin(), epoch.proposed.end());
    return out;
  }

  WidenedPlan plan_of(const Ops& widened) const {
    Problem problem = *given_.problem;
    Choice choice = choice_;
    for (std::size_t c : widened) {
      const Candidate& candidate = candidates_[c];
      const WideModel& wide = candidate.models[candidate.tried];
      widen_sums(problem.ops[candidate.op], wide.partial, adds_in_l1(given_));
      choice.ops[candidate.op].model = wide.model;
    }
    return {std::make_shared<const Problem>(std::move(problem)), std::move(choice), 0};
  }

  bool is_legal(const Ops& widened) const {
    const WidenedPlan plan = plan_of(widened);
    ChoiceSpace space;
    space.problem = plan.problem;
    space.overrides = given_.overrides;
    space.options = given_.options;
    space.models.resize(plan.problem->ops.size());
    for (std::size_t i = 0; i < space.models.size(); ++i) space.models[i].models = {plan.choice.ops[i].model};
    return check_choice(space, plan.choice).empty();
  }

  const ChoiceSpace& given_;
  const Choice& choice_;
  const EstimateOf& estimate_;
  std::vector<Candidate> candidates_;
  std::vector<Epoch> epochs_;
};

std::optional<WidenedPlan> in_place(const ChoiceSpace& space, const Choice& choice, const EstimateOf& estimate, unsigned threads) {
  const auto before = estimate(*space.problem, choice);
  if (!before) return std::nullopt;
  if (auto plan = Widening(space, choice, estimate).run(*before, threads)) return plan;
  return WidenedPlan{space.problem, choice, total(*before)};
}

// A plan whose ops are chosen anew, these ones with wide sums.
std::optional<WidenedPlan> chosen_with(const ChoiceSpace& space, const std::vector<std::size_t>& wide, const EstimateOf& estimate,
                                       const Choose& choose, unsigned threads) {
  Problem problem = *space.problem;
  for (std::size_t i : wide) widen_sums(problem.ops[i], problem.ops[i].op.intermed_format, adds_in_l1(space));
  const auto others = space_with(space, std::move(problem), wide, threads);
  if (!others) return std::nullopt;
  const auto choice = choose(*others);
  return choice ? in_place(*others, *choice, estimate, threads) : std::nullopt;
}

// Ops of a plan that still add up in 16 bits.
std::vector<std::size_t> narrow_ops_of(const ChoiceSpace& space, const WidenedPlan& plan) {
  std::vector<std::size_t> out = narrow_ops(space);
  std::erase_if(out, [&](std::size_t op) { return plan.problem->ops[op].op.acc_format == DataFormat::float32; });
  return out;
}

// How often a plan rounds in sums of 16 bits, over all ops.
std::int64_t roundings(const ChoiceSpace& space, const WidenedPlan& plan) {
  std::int64_t out = 0;
  for (std::size_t op : narrow_ops_of(space, plan)) out += space.problem->ops[op].sum_roundings;
  return out;
}

}  // namespace

std::optional<WidenedPlan> with_wider_sums(const ChoiceSpace& space, const Choice& choice, const EstimateOf& estimate, const Choose& choose,
                                           unsigned threads) {
  if (narrow_ops(space).empty()) return std::nullopt;
  const auto before = estimate(*space.problem, choice);
  auto out = in_place(space, choice, estimate, threads);
  if (!before || !out) return std::nullopt;
  std::vector<std::size_t> left = narrow_ops_of(space, *out);
  for (int further = 0; further < kFurtherChoices && !left.empty(); ++further) {
    auto other = chosen_with(space, left, estimate, choose, threads);
    if (other && other->cycles <= total(*before) * kBorneSlowdown) return roundings(space, *other) < roundings(space, *out) ? other : out;
    left.resize(left.size() / 2);
  }
  return out;
}

}  // namespace buda::balance
