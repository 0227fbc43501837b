// The steps of balancing in their order.
#include <buda/balance/balance.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/chips/forwarded_values.hpp>
#include <buda/balance/chips/given_chips.hpp>
#include <buda/balance/emit/forked_inputs.hpp>
#include <buda/balance/emit/report_bounds.hpp>
#include <buda/balance/legalize/cut_edges.hpp>
#include <buda/balance/legalize/nearest_legal.hpp>
#include <buda/balance/legalize/neighbours.hpp>
#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/legalize/padding.hpp>
#include <buda/balance/legalize/remedies.hpp>
#include <buda/balance/legalize/row_padding.hpp>
#include <buda/balance/legalize/unread_cores.hpp>
#include <buda/balance/models/alike.hpp>
#include <buda/balance/problem/constraints.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/balance/problem/segment_order.hpp>
#include <buda/balance/queues/queue_places.hpp>
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/graph/constraint_tags.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

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

// Execution order, segment by segment, with the order constraints of the user.
Result<std::vector<graph::NodeId>> make_schedule(const graph::Graph& graph, SchedulePolicy policy) {
  BUDA_ASSIGN(auto waits_for, ops_to_wait_for(graph));
  std::vector<graph::NodeId> order = schedule(graph, policy, waits_for);
  order_by_segment(graph, order);
  BUDA_TRY(check_orders(graph, order, waits_for));
  return order;
}

// Chips by constraints of ops, until they are shared out: as many as there are. The others begin epochs, as all of them do where there is
// one chip.
void add_chip_breaks(const std::vector<graph::NodeId>& breaks, const graph::Graph& graph, Problem& problem, Host& host) {
  if (!problem.ops.empty() && problem.ops.front().chip >= 0) return;
  std::size_t chips = 1;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    if (i > 0 && problem.ops[i].segment != problem.ops[i - 1].segment) chips = 1;
    if (std::find(breaks.begin(), breaks.end(), problem.ops[i].node) == breaks.end()) continue;
    problem.ops[i].begins_chip = chips < problem.chips.size();
    if (problem.ops[i].begins_chip) {
      ++chips;
      continue;
    }
    const std::string there = problem.chips.size() == 1 ? "is one chip" : cat("are ", problem.chips.size(), " chips");
    const graph::Node& node = graph.node(problem.ops[i].node);
    host.report(
        warning("BL042", node.loc, cat("op '", node.name(), "' is to begin a chip; there ", there, ", and it begins an epoch there")));
  }
}

// Breaks by constraints of ops, and where segments begin. Which op of a constraint comes first is known by the schedule.
void add_breaks(const graph::Graph& graph, Problem& problem, std::vector<OpOverride>& overrides, Host& host) {
  std::vector<graph::NodeId> order;
  for (const OpSpec& op : problem.ops) order.push_back(op.node);
  auto breaks = first_of_breaks(graph, order, graph::kEpochBreak), chips = first_of_breaks(graph, order, graph::kChipBreak);
  add_chip_breaks(chips, graph, problem, host);
  std::set<graph::NodeId> all(breaks.begin(), breaks.end());
  all.insert(chips.begin(), chips.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (all.contains(order[i]) && !overrides[i].epoch_break) overrides[i].epoch_break = true;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const OpSpec &op = problem.ops[i], &before = problem.ops[i - 1];
    if (op.segment != before.segment || op.chip != before.chip || op.copies != before.copies) overrides[i].epoch_break = true;
  }
}

// Legal models of the ops that are `wanted`. Those that are alike (`first`) have the same, unless it is none: then the account of why names
// the op's own operands.
void enumerate_models(const Problem& problem, const ModelOptions& options, const std::vector<std::size_t>& first,
                      const std::vector<bool>& wanted, unsigned threads, ChoiceSpace& space) {
  auto enumerate = [&](const std::vector<std::size_t>& ops) {
    parallel_for(threads, ops.size(), [&](std::size_t k) {
      space.models[ops[k]] = legal_models(problem.ops[ops[k]], *problem.device, options, &space.overrides[ops[k]]);
    });
  };
  std::map<std::size_t, std::size_t> leader_of;
  std::vector<std::size_t> leaders, followers, alone;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    if (!wanted[i]) continue;
    const bool is_free = space.overrides[i].given.empty();
    (!is_free || leader_of.try_emplace(first[i], i).second ? leaders : followers).push_back(i);
  }
  enumerate(leaders);
  for (std::size_t i : followers) {
    space.models[i] = space.models[leader_of.at(first[i])];
    if (space.models[i].models.empty()) alone.push_back(i);
  }
  enumerate(alone);
}

// Whether some model of an op can read its sources: inputs, parameters and constants.
bool has_fitting_model(const Problem& problem, std::size_t op, const LegalModels& legal) {
  const OpId id(static_cast<OpId::rep>(op));
  return std::any_of(legal.models.begin(), legal.models.end(), [&](const OpModel& m) { return fits_with_sources(problem, id, m); });
}

