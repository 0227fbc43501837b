// SPDX-License-Identifier: Apache-2.0
// Collection and layout of the placement report.
#include <buda/balance/emit/report.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/chips/crossings.hpp>
#include <buda/balance/cost/cost.hpp>
#include <buda/balance/cost/epoch_loop.hpp>
#include <buda/balance/cost/flow.hpp>
#include <buda/balance/cost/laid_out.hpp>
#include <buda/balance/cost/measure_loads.hpp>
#include <buda/balance/cost/shared_ways.hpp>
#include <buda/balance/emit/report_phases.hpp>
#include <buda/balance/emit/report_summary.hpp>
#include <buda/balance/problem/batches.hpp>
#include <buda/balance/problem/fused.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/balance/queues/dram.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/transfer_model.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace buda::balance {

std::string limiter_name(const ReportCycles& cycles) {
  if (cycles.kernel == cycles.limiter) return "kernel";
  for (std::size_t i = 0; i < cycles.inputs.size(); ++i)
    if (cycles.inputs[i] == cycles.limiter) return cat("input ", i);
  return "output";
}

namespace {

std::int64_t whole(double cycles) { return static_cast<std::int64_t>(std::llround(std::min(cycles, 9e18))); }

class Maker {
 public:
  Maker(const Problem& problem, const Choice& choice, const BuiltNetlist& built, const std::vector<std::int64_t>& candidates)
      : problem_(problem),
        choice_(choice),
        built_(built),
        candidates_(candidates),
        writes_queue_(problem.ops.size(), false),
        in_pipeline_(problem.ops.size(), 0),
        limiter_(problem.ops.size(), 0),
        done_(problem.ops.size(), 0) {
    for (const QueuePlan& q : built.queues.queues)
      if (q.writer.valid()) writes_queue_[q.writer.index()] = true;
    begins_.assign(built.netlist.graphs.size(), true);
    for (const EpochSpan& span : temporal_epochs_of(problem, choice)) {
      bool is_one = false;
      for (std::int32_t e = span.first + 1; e <= span.last; ++e) is_one = is_one || takes_from_others(e);
      for (std::int32_t e = span.first + 1; e <= span.last; ++e) begins_[static_cast<std::size_t>(e)] = !is_one;
    }
  }

  void fill(PlacementReport& out) {
    std::vector<LoopedEpoch> loop;
    const auto& graphs = built_.netlist.graphs;
    const auto by_epoch = ops_by_epoch(graphs.size());
    for (std::size_t e = 0; e < graphs.size(); ++e) {
      epoch_ = static_cast<std::int32_t>(e);
      dram_bytes_ = 0;
      slowest_ = 0;
      // What runs together is one pipeline, where ops feed those of other chips.
      if (begins_[e]) pipeline_.clear();
      const std::size_t of_others = pipeline_.size();
      const double before = cost::pipeline_times(pipeline_ops()).first;
      ReportEpoch epoch;
      epoch.graph = graphs[e].name;
      epoch.chip = graphs[e].target_device;
      if (const std::int32_t inputs = graphs[e].input_count; inputs != problem_.microbatch) epoch.inputs = inputs;
      take_loads(e, by_epoch[e], graphs[e]);
      for (std::size_t at = 0; at < by_epoch[e].size(); ++at) add_op(by_epoch[e][at], graphs[e].ops[at], epoch);
      const std::int64_t busiest = add_loads(e, epoch, of_others);
      const cost::PipelineTimes times = cost::pipeline_times(pipeline_ops());
      count_interval(whole(times.interval), kBetweenOps);
      epoch.interval = slowest_;
      epoch.limiter = slowest_limiter_;
      epoch.change = whole(cost::TransferModel(*problem_.device).epoch_change(epoch.cores));
      epoch.cycles =
          epoch.change + std::max({latency(by_epoch[e]), busiest, whole(times.first - before)}) + (inputs_of(out, epoch) - 1) * slowest_;
      out.totals.most_cores = std::max(out.totals.most_cores, epoch.cores);
      loop.push_back(looped(of_others, graphs[e], epoch));
      if (slowest_ > most_) {
        most_ = slowest_;
        out.totals.bottleneck_op = epoch.slowest_op;
        out.totals.limiter = slowest_limiter_;
      }
      out.epochs.push_back(std::move(epoch));
    }
    hide_changes(loop, out);
    add_chips(out);
  }

 private:
  // Whether an op feeds one of this epoch from an earlier one.
  bool takes_from_others(std::int32_t epoch) const {
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) {
      if (choice_.ops[i].epoch != epoch) continue;
      for (std::size_t k = 0; k < problem_.ops[i].operands.size(); ++k)
        if (const OpId from = problem_.ops[i].operands[k].from.op;
            built_.queues.feeds[i][k] == kNoQueue && from.valid() && choice_.ops[from.index()].epoch != epoch)
          return true;
    }
    return false;
  }

