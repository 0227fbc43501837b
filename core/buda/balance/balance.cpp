// The steps of balancing in their order.
#include <buda/balance/balance.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/chips/crossings.hpp>
#include <buda/balance/chips/forwarded_values.hpp>
#include <buda/balance/chips/given_chips.hpp>
#include <buda/balance/emit/forked_inputs.hpp>
#include <buda/balance/emit/report_bounds.hpp>
#include <buda/balance/legalize/choice_space.hpp>
#include <buda/balance/legalize/restrictions.hpp>
#include <buda/balance/problem/constraints.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/balance/problem/segment_order.hpp>
#include <buda/balance/problem/sum_roundings.hpp>
#include <buda/balance/queues/queue_places.hpp>
#include <buda/balance/sums/wider_sums.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/network.hpp>
#include <buda/device/cluster.hpp>
#include <buda/graph/constraint_tags.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace buda::balance {
namespace {

// The options, and the links that they name: estimates are made side by side, and read no files.
struct Settings : BalanceOptions {
  device::Cluster links;
};

Result<Settings> settings_for(const BalanceOptions& options, const device::DeviceDescriptor& device, Host& host) {
  Settings out{options, {}};
  if (device.chips > 1 || !options.cluster.empty()) {
    BUDA_ASSIGN(out.links, device::load_cluster(host, device, options.cluster));
  }
  return out;
}

// With more effort, ops are placed in another order as well, with this one.
constexpr std::int32_t kUsualEffort = 1;

// Execution order, segment by segment, with the order constraints of the user.
Result<std::vector<graph::NodeId>> make_schedule(const graph::Graph& graph, SchedulePolicy policy) {
  BUDA_ASSIGN(auto waits_for, ops_to_wait_for(graph));
  std::vector<graph::NodeId> order = schedule(graph, policy, waits_for);
  order_by_segment(graph, order);
  BUDA_TRY(check_orders(graph, order, waits_for));
  return order;
}

Result<BuiltNetlist> build(Problem& problem, const Choice& choice, const Settings& options, Host& host, const DirectEpochs& direct = {}) {
  BUDA_ASSIGN(QueueSet queues, make_queues(problem, choice, options.queues, direct));
  BUDA_ASSIGN(BuiltNetlist built, build_netlist(problem, choice, std::move(queues), options.queues));
  if (options.forked_inputs) fork_dram_inputs(built.netlist, built.queues);
  BUDA_ASSIGN(built.laid_out, lay_out_with_room(built.netlist, *problem.device, options.links, host));
  return built;
}

// What the report would say of a choice. The names that its netlist takes are those of a copy of the problem.
Result<PlacementReport> estimated_report(Problem problem, const Choice& choice, const Settings& options, Host& host) {
  BUDA_ASSIGN(const BuiltNetlist built, build(problem, choice, options, host));
  return make_report(problem, choice, built, std::vector<std::int64_t>(problem.ops.size(), 0), "");
}

// Where the model does not fit on one chip, and its ops are not shared out yet, by the slowest op of each epoch.
Result<PlacementReport> report_on_all_chips(const Problem& problem, Choice choice, const Settings& options, Host& host) {
  std::vector<EpochTime> times(static_cast<std::size_t>(choice.epochs()));
  for (const PlacedOp& op : choice.ops) {
    EpochTime& time = times[static_cast<std::size_t>(op.epoch)];
    time.first = time.interval = std::max(time.interval, op.model.cycles);
  }
  choice.chips = best_stages(staged_epochs(problem, choice, std::move(times)));
  return estimated_report(problem, choice, options, host);
}

// What the report would say of the epochs of a choice.
Result<PlacementReport> report_of_choice(const Problem& problem, Choice choice, const Settings& options, Host& host) {
  choice.chips = chips_of_ops(problem, choice);
  auto report = estimated_report(problem, choice, options, host);
  if (report || problem.chips.size() == 1 || !choice.chips.empty()) return report;
  auto on_all = report_on_all_chips(problem, std::move(choice), options, host);
  return on_all ? std::move(on_all) : std::move(report);
}

// Cycles of all epochs.
std::optional<std::vector<double>> estimated_cycles(const Problem& problem, const Choice& choice, const Settings& options, Host& host) {
  const auto report = report_of_choice(problem, choice, options, host);
  if (!report) return std::nullopt;
  std::vector<double> out;
  for (const ReportEpoch& epoch : report->epochs) out.push_back(static_cast<double>(epoch.cycles));
  return out;
}

Result<Choice> choose(const ChoiceSpace& space, Policy& policy, const std::string& name, std::uint64_t seed,
                      PolicyContext::Estimate estimate, unsigned threads, const QueueOptions& queues) {
  PolicyContext context(space, seed, std::move(estimate), threads, [&] { return lower_bound_of(space, queues); });
  auto chosen = policy.choose(context);
  if (!chosen) {
    for (Diagnostic& d : chosen.failure().diagnostics())
      if (d.code == kIllegalChoice) d.message = cat("policy '", name, "' ", d.message);
    return chosen;
  }
  Choice choice = std::move(*chosen);
  auto findings = check_choice(space, choice);
  if (findings.empty()) return choice;
  for (Diagnostic& d : findings) {
    d.code = kIllegalChoice;
    d.fault = Fault::bug;
    d.message = cat("policy '", name, "' made an illegal choice: ", d.message);
  }
  return Failure(std::move(findings));
}

// Of an epoch beyond its estimate, when stages are cut: programs and parameters are loaded, and pipelines fill. ResNet-50 on target grid
// takes 90,000 to 440,000, most of its epochs 200,000.
constexpr double kEpochStartCycles = 200'000;

// Sums in Float32 where that costs next to nothing. Models are those of the ops as they were, which are never slower.
void widen_plan(Policy& policy, const std::string& policy_name, const Settings& options, Host& host, const ChoiceSpace& space,
                Balanced& out) {
  host.progress("widening sums", 0, 0);
  const EstimateOf estimate = [&](const Problem& problem, const Choice& choice) {
    return estimated_cycles(problem, choice, options, host);
  };
  const Choose choose_again = [&](const ChoiceSpace& other) -> std::optional<Choice> {
    auto cycles = [&](const Choice& choice) { return estimate(*other.problem, choice); };
    auto chosen = choose(other, policy, policy_name, host.seed, cycles, host.threads, options.queues);
    return chosen ? std::optional(std::move(*chosen)) : std::nullopt;
  };
  auto widened = with_wider_sums(space, out.choice, estimate, choose_again, host.threads);
  if (!widened) return;
  out.problem = std::move(widened->problem);
  out.choice = std::move(widened->choice);
  const auto is_wide = [](const OpSpec& op) { return op.sum_roundings > 0 && op.op.acc_format == DataFormat::float32; };
  host.log(1, cat("ops that add up in Float32 since that costs next to nothing: ",
                  std::count_if(out.problem.ops.begin(), out.problem.ops.end(), is_wide)));
}

Result<Problem> rounding_problem(const graph::Graph& graph, const std::vector<graph::NodeId>& order, const device::DeviceDescriptor& device,
                                 std::int32_t batches) {
  BUDA_ASSIGN(Problem problem, make_problem(graph, order, device, batches));
  note_roundings(graph, problem);
  return problem;
}

// The policy's choice for a problem, whose models are given out.
Result<ChoiceSpace> choose_plan(const graph::Graph* graph, Policy& policy, const std::string& policy_name, const Settings& options,
                                Host& host, Balanced& out) {
  out.problem.dynamic_queues = options.dynamic_queues;
  BUDA_ASSIGN(out.problem.chips, chips_in_order(options.chips, *out.problem.device));
  if (graph == nullptr && out.problem.chips.size() > 1)
    return usage_error("BL050",
                       "the ops of a netlist are placed on one chip: --from-netlist goes with neither --num-chips nor several --chip-ids");
  ModelOptions model_options = options.models;
  model_options.inputs_per_epoch = out.problem.microbatch;
  model_options.stream_all = policy.streams_all();
  if (model_options.l1_accumulate) allow_l1_accumulation(out.problem);
  const Tries works = [&](const Problem& tried, const ChoiceSpace& space) {
    Problem problem = tried;
    const auto choice = choose(space, policy, policy_name, host.seed, {}, host.threads, options.queues);
    return choice.ok() && build(problem, *choice, options, host).ok();
  };
  host.progress("enumerating implementations", 0, 0);
  BUDA_ASSIGN(ChoiceSpace space, make_space(graph, out.problem, {model_options, options.overrides, options.self_cut}, works, host));
  space.effort = options.effort;
  // Policies estimate side by side.
  std::mutex telling;
  std::size_t estimates = 0;
  auto estimate = [&](const Choice& choice) {
    auto cycles = estimated_cycles(out.problem, choice, options, host);
    const std::lock_guard lock(telling);
    host.progress("comparing placements", ++estimates, 0);
    return cycles;
  };
  host.progress("placing", 0, 0);
  BUDA_ASSIGN(out.choice, choose(space, policy, policy_name, host.seed, estimate, host.threads, options.queues));
  if (options.wide_sums) widen_plan(policy, policy_name, options, host, space, out);
  out.choice.chips = chips_of_ops(out.problem, out.choice);
  return space;
}

// What of a plan depends on which epochs take from other chips directly.
struct BuiltPlan {
  Problem problem;
  BuiltNetlist built;
  PlacementReport report;
};

class PlanBuilder {
 public:
  PlanBuilder(const ChoiceSpace& space, const std::string& policy_name, const Settings& options, const Balanced& out, Host& host)
      : policy_name_(policy_name), options_(options), problem_(out.problem), choice_(out.choice), host_(host) {
    for (const auto& models : space.models) candidates_.push_back(static_cast<std::int64_t>(models.models.size()));
  }