// Ops stream where they do not fit otherwise or an override says so, and next to such ops, so that these can hand their parts over within
// an epoch; or everywhere, if the options say so.
void set_models(const Problem& problem, const ModelOptions& options, unsigned threads, ChoiceSpace& space) {
  const std::size_t count = problem.ops.size();
  const std::vector<std::size_t> first = first_alike(problem);
  space.models.resize(count);
  ModelOptions whole = options;
  whole.t_streaming = false;
  enumerate_models(problem, whole, first, std::vector<bool>(count, true), threads, space);
  if (!options.t_streaming) return;
  std::vector<bool> streams(count, options.stream_all);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& stream = space.overrides[i].stream;
    if (has_fitting_model(problem, i, space.models[i]) && !(stream && stream->parts > 1)) continue;
    streams[i] = true;
    for (const OpUse& use : problem.ops[i].users) streams[use.op.index()] = true;
    for (const Operand& operand : problem.ops[i].operands)
      if (operand.from.op.valid()) streams[operand.from.op.index()] = true;
  }
  enumerate_models(problem, options, first, streams, threads, space);
}

// A result of, say, a prime number of columns of tiles may have no grid that holds it; a few columns more may.
void pad_misfits(Problem& problem, const ModelOptions& options, ChoiceSpace& space) {
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    // What the user's overrides leave without a model is told, unless they are those of more columns.
    const auto blocked = space.overrides[i].blocked_tiles();
    const bool is_blocked = space.overrides[i].blocks() && (!blocked || (*blocked)[1] <= problem.ops[i].out.ct);
    if (is_blocked || has_fitting_model(problem, i, space.models[i])) continue;
    const OpId id(static_cast<OpId::rep>(i));
    const auto columns = padded_columns(problem, id, options, &space.overrides[i]);
    if (!columns) continue;
    pad_columns(problem, id, *columns);
    space.models[i] = legal_models(problem.ops[i], *problem.device, options, &space.overrides[i]);
  }
}

// Takes models away that options exclude, but never all of an op.
void apply_preferences(const ModelOptions& options, ChoiceSpace& space) {
  for (LegalModels& legal : space.models) {
    std::vector<OpModel>& models = legal.models;
    const auto has_one_row = [](const OpModel& m) { return m.grid.rows == 1; };
    if (options.one_row && std::any_of(models.begin(), models.end(), has_one_row))
      std::erase_if(models, [&](const OpModel& m) { return !has_one_row(m); });
    if (options.all_steps) continue;
    std::map<std::tuple<std::int32_t, std::int32_t, StreamDirection, std::int32_t>, std::int32_t> largest;
    const auto kind = [](const OpModel& m) { return std::tuple(m.grid.rows, m.grid.cols, m.stream.direction, m.stream.parts); };
    for (const OpModel& m : models) largest[kind(m)] = std::max(largest[kind(m)], m.u_kt);
    std::erase_if(models, [&](const OpModel& m) { return m.u_kt < largest[kind(m)]; });
  }
}

// Ops with overrides are alone, and so are those that have other models because of their neighbours.
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

// Whether a plan can be made of these models.
using Tries = std::function<bool(const Problem&, const ChoiceSpace&)>;

// The nearest legal choices that a plan can be made of, in words: what is legal alone may still need more than a core has beside its
// neighbours. `space`: with models for all other ops.
std::vector<std::string> nearest_that_work(const Problem& problem, ChoiceSpace space, OpId op, const std::vector<NearChoice>& near,
                                           const Tries& works) {
  constexpr std::size_t kMostShown = 3, kMostTried = 12;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(near.size(), kMostTried) && out.size() < kMostShown; ++i) {
    Problem tried = problem;
    tried.ops[op.index()] = with_buffered_inputs(tried.op(op), near[i].overrides.buffered_inputs);
    space.problem = &tried;
    space.overrides[op.index()] = near[i].overrides;
    space.models[op.index()].models = near[i].models;
    space.kinds = kinds_of(tried, space);
    if (works(tried, space)) out.push_back(near[i].text);
  }
  return out;
}

// Adds an error for each op that an override leaves without a model. The others of them have what is nearest to theirs while one is tried.
void explain_overrides(Problem problem, ChoiceSpace space, const std::map<std::size_t, std::vector<NearChoice>>& illegal,
                       const Tries& works, Failure& failure) {
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
    const auto nearest = all_fit ? nearest_that_work(problem, space, op, near, works) : std::vector<std::string>{};
    failure.add(illegal_override(problem.op(op), given[i], nearest, *problem.device));
  }
}