  // The ops of an epoch alone: what ops of other chips give them comes as from queues.
  LoopedEpoch looped(std::size_t of_others, const netlist::Graph& graph, const ReportEpoch& epoch) const {
    LoopedEpoch out;
    out.ops = pipeline_ops(of_others);
    for (cost::PipelineOp& op : out.ops)
      for (cost::PipelineInput& input : op.inputs) {
        const bool is_own = input.from != cost::PipelineInput::kQueue && input.from >= of_others;
        input.from = is_own ? input.from - of_others : cost::PipelineInput::kQueue;
      }
    for (const netlist::Op& op : graph.ops) out.cores.push_back(op.occupied());
    out.chip = epoch.chip;
    out.inputs = graph.input_count;
    out.cycles = static_cast<double>(epoch.cycles - epoch.change);
    out.change = static_cast<double>(epoch.change);
    return out;
  }

  static void hide_changes(const std::vector<LoopedEpoch>& loop, PlacementReport& out) {
    const std::vector<double> hidden = hidden_changes(loop);
    for (std::size_t e = 0; e < hidden.size(); ++e) {
      ReportEpoch& epoch = out.epochs[e];
      epoch.hidden = whole(hidden[e]);
      epoch.change -= epoch.hidden;
      epoch.cycles -= epoch.hidden;
    }
  }

  void add_chips(PlacementReport& out) const {
    const StagedEpochs epochs = staged_epochs(problem_, choice_, times_of_epochs(out));
    const EpochChips chips = chips_of_epochs(problem_, choice_);
    out.totals.cycles = whole(iteration_cycles(epochs, chips));
    if (problem_.chips.size() == 1) return;
    for (const auto& [chip, cycles] : busy_cycles(epochs, chips))
      out.totals.chips.push_back({chip, std::count(chips.begin(), chips.end(), chip), whole(cycles)});
  }

  // In execution order, as the graphs of the netlist have them.
  std::vector<std::vector<OpId>> ops_by_epoch(std::size_t epochs) const {
    std::vector<std::vector<OpId>> out(epochs);
    for (std::size_t i = 0; i < problem_.ops.size(); ++i)
      out[static_cast<std::size_t>(choice_.ops[i].epoch)].push_back(OpId(static_cast<std::uint32_t>(i)));
    return out;
  }

  bool has_loads(std::size_t e) const { return e < built_.laid_out.loads.size(); }

  // Those of the epoch, where streams are laid out, with what its ops take of each other.
  void take_loads(std::size_t e, const std::vector<OpId>& ops, const netlist::Graph& graph) {
    if (!has_loads(e)) return;
    std::map<std::string, double> kernels;
    for (std::size_t i = 0; i < ops.size(); ++i) kernels[graph.ops[i].name] = choice_.ops[ops[i].index()].model.kernel_cycles;
    add_contention(loads_ = built_.laid_out.loads[e], kernels);
  }

  // Cycles that the epoch's busiest path needs for an input.
  std::int64_t add_loads(std::size_t e, ReportEpoch& epoch, std::size_t of_others) {
    if (!has_loads(e)) loads_ = loads_spread_evenly(dram_bytes_, *problem_.device);
    lay_out_pipeline(loads_, of_others);
    for (const PathLoad& p : loads_.paths) epoch.paths.push_back({p.kind, p.busiest, whole(p.most), whole(p.mean), whole(p.cycles)});
    for (const ChannelBytes& c : loads_.channels) epoch.channels.push_back({c.read, c.written, c.before, c.after});
    for (const LinkBytes& l : loads_.links) epoch.links.push_back({l.link, whole(l.bytes)});
    const PathLoad* path = loads_.slowest();
    if (path == nullptr) return 0;
    count_interval(whole(path->cycles), path->busiest);
    // An input that takes as long as the path it comes over waits for that.
    if (whole(path->cycles) == slowest_ && slowest_limiter_.starts_with("input")) slowest_limiter_ = path->busiest;
    return whole(path->cycles);
  }

  // The ops from number `begin` on are those of the present epoch.
  void lay_out_pipeline(const EpochLoads& loads, std::size_t begin) {
    const auto first = pipeline_.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<LaidOutOp> ops(first, pipeline_.end());
    add_laid_out(ops, loads, *problem_.device);
    std::copy(ops.begin(), ops.end(), first);
  }

  std::vector<cost::PipelineOp> pipeline_ops(std::size_t begin = 0) const {
    std::vector<cost::PipelineOp> out;
    for (std::size_t i = begin; i < pipeline_.size(); ++i) out.push_back(pipeline_[i].pipeline);
    return out;
  }