  Result<BuiltPlan> with(const DirectEpochs& direct) const {
    BuiltPlan out{problem_, {}, {}};
    BUDA_ASSIGN(out.built, build(out.problem, choice_, options_, host_, direct));
    out.report = make_report(out.problem, choice_, out.built, candidates_, policy_name_);
    return out;
  }

  // Epochs take from other chips directly unless such a plan does not fit, or is slower than one with queues. First all do, then, where
  // that is not the best, one after the other.
  Result<BuiltPlan> best() const {
    BUDA_ASSIGN(BuiltPlan out, with({}));
    const DirectEpochs possible = possibly_direct(problem_, choice_);
    if (possible.empty()) return out;
    DirectEpochs direct;
    std::map<std::int32_t, std::string> queued;
    if (!try_direct(possible, out)) {
      direct = possible;
    } else {
      for (std::int32_t epoch : possible) {
        direct.insert(epoch);
        const auto why = try_direct(direct, out);
        if (!why) continue;
        direct.erase(epoch);
        queued[epoch] = *why;
      }
    }
    for (std::int32_t epoch : direct) out.report.epochs[static_cast<std::size_t>(epoch)].between_chips = "direct";
    for (const auto& [epoch, why] : queued) out.report.epochs[static_cast<std::size_t>(epoch)].between_chips = cat("queues: ", why);
    return out;
  }

