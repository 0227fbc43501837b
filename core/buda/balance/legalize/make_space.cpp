// SPDX-License-Identifier: Apache-2.0
// From overrides and options to models: enumeration, cuts, padding, preferences.
#include <buda/balance/legalize/make_space.hpp>

#include <buda/balance/legalize/cut_edges.hpp>
#include <buda/balance/legalize/nearest_legal.hpp>
#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/legalize/padding.hpp>
#include <buda/balance/legalize/remedies.hpp>
#include <buda/balance/legalize/row_padding.hpp>
#include <buda/balance/legalize/unread_cores.hpp>
#include <buda/balance/models/alike.hpp>
#include <buda/balance/policy/neighbours.hpp>
#include <buda/balance/problem/constraints.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/balance/problem/node_error.hpp>
#include <buda/balance/problem/sum_roundings.hpp>
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/tags/constraint_tags.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

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

// Places another graph of the same ops.
GraphTrial trial_of(const Problem& of, const SpaceOptions& asked, const CanBuild& can_build, Host& host) {
  return [&of, &asked, &can_build, &host](const graph::Graph& graph, const ModelOptions& options) {
    CollectingSink unheard;
    Host quiet(host.fs(), unheard);
    quiet.threads = host.threads;
    quiet.seed = host.seed;
    quiet.share_dir = host.share_dir;
    std::vector<graph::NodeId> order;
    for (const OpSpec& op : of.ops) order.push_back(op.node);
    auto problem = make_problem(graph, order, *of.device, of.batches);
    if (!problem) return false;
    problem->chips = of.chips;
    problem->dynamic_queues = of.dynamic_queues;
    if (options.l1_accumulate) allow_l1_accumulation(*problem);
    note_roundings(graph, *problem);
    SpaceOptions tried = asked;
    tried.models = options;
    tried.explains = false;
    const auto space = make_space(&graph, std::move(*problem), tried, can_build, quiet);
    return space.ok() && can_build(*space);
  };
}

// Ops without any model are reported together.
Result<void> check_models(const graph::Graph* graph, const ChoiceSpace& space, const SpaceOptions& asked, const CanBuild& can_build,
                          Host& host) {
  const Problem& problem = *space.problem;
  const ModelOptions& options = asked.models;
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
  explain_overrides(problem, space, illegal, can_build, failure);
  std::vector<std::string> hints(misfits.size());
  if (graph != nullptr && asked.explains && !asked.hosts_misfits)
    hints = remedies(*graph, problem, misfits, options, trial_of(problem, asked, can_build, host), host);
  for (std::size_t i = 0; i < misfits.size(); ++i) {
    Diagnostic d = no_legal_model(problem, problem.op(misfits[i]), space.models[misfits[i].index()], std::move(hints[i]));
    if (problem.op(misfits[i]).selection) d.data.emplace_back(kPicksRows, "true");
    failure.add(std::move(d));
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace

Result<ChoiceSpace> space_with(const ChoiceSpace& space, Problem changed_problem, const std::vector<std::size_t>& changed,
                               unsigned threads) {
  ChoiceSpace out = space;
  out.problem = std::make_shared<const Problem>(std::move(changed_problem));
  const Problem& problem = *out.problem;
  parallel_for(threads, changed.size(), [&](std::size_t k) {
    const std::size_t op = changed[k];
    std::vector<OpModel>& models = out.models[op].models;
    ModelOptions options = space.options;
    options.t_streaming = std::any_of(models.begin(), models.end(), [](const OpModel& m) { return m.stream.parts > 1; });
    out.models[op] = legal_models(problem.ops[op], *problem.device, options, &out.overrides[op]);
  });
  avoid_unread_cores(problem, out.models);
  apply_preferences(space.options, out);
  out.kinds = kinds_of(problem, out);
  for (std::size_t op : changed)
    if (out.models[op].models.empty()) return no_legal_model(problem, problem.ops[op], out.models[op], "");
  return out;
}

Result<ChoiceSpace> make_space(const graph::Graph* graph, Problem problem, const SpaceOptions& asked, const CanBuild& can_build,
                               Host& host) {
  const ModelOptions& options = asked.models;
  ChoiceSpace space;
  space.options = options;
  space.seed = host.seed;
  space.threads = host.threads;
  BUDA_ASSIGN(space.overrides, parse_overrides(problem, asked.overrides));
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    for (const auto& [operand, inputs] : space.overrides[i].buffered_inputs) problem.ops[i].operands[operand].buffered_inputs = inputs;
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    if (const auto wide = space.overrides[i].wide_sums; wide && *wide != WideSums::none)
      widen_sums(problem.ops[i], *wide == WideSums::all ? DataFormat::float32 : problem.ops[i].op.intermed_format,
                 options.l1_accumulate && problem.device->features.l1_accumulate);
  if (graph != nullptr) {
    add_breaks(*graph, problem, space.overrides, host);
    pad_uneven_rows(problem, space.overrides);
  }
  set_models(problem, options, host.threads, space);
  if (const std::size_t cuts = cut_edges(asked.self_cut, space.models, problem); cuts > 0) {
    host.log(1, cat("queues inserted between incompatible op implementations: ", cuts));
    set_models(problem, options, host.threads, space);
  }
  pad_misfits(problem, options, space);
  avoid_unread_cores(problem, space.models);
  apply_preferences(options, space);
  space.kinds = kinds_of(problem, space);
  space.problem = std::make_shared<const Problem>(std::move(problem));
  BUDA_TRY(check_models(graph, space, asked, can_build, host));
  return space;
}

}  // namespace buda::balance