  // Something beside the ops that inputs cannot follow each other faster for.
  void count_interval(std::int64_t cycles, const std::string& limiter) {
    if (cycles <= slowest_) return;
    slowest_ = cycles;
    slowest_limiter_ = limiter;
  }

  void add_op(OpId id, const netlist::Op& op, ReportEpoch& epoch) {
    const OpModel& model = choice_.ops[id.index()].model;
    ReportOp r;
    r.name = op.name;
    r.node = problem_.op(id).node_name;
    r.type = netlist::op_type_name(op.type);
    r.grid_loc = op.grid_loc;
    r.grid = op.grid;
    r.transposed = op.grid_transpose;
    r.t = op.block.t;
    r.mblock = {op.block.mblock_m, op.block.mblock_n};
    r.ublock = {op.block.ublock_rt, op.block.ublock_ct};
    r.m_k = op.attributes.m_k;
    r.u_kt = op.attributes.u_kt;
    r.buf_size_mb = op.buf_size_mb;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (model.is_resident(i)) r.resident_inputs.push_back(static_cast<std::int64_t>(i));
    r.candidates = candidates_[id.index()];
    add_cycles(id, op, r);
    for (const Usage& u : usages_of_op(id, op)) {
      ReportUsage row{std::string(resource_key(u.resource)), u.used, u.available, {}};
      for (const Part& p : u.parts)
        if (p.amount > 0) row.parts.push_back({p.what, p.amount});
      r.resources.push_back(std::move(row));
    }
    const auto [running, limiter] = running_of(r.cycles, choice_.ops[id.index()].model);
    if (running > slowest_ || epoch.ops.empty()) {
      slowest_ = running;
      slowest_limiter_ = limiter;
      epoch.slowest_op = r.name;
    }
    limiter_[id.index()] = running;
    epoch.cores += op.grid.volume();
    epoch.ops.push_back(std::move(r));
  }

  // What every input of an epoch takes, without what is loaded before the first one.
  static std::pair<std::int64_t, std::string> running_of(ReportCycles cycles, const OpModel& model) {
    for (std::size_t i = 0; i < cycles.inputs.size(); ++i)
      if (model.is_resident(i)) cycles.inputs[i] = 0;
    cycles.limiter = std::max(cycles.kernel, cycles.output);
    for (std::int64_t input : cycles.inputs) cycles.limiter = std::max(cycles.limiter, input);
    return {cycles.limiter, limiter_name(cycles)};
  }

  // Those that streams were laid out for are known exactly.
  std::vector<Usage> usages_of_op(OpId id, const netlist::Op& op) const {
    std::vector<Usage> all = usages(op, built_.links[id.index()], *problem_.device, problem_.op(id).fused.get());
    auto known = built_.laid_out.usages.find(op.name);
    if (known == built_.laid_out.usages.end()) return all;
    for (Usage& estimate : all)
      for (const Usage& exact : known->second)
        if (exact.resource == estimate.resource) estimate = exact;
    return all;
  }

  void add_cycles(OpId id, const netlist::Op& op, ReportOp& r) {
    Traffic traffic;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      traffic.input_from_dram.push_back(built_.queues.feeds[id.index()][i] != kNoQueue);
      traffic.input_prologue.push_back(choice_.ops[id.index()].model.is_resident(i));
    }
    traffic.output_to_dram = writes_queue_[id.index()];
    traffic.inputs_per_epoch = inputs_of_op(problem_, id);
    OpCycles c = estimate(op, choice_.ops[id.index()].model.kernel_cycles, traffic, *problem_.device);
    if (has_loads(static_cast<std::size_t>(epoch_))) take_ways(op.name, traffic, loads_, c);
    r.cycles.kernel = whole(c.kernel);
    for (double in : c.inputs) r.cycles.inputs.push_back(whole(in));
    r.cycles.output = whole(c.output);
    r.cycles.limiter = whole(c.limiter());
    r.limiter = limiter_name(r.cycles);
    dram_bytes_ += c.dram_bytes;
    add_to_pipeline(id, op, traffic, c);
  }

  void add_to_pipeline(OpId id, const netlist::Op& op, const Traffic& traffic, const OpCycles& c) {
    LaidOutOp out{op.name, pipeline_op(op, c.kernel, traffic.output_to_dram ? c.output : 0), {}, c.bytes_before};
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (traffic.input_prologue[i]) continue;
      const OpId from = problem_.op(id).operands[i].from.op;
      out.operands.push_back(i);
      out.pipeline.inputs.push_back(traffic.input_from_dram[i] ? queue_input(op, i, c.inputs[i], *problem_.device)
                                                               : pipeline_input(op, i, built_.links[id.index()].inputs[i].flow,
                                                                                in_pipeline_[from.index()], *problem_.device));
    }
    in_pipeline_[id.index()] = pipeline_.size();
    pipeline_.push_back(std::move(out));
  }

  // Until the first input is through: the longest way through the epoch's ops, each taking an input as a whole.
  std::int64_t latency(const std::vector<OpId>& ops) {
    std::int64_t most = 0;
    for (OpId id : ops) {
      std::int64_t start = 0;
      for (const Operand& operand : problem_.op(id).operands)
        if (OpId from = operand.from.op; from.valid() && choice_.ops[from.index()].epoch == epoch_)
          start = std::max(start, done_[from.index()]);
      done_[id.index()] = start + limiter_[id.index()];
      most = std::max(most, done_[id.index()]);
    }
    return most;
  }

  const Problem& problem_;
  const Choice& choice_;
  const BuiltNetlist& built_;
  const std::vector<std::int64_t>& candidates_;
  std::vector<bool> writes_queue_;        // by op
  std::vector<bool> begins_;              // by epoch: whether its ops are not in one pipeline with those before it
  std::vector<LaidOutOp> pipeline_;       // of the epoch, and of those that feed it
  std::vector<std::size_t> in_pipeline_;  // by op: its number there
  std::vector<std::int64_t> limiter_;     // by op
  std::vector<std::int64_t> done_;        // by op: cycles from the begin of its epoch until the first input is through
  std::int32_t epoch_ = 0;
  EpochLoads loads_;       // of the present epoch
  double dram_bytes_ = 0;  // of one input, of the epoch's ops
  std::int64_t slowest_ = 0, most_ = -1;
  std::string slowest_limiter_;
};