 private:
  // Puts the plan with these epochs in the place of the best one so far if it is as good; otherwise says why it is not. The estimate knows
  // the way from core to core, but not how word of a new entry comes from a queue to its reader: a latency for each crossing.
  std::optional<std::string> try_direct(const DirectEpochs& direct, BuiltPlan& best) const {
    auto made = with(direct);
    if (!made) return made.failure().diagnostics().front().message;
    const std::int64_t cycles = made->report.totals.cycles;
    if (static_cast<double>(cycles - best.report.totals.cycles) > cost::kLatencyCycles * static_cast<double>(direct.size()))
      return cat("without them the plan takes ", cycles - best.report.totals.cycles, " cycles more");
    best = std::move(*made);
    return std::nullopt;
  }

  const std::string& policy_name_;
  const Settings& options_;
  const Problem& problem_;
  const Choice& choice_;
  Host& host_;
  std::vector<std::int64_t> candidates_;
};

// From the choice to the netlist and its report.
Result<void> build_plan_of(const ChoiceSpace& space, const std::string& policy_name, const Settings& options, Host& host, Balanced& out) {
  host.progress("building the netlist", 0, 0);
  BUDA_ASSIGN(BuiltPlan plan, PlanBuilder(space, policy_name, options, out, host).best());
  out.problem = std::move(plan.problem);
  out.built = std::move(plan.built);
  out.report = std::move(plan.report);
  BUDA_TRY(check_queue_places(out.built.queues, options.queues.places));
  encode_selections(out.problem, out.choice, out.built.queues);
  host.progress("reporting", 0, 0);
  add_bounds(space, out.choice, options.queues, out.report);
  return success();
}

// The chips of the epochs of a choice for one chip; all the same where further ones gain nothing.
Result<EpochChips> stages_of_choice(const Balanced& chosen, const Settings& options, Host& host) {
  const Problem& problem = chosen.problem;
  if (problem.chips.size() == 1 || problem.ops.empty()) return chips_of_epochs(problem, chosen.choice);
  BUDA_ASSIGN(const PlacementReport report, report_of_choice(problem, chosen.choice, options, host));
  StagedEpochs epochs = staged_epochs(problem, chosen.choice, times_of_epochs(report));
  if (epochs.is_sequential) return chips_of_epochs(problem, chosen.choice);
  epochs.change = kEpochStartCycles;
  return best_stages(epochs);
}

// The ops with the stages of their epochs, and copies of the values that are sent between chips.
void share_out(const EpochChips& chips, Balanced& chosen, std::vector<graph::NodeId>& order, std::map<graph::NodeId, OpStage>& stages) {
  const std::vector<std::int32_t> segments = segments_of_epochs(chosen.problem, chosen.choice);
  std::vector<std::int32_t> stage_of_epoch;
  for (std::size_t e = 0; e < chips.size(); ++e) {
    const bool begins_segment = e == 0 || segments[e] != segments[e - 1];
    stage_of_epoch.push_back(begins_segment ? 0 : stage_of_epoch.back() + (chips[e] != chips[e - 1] ? 1 : 0));
  }
  for (std::size_t i = 0; i < chosen.problem.ops.size(); ++i) {
    const auto epoch = static_cast<std::size_t>(chosen.choice.ops[i].epoch);
    stages[chosen.problem.ops[i].node] = {segments[epoch], stage_of_epoch[epoch], false};
  }
  forward_values(chosen.graph, order, stages);
}

// Ops that the user gives chips to, and the others where what they take comes from.
Result<void> place_on_given(std::vector<graph::NodeId> order, const std::map<graph::NodeId, std::int32_t>& given, Policy& policy,
                            const std::string& policy_name, Settings options, Host& host, Balanced& out) {
  const device::DeviceDescriptor& device = *out.problem.device;
  std::set<std::int64_t> used(options.chips.ids.begin(), options.chips.ids.end());
  if (options.chips.ids.empty()) {
    BUDA_ASSIGN(const std::vector<std::int32_t> chips, chips_in_order(options.chips, device));
    used.insert(chips.begin(), chips.end());
  }
  for (const auto& [op, chip] : given) used.insert(chip);
  options.chips.ids.assign(used.begin(), used.end());
  BUDA_ASSIGN(const std::vector<std::int32_t> chips, chips_in_order(options.chips, device));
  const std::map<graph::NodeId, PlacedOnChip> placed = place_on_given_chips(out.graph, order, given, chips);
  BUDA_ASSIGN(out.problem, rounding_problem(out.graph, order, device, options.batches));
  for (OpSpec& op : out.problem.ops) {
    const PlacedOnChip& place = placed.at(op.node);
    op.chip = chips[place.chip];
    op.copies = place.copies;
  }
  BUDA_ASSIGN(ChoiceSpace space, choose_plan(&out.graph, policy, policy_name, options, host, out));
  alternate_chips(out.problem, placed, out.choice);
  out.choice.chips = chips_of_ops(out.problem, out.choice);
  return build_plan_of(space, policy_name, options, host, out);
}

// The normalized graph in its order. On several chips the policy chooses twice: for one chip, which tells where stages are to begin, and
// then stage by stage.
Result<void> place_ops(std::vector<graph::NodeId> order, const device::DeviceDescriptor& device, Policy& policy,
                       const std::string& policy_name, const Settings& options, Host& host, Balanced& out) {
  BUDA_ASSIGN(out.problem, rounding_problem(out.graph, order, device, options.batches));
  BUDA_ASSIGN(const auto given, given_chips(out.graph, out.problem, options.overrides));
  if (!given.empty()) return place_on_given(std::move(order), given, policy, policy_name, options, host, out);
  BUDA_ASSIGN(ChoiceSpace space, choose_plan(&out.graph, policy, policy_name, options, host, out));
  BUDA_ASSIGN(const EpochChips chips, stages_of_choice(out, options, host));
  if (std::adjacent_find(chips.begin(), chips.end(), std::not_equal_to<>()) == chips.end())
    return build_plan_of(space, policy_name, options, host, out);
  std::map<graph::NodeId, OpStage> stages;
  share_out(chips, out, order, stages);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> chip_of_stage;
  for (std::size_t i = 0; i < out.problem.ops.size(); ++i) {
    const OpStage& stage = stages.at(out.problem.ops[i].node);
    chip_of_stage[{stage.segment, stage.stage}] = chips[static_cast<std::size_t>(out.choice.ops[i].epoch)];
  }
  BUDA_ASSIGN(out.problem, rounding_problem(out.graph, order, device, options.batches));
  for (OpSpec& op : out.problem.ops) {
    const OpStage& stage = stages.at(op.node);
    op.chip = chip_of_stage.at({stage.segment, stage.stage});
    op.copies = stage.copies;
  }
  BUDA_ASSIGN(space, choose_plan(&out.graph, policy, policy_name, options, host, out));
  return build_plan_of(space, policy_name, options, host, out);
}

// Where queues do not fit DRAM, half a microbatch may, or a quarter; or host queues of fewer batches. `fits` tries it.
void hint_at_fewer_batches(Failure& failure, const Settings& options, const std::function<bool(const Settings&)>& fits) {
  const auto is_of_dram = [](const Diagnostic& d) { return d.code == "BL016"; };
  auto& all = failure.diagnostics();
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_of_dram)) return;
  const auto halved = [&](std::string_view option, auto&& member) {
    Settings fewer = options;
    while ((member(fewer) /= 2) > 0) {
      if (!fits(fewer)) continue;
      for (Diagnostic& d : all) d.hint = cat("with ", option, ' ', member(fewer), " the queues fit");
      return true;
    }
    return false;
  };
  if (halved("--microbatch", [](Settings& o) -> std::int32_t& { return o.batches; })) return;
  halved("--queue-entries", [](Settings& o) -> std::int32_t& { return o.queues.batches; });
}

