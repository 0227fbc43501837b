// The steps of balancing in their order.
#include <buda/balance/balance.hpp>

#include <buda/balance/emit/forked_inputs.hpp>
#include <buda/balance/emit/report_bounds.hpp>
#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/legalize/padding.hpp>
#include <buda/balance/legalize/remedies.hpp>
#include <buda/balance/legalize/row_padding.hpp>
#include <buda/balance/models/alike.hpp>
#include <buda/balance/problem/constraints.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/balance/problem/segment_order.hpp>
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/constraint_tags.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

namespace buda::balance {
namespace {

// Execution order, segment by segment, with the order constraints of the user.
Result<std::vector<graph::NodeId>> make_schedule(const graph::Graph& graph, SchedulePolicy policy) {
  BUDA_ASSIGN(auto waits_for, ops_to_wait_for(graph));
  std::vector<graph::NodeId> order = schedule(graph, policy, waits_for);
  order_by_segment(graph, order);
  BUDA_TRY(check_orders(graph, order, waits_for));
  return order;
}

// Breaks by constraints of ops, and where segments begin. Which op of a constraint comes first is known by the schedule.
void add_breaks(const graph::Graph& graph, const Problem& problem, std::vector<OpOverride>& overrides, Host& host) {
  std::vector<graph::NodeId> order;
  for (const OpSpec& op : problem.ops) order.push_back(op.node);
  auto breaks = first_of_breaks(graph, order, graph::kEpochBreak), chips = first_of_breaks(graph, order, graph::kChipBreak);
  for (graph::NodeId id : chips)
    host.report(warning("BL042", graph.node(id).loc,
                        cat("op '", graph.node(id).name(), "' is to begin a chip; there is one chip, and it begins an epoch there")));
  std::set<graph::NodeId> all(breaks.begin(), breaks.end());
  all.insert(chips.begin(), chips.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (all.contains(order[i]) && !overrides[i].epoch_break) overrides[i].epoch_break = true;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (problem.ops[i].segment != problem.ops[i - 1].segment) overrides[i].epoch_break = true;
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
    if (!space.models[i].models.empty() && !(stream && stream->parts > 1)) continue;
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
    // What the user's overrides leave without a model is told.
    if (!space.models[i].models.empty() || space.overrides[i].blocks()) continue;
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

// Models of all ops; ops without any are reported together. `graph`: null where the problem comes from a netlist.
Result<ChoiceSpace> make_space(const graph::Graph* graph, Problem& problem, const std::map<std::string, std::string>& overrides,
                               const ModelOptions& options, Host& host) {
  ChoiceSpace space;
  space.problem = &problem;
  space.options = options;
  BUDA_ASSIGN(space.overrides, parse_overrides(problem, overrides));
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    for (const auto& [operand, inputs] : space.overrides[i].buffered_inputs) problem.ops[i].operands[operand].buffered_inputs = inputs;
  if (graph != nullptr) {
    add_breaks(*graph, problem, space.overrides, host);
    pad_uneven_rows(problem, space.overrides);
  }
  set_models(problem, options, host.threads, space);
  pad_misfits(problem, options, space);
  apply_preferences(options, space);
  space.kinds = kinds_of(problem, space);
  Failure failure;
  std::vector<OpId> misfits;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const OpSpec& spec = problem.ops[i];
    const OpOverride& own = space.overrides[i];
    host.log(2, cat("op ", spec.label, ": ", space.models[i].models.size(),
                    " legal implementations; rejected: ", space.models[i].rejections.text()));
    if (!space.models[i].models.empty()) continue;
    LegalModels free = own.given.empty() ? LegalModels{} : legal_models(spec, *problem.device, options, nullptr);
    if (free.models.empty()) {
      misfits.push_back(OpId(static_cast<OpId::rep>(i)));
    } else {
      failure.add(illegal_override(spec, own, free, *problem.device));
    }
  }
  std::vector<std::string> hints(misfits.size());
  if (graph != nullptr) hints = remedies(*graph, problem, misfits, options, host);
  for (std::size_t i = 0; i < misfits.size(); ++i)
    failure.add(no_legal_model(problem, problem.op(misfits[i]), space.models[misfits[i].index()], std::move(hints[i])));
  if (!failure.empty()) return failure;
  return space;
}

Result<BuiltNetlist> build(Problem& problem, const Choice& choice, const BalanceOptions& options, Host& host) {
  BUDA_ASSIGN(QueueSet queues, make_queues(problem, choice, options.queues));
  BUDA_ASSIGN(BuiltNetlist built, build_netlist(problem, choice, std::move(queues), options.queues));
  if (options.forked_inputs) fork_dram_inputs(built.netlist, built.queues);
  BUDA_ASSIGN(built.laid_out, lay_out(built.netlist, *problem.device, host));
  return built;
}

// What the report would say of a choice. The names that its netlist takes are those of a copy of the problem.
std::optional<std::vector<double>> estimated_cycles(Problem problem, const Choice& choice, const BalanceOptions& options, Host& host) {
  auto built = build(problem, choice, options, host);
  if (!built) return std::nullopt;
  const std::vector<std::int64_t> candidates(problem.ops.size(), 0);
  std::vector<double> out;
  for (const ReportEpoch& epoch : make_report(problem, choice, *built, candidates, "").epochs)
    out.push_back(static_cast<double>(epoch.cycles));
  return out;
}

Result<Choice> choose(const ChoiceSpace& space, Policy& policy, const std::string& name, std::uint64_t seed,
                      PolicyContext::Estimate estimate, unsigned threads) {
  PolicyContext context(space, seed, std::move(estimate), threads);
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

// From the problem to the netlist and its report.
Result<void> place_problem(const graph::Graph* graph, Policy& policy, const std::string& policy_name, const BalanceOptions& options,
                           Host& host, Balanced& out) {
  out.problem.dynamic_queues = options.dynamic_queues;
  ModelOptions model_options = options.models;
  model_options.inputs_per_epoch = out.problem.microbatch;
  model_options.stream_all = policy.streams_all();
  if (model_options.l1_accumulate) allow_l1_accumulation(out.problem);
  host.progress("enumerating implementations", 0, 0);
  BUDA_ASSIGN(ChoiceSpace space, make_space(graph, out.problem, options.overrides, model_options, host));
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
  BUDA_ASSIGN(out.choice, choose(space, policy, policy_name, host.seed, estimate, host.threads));
  host.progress("building the netlist", 0, 0);
  BUDA_ASSIGN(out.built, build(out.problem, out.choice, options, host));
  encode_selections(out.problem, out.choice, out.built.queues);
  host.progress("reporting", 0, 0);
  std::vector<std::int64_t> candidates;
  for (const auto& models : space.models) candidates.push_back(static_cast<std::int64_t>(models.models.size()));
  out.report = make_report(out.problem, out.choice, out.built, candidates, policy_name);
  add_bounds(space, out.choice, options.queues, out.report);
  return success();
}

// From the normalized graph in its order.
Result<void> place_ops(const std::vector<graph::NodeId>& order, const device::DeviceDescriptor& device, Policy& policy,
                       const std::string& policy_name, const BalanceOptions& options, Host& host, Balanced& out) {
  BUDA_ASSIGN(out.problem, make_problem(out.graph, order, device, options.batches));
  return place_problem(&out.graph, policy, policy_name, options, host, out);
}

// Queues between epochs hold two microbatches: where they do not fit DRAM, half of one may, or a quarter. `fits` tries it.
void hint_at_fewer_batches(Failure& failure, std::int32_t batches, const std::function<bool(std::int32_t)>& fits) {
  const auto is_of_dram = [](const Diagnostic& d) { return d.code == "BL016"; };
  auto& all = failure.diagnostics();
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_of_dram)) return;
  for (std::int32_t fewer = batches / 2; fewer > 0; fewer /= 2) {
    if (!fits(fewer)) continue;
    for (Diagnostic& d : all) d.hint = cat("with --microbatch ", fewer, " the queues fit");
    return;
  }
}

}  // namespace

Result<Balanced> balance(graph::Graph graph, const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name,
                         const BalanceOptions& options, Host& host) {
  Balanced out;
  out.graph = std::move(graph);
  for (const std::string& name : normalize(out.graph))
    host.report(warning("BL040", out.graph.node(out.graph.find(name)).loc,
                        cat("input '", name, "' is not used by any output; nothing will be pushed for it")));
  BUDA_ASSIGN(std::vector<graph::NodeId> order, make_schedule(out.graph, options.schedule));
  auto placed = place_ops(order, device, policy, policy_name, options, host, out);
  if (placed) return out;
  Failure failure = std::move(placed).failure();
  hint_at_fewer_batches(failure, options.batches, [&](std::int32_t batches) {
    BalanceOptions fewer = options;
    fewer.batches = batches;
    return place_ops(order, device, policy, policy_name, fewer, host, out).ok();
  });
  return failure;
}

Result<Balanced> balance(Problem problem, Policy& policy, const std::string& policy_name, const BalanceOptions& options, Host& host) {
  Balanced out;
  out.problem = std::move(problem);
  BUDA_TRY(place_problem(nullptr, policy, policy_name, options, host, out));
  return out;
}

}  // namespace buda::balance