ReportQueue queue_row(const Problem& problem, const QueuePlan& q) {
  ReportQueue row;
  row.name = q.queue.name;
  row.role = role_name(q.role);
  row.chip = q.queue.target_device;
  row.entries = q.queue.entries;
  row.grid = q.queue.grid;
  row.bytes = buffer_bytes(q.queue, *problem.device).value_or(0) * static_cast<std::uint64_t>(q.queue.grid.volume());
  row.prologue = q.prologue;
  if (q.writer.valid()) row.writer = problem.op(q.writer).op.name;
  std::set<OpId> named;
  for (const OpUse& use : q.readers)
    if (named.insert(use.op).second) row.readers.push_back(problem.op(use.op).op.name);
  if (q.life) row.epochs = {q.life->first, q.life->last};
  if (q.queue.location == netlist::QueueLocation::dram)
    for (const auto& buffer : q.queue.buffers) row.channels.push_back(buffer.channel);
  return row;
}

}  // namespace

std::int64_t inputs_of(const PlacementReport& report, const ReportEpoch& epoch) {
  return epoch.inputs > 0 ? epoch.inputs : report.microbatch;
}

std::vector<EpochTime> times_of_epochs(const PlacementReport& report) {
  std::vector<EpochTime> out;
  for (const ReportEpoch& epoch : report.epochs) {
    const auto interval = static_cast<double>(epoch.interval);
    const auto inputs = static_cast<double>(inputs_of(report, epoch));
    out.push_back({static_cast<double>(epoch.cycles) - (inputs - 1) * interval, interval, inputs});
  }
  return out;
}

PlacementReport make_report(const Problem& problem, const Choice& choice, const BuiltNetlist& built,
                            const std::vector<std::int64_t>& candidates, const std::string& policy) {
  PlacementReport out;
  out.model = problem.name;
  out.device = problem.device->name;
  out.policy = policy;
  out.microbatch = problem.microbatch;
  out.batch = problem.batch * problem.batches;
  out.max_batches = max_batches(problem);
  out.totals.ops = static_cast<std::int64_t>(problem.ops.size());
  out.totals.epochs = choice.epochs();
  out.totals.chip_cores = problem.device->grid().volume();
  out.totals.idle_chips = std::max<std::int64_t>(problem.device->chips - static_cast<std::int64_t>(problem.chips.size()), 0);
  Maker(problem, choice, built, candidates).fill(out);
  double seconds = static_cast<double>(std::max<std::int64_t>(out.totals.cycles, 1)) / (problem.device->cost.clock_ghz * 1e9);
  out.totals.inputs_per_second = three_digits(static_cast<double>(problem.batch * problem.batches) / seconds);
  if (is_training_step(problem)) add_phases(problem, choice, built.queues, out);
  for (const DramChannelUse& channel : built.dram) out.totals.dram.push_back({channel.chip, channel.used, channel.capacity});
  for (const QueuePlan& q : built.queues.queues) {
    out.queues.push_back(queue_row(problem, q));
    if (q.role == QueueRole::parameter || q.role == QueueRole::constant) out.totals.parameter_bytes += out.queues.back().bytes;
  }
  return out;
}

}  // namespace buda::balance