// Where none of an op's implementations finds room that the user's restrictions leave, others may. `fits` tries it.
void hint_at_restrictions(Failure& failure, const Settings& options, const std::function<bool(const Settings&)>& fits) {
  const auto is_open = [](const Diagnostic& d) { return d.code == "BL014" && d.hint.empty(); };
  auto& all = failure.diagnostics();
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_open)) return;
  for (const Relaxed& way : relaxed(options.models)) {
    Settings tried = options;
    tried.models = way.options;
    if (!fits(tried)) continue;
    all.front().hint = cat(way.text, ": it fits then");
    return;
  }
}

// A plan of the normalized graph, in an order.
Result<Balanced> balance_in(SchedulePolicy schedule, std::vector<graph::NodeId> order, graph::Graph graph,
                            const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name, const Settings& options,
                            Host& host) {
  Balanced out;
  out.schedule = schedule;
  out.graph = std::move(graph);
  // Several chips add copies to it.
  std::optional<graph::Graph> given;
  const auto has_chip = [&](graph::NodeId op) { return out.graph.node(op).tags.contains(graph::kChip); };
  const auto gives_chip = [](const auto& override) { return override.first.ends_with(".chip") || override.first.ends_with(".chip_id"); };
  if (options.chips.count != 1 || !options.chips.ids.empty() || std::any_of(order.begin(), order.end(), has_chip) ||
      std::any_of(options.overrides.begin(), options.overrides.end(), gives_chip))
    given = out.graph;
  auto placed = place_ops(order, device, policy, policy_name, options, host, out);
  if (placed) return out;
  Failure failure = std::move(placed).failure();
  const auto fits = [&](const Settings& other) {
    if (given) out.graph = *given;
    return place_ops(order, device, policy, policy_name, other, host, out).ok();
  };
  hint_at_fewer_batches(failure, options, fits);
  hint_at_restrictions(failure, options, fits);
  return failure;
}

}  // namespace