// Models of all ops; ops without any are reported together. `graph`: null where the problem comes from a netlist.
Result<ChoiceSpace> make_space(const graph::Graph* graph, Problem& problem, const Settings& balance_options, const ModelOptions& options,
                               const Tries& works, Host& host) {
  ChoiceSpace space;
  space.problem = &problem;
  space.options = options;
  BUDA_ASSIGN(space.overrides, parse_overrides(problem, balance_options.overrides));
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    for (const auto& [operand, inputs] : space.overrides[i].buffered_inputs) problem.ops[i].operands[operand].buffered_inputs = inputs;
  if (graph != nullptr) {
    add_breaks(*graph, problem, space.overrides, host);
    pad_uneven_rows(problem, space.overrides);
  }
  set_models(problem, options, host.threads, space);
  if (const std::size_t cuts = cut_edges(balance_options.self_cut, space.models, problem); cuts > 0) {
    host.log(1, cat("queues between ops that do not go together: ", cuts));
    set_models(problem, options, host.threads, space);
  }
  pad_misfits(problem, options, space);
  avoid_unread_cores(problem, space.models);
  apply_preferences(options, space);
  space.kinds = kinds_of(problem, space);
  Failure failure;
  std::vector<OpId> misfits;
  std::map<std::size_t, std::vector<NearChoice>> illegal;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const OpSpec& spec = problem.ops[i];
    const OpOverride& own = space.overrides[i];
    host.log(2, cat("op ", spec.label, ": ", space.models[i].models.size(),
                    " legal implementations; rejected: ", space.models[i].rejections.text()));
    if (!space.models[i].models.empty()) continue;
    std::vector<NearChoice> near;
    if (!own.given.empty()) near = nearest_choices(spec, own, *problem.device, options);
    if (near.empty()) {
      misfits.push_back(OpId(static_cast<OpId::rep>(i)));
    } else {
      illegal[i] = std::move(near);
    }
  }
  explain_overrides(problem, space, illegal, works, failure);
  std::vector<std::string> hints(misfits.size());
  if (graph != nullptr) hints = remedies(*graph, problem, misfits, options, host);
  for (std::size_t i = 0; i < misfits.size(); ++i)
    failure.add(no_legal_model(problem, problem.op(misfits[i]), space.models[misfits[i].index()], std::move(hints[i])));
  if (!failure.empty()) return failure;
  return space;
}

Result<BuiltNetlist> build(Problem& problem, const Choice& choice, const Settings& options, Host& host) {
  BUDA_ASSIGN(QueueSet queues, make_queues(problem, choice, options.queues));
  BUDA_ASSIGN(BuiltNetlist built, build_netlist(problem, choice, std::move(queues), options.queues));
  if (options.forked_inputs) fork_dram_inputs(built.netlist, built.queues);
  BUDA_ASSIGN(built.laid_out, lay_out(built.netlist, *problem.device, options.links, host));
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
  BUDA_ASSIGN(ChoiceSpace space, make_space(graph, out.problem, options, model_options, works, host));
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
  out.choice.chips = chips_of_ops(out.problem, out.choice);
  return space;
}

// From the choice to the netlist and its report.
Result<void> build_plan_of(const ChoiceSpace& space, const std::string& policy_name, const Settings& options, Host& host, Balanced& out) {
  host.progress("building the netlist", 0, 0);
  BUDA_ASSIGN(out.built, build(out.problem, out.choice, options, host));
  BUDA_TRY(check_queue_places(out.built.queues, options.queues.places));
  encode_selections(out.problem, out.choice, out.built.queues);
  host.progress("reporting", 0, 0);
  std::vector<std::int64_t> candidates;
  for (const auto& models : space.models) candidates.push_back(static_cast<std::int64_t>(models.models.size()));
  out.report = make_report(out.problem, out.choice, out.built, candidates, policy_name);
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
  BUDA_ASSIGN(out.problem, make_problem(out.graph, order, device, options.batches));
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
  BUDA_ASSIGN(out.problem, make_problem(out.graph, order, device, options.batches));
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
  BUDA_ASSIGN(out.problem, make_problem(out.graph, order, device, options.batches));
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

}  // namespace

Result<Balanced> balance(graph::Graph graph, const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name,
                         const BalanceOptions& given_options, Host& host) {
  BUDA_ASSIGN(const Settings options, settings_for(given_options, device, host));
  Balanced out;
  out.graph = std::move(graph);
  for (const std::string& name : normalize(out.graph))
    host.report(warning("BL040", out.graph.node(out.graph.find(name)).loc,
                        cat("input '", name, "' is not used by any output; nothing will be pushed for it")));
  BUDA_ASSIGN(std::vector<graph::NodeId> order, make_schedule(out.graph, options.schedule));
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
  hint_at_fewer_batches(failure, options, [&](const Settings& fewer) {
    if (given) out.graph = *given;
    return place_ops(order, device, policy, policy_name, fewer, host, out).ok();
  });
  return failure;
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