Result<Balanced> balance(graph::Graph graph, const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name,
                         const BalanceOptions& given_options, Host& host) {
  BUDA_ASSIGN(const Settings options, settings_for(given_options, device, host));
  for (const std::string& name : normalize(graph))
    host.report(warning("BL040", graph.node(graph.find(name)).loc,
                        cat("input '", name, "' is not used by any output; nothing will be pushed for it")));
  const SchedulePolicy first = options.schedule.value_or(SchedulePolicy::module_inputs_bfs);
  BUDA_ASSIGN(std::vector<graph::NodeId> order, make_schedule(graph, first));
  if (options.schedule || options.effort <= kUsualEffort)
    return balance_in(first, std::move(order), std::move(graph), device, policy, policy_name, options, host);
  BUDA_ASSIGN(std::vector<graph::NodeId> other, make_schedule(graph, SchedulePolicy::topological));
  const bool differs = other != order;
  BUDA_ASSIGN(Balanced out, balance_in(first, std::move(order), graph, device, policy, policy_name, options, host));
  if (!differs) return out;
  // What it warns of has been said.
  CollectingSink unheard;
  Host silent(host.fs(), unheard);
  silent.threads = host.threads;
  silent.seed = host.seed;
  silent.share_dir = host.share_dir;
  Settings usual = options;
  usual.effort = kUsualEffort;
  auto plan = balance_in(SchedulePolicy::topological, std::move(other), std::move(graph), device, policy, policy_name, usual, silent);
  if (!plan || plan->report.totals.cycles >= out.report.totals.cycles) return out;
  host.log(1, "ops are placed in topological order, in which the plan is faster");
  return std::move(*plan);
}

Result<Balanced> balance(Problem problem, Policy& policy, const std::string& policy_name, const BalanceOptions& given_options, Host& host) {
  BUDA_ASSIGN(const Settings options, settings_for(given_options, *problem.device, host));
  Balanced out;
  out.problem = std::move(problem);
  BUDA_ASSIGN(const ChoiceSpace space, choose_plan(nullptr, policy, policy_name, options, host, out));
  BUDA_TRY(build_plan_of(space, policy_name, options, host, out));
  return out;
}

}  // namespace buda::balance
