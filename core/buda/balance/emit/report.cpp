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
#include <buda/balance/emit/program.hpp>
#include <buda/balance/emit/report_summary.hpp>
#include <buda/balance/problem/fused.hpp>
#include <buda/balance/queues/dram.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/transfer_model.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace buda::balance {

const schema::Record<ReportPart>& describe(const ReportPart*) {
  static const auto record = schema::Record<ReportPart>("a part of a sum")
                                 .required("what", &ReportPart::what, "what takes it")
                                 .required("amount", &ReportPart::amount, "how much");
  return record;
}

const schema::Record<ReportUsage>& describe(const ReportUsage*) {
  static const auto record =
      schema::Record<ReportUsage>("a resource of one core")
          .required("resource", &ReportUsage::resource,
                    "l1, l1_pipegen2, dest, streams, multicasts, dram_inputs, dram_outputs, dram_buffers, dram_reads, fan_out, phases")
          .required("used", &ReportUsage::used, "what the op takes of it")
          .required("available", &ReportUsage::available, "what a core has")
          .optional("parts", &ReportUsage::parts, "what `used` is made of");
  return record;
}

const schema::Record<ReportCycles>& describe(const ReportCycles*) {
  static const auto record = schema::Record<ReportCycles>("expected cycles of one input")
                                 .required("kernel", &ReportCycles::kernel, "of the kernel, with its data at hand")
                                 .required("inputs", &ReportCycles::inputs, "to bring each input to a core")
                                 .required("output", &ReportCycles::output, "to take the result away")
                                 .required("limiter", &ReportCycles::limiter, "the largest of all: what the op takes in a full pipeline");
  return record;
}

std::string limiter_name(const ReportCycles& cycles) {
  if (cycles.kernel == cycles.limiter) return "kernel";
  for (std::size_t i = 0; i < cycles.inputs.size(); ++i)
    if (cycles.inputs[i] == cycles.limiter) return cat("input ", i);
  return "output";
}

const schema::Record<ReportOp>& describe(const ReportOp*) {
  static const auto record =
      schema::Record<ReportOp>("an op")
          .required("name", &ReportOp::name, "name in the netlist")
          .required("node", &ReportOp::node, "name in the graph")
          .optional("layers", &ReportOp::layers, "nodes of the model whose work it does")
          .required("type", &ReportOp::type, "op type")
          .required("grid_loc", &ReportOp::grid_loc, "worker at its top left")
          .required("grid", &ReportOp::grid, "cores, rows by columns")
          .optional("transposed", &ReportOp::transposed, "whether its grid is transposed")
          .required("t", &ReportOp::t, "mblocks in sequence")
          .required("mblock", &ReportOp::mblock, "ublocks of an mblock, rows by columns")
          .required("ublock", &ReportOp::ublock, "tiles of a ublock, rows by columns")
          .optional("m_k", &ReportOp::m_k, "steps of the inner dimension")
          .optional("u_kt", &ReportOp::u_kt, "tiles of such a step")
          .required("buf_size_mb", &ReportOp::buf_size_mb, "mblocks of the output buffer")
          .optional("resident_inputs", &ReportOp::resident_inputs, "inputs that are loaded before the epoch and kept in L1")
          .required("candidates", &ReportOp::candidates, "legal implementations that the policy chose from")
          .required("cycles", &ReportOp::cycles, "expected cycles of one input")
          .optional("limiter", &ReportOp::limiter, "what these are the time of: kernel, input N or output")
          .required("resources", &ReportOp::resources, "what one of its cores takes");
  return record;
}

const schema::Record<ReportPath>& describe(const ReportPath*) {
  static const auto record =
      schema::Record<ReportPath>("the busiest path of a kind; bytes and cycles of one input, without what is loaded before the first one")
          .required("kind", &ReportPath::kind, "DRAM, NoC, port, PCIe or Ethernet")
          .required("busiest", &ReportPath::busiest, "which one it is")
          .required("bytes", &ReportPath::bytes, "that pass through it")
          .required("mean", &ReportPath::mean, "bytes that pass through one of the chip's, on average")
          .required("cycles", &ReportPath::cycles, "expected cycles that it needs");
  return record;
}

const schema::Record<ReportLink>& describe(const ReportLink*) {
  static const auto record = schema::Record<ReportLink>("bytes on one link of a network for one input")
                                 .required("link", &ReportLink::link, "from which node to which, of which network")
                                 .required("bytes", &ReportLink::bytes, "that pass over it");
  return record;
}

const schema::Record<ReportBound>& describe(const ReportBound*) {
  static const auto record =
      schema::Record<ReportBound>("a lower bound of the cycles of plans")
          .required("cycles", &ReportBound::cycles, "that no plan can beat, in one iteration of the program's loop")
          .required("gap", &ReportBound::gap, "by how many percent the plan's cycles are above it")
          .optional("limiter", &ReportBound::limiter, "what of the problem it follows from: cores, slowest op or DRAM");
  return record;
}

const schema::Record<ReportTraffic>& describe(const ReportTraffic*) {
  static const auto record = schema::Record<ReportTraffic>("bytes of all inputs of an epoch in a channel of DRAM")
                                 .required("read", &ReportTraffic::read, "while the epoch runs")
                                 .required("written", &ReportTraffic::written, "while the epoch runs")
                                 .required("before", &ReportTraffic::before, "read before it")
                                 .required("after", &ReportTraffic::after, "written after it");
  return record;
}

const schema::Record<ReportEpoch>& describe(const ReportEpoch*) {
  static const auto record =
      schema::Record<ReportEpoch>("an epoch")
          .required("graph", &ReportEpoch::graph, "name in the netlist")
          .optional("chip", &ReportEpoch::chip, "number of its chip; without it, 0")
          .required("cores", &ReportEpoch::cores, "workers that have an op")
          .required("cycles", &ReportEpoch::cycles, "expected cycles of one iteration of the program's loop, with the change to this epoch")
          .optional("change", &ReportEpoch::change, "of these, the cycles of the change to this epoch")
          .optional("hidden", &ReportEpoch::hidden, "cycles of the change that pass while the epoch before still works")
          .optional("interval", &ReportEpoch::interval, "expected cycles between its inputs")
          .optional("limiter", &ReportEpoch::limiter,
                    "what the interval is the time of: kernel, input N or output of the slowest op, a DRAM "
                    "channel or link, or buffers between ops")
          .optional("bound", &ReportEpoch::bound, "cycles that the same ops take in one epoch at least")
          .optional("gap", &ReportEpoch::gap, "by how many percent the epoch's cycles are above the bound")
          .optional("ended_by", &ReportEpoch::ended_by, "why the next op of the schedule is not in the epoch")
          .optional("between_chips", &ReportEpoch::between_chips,
                    "of an epoch that takes what another chip makes at the same time: `direct`, or why it takes it from queues")
          .optional("paths", &ReportEpoch::paths, "the busiest path of each kind on which anything moves")
          .optional("channels", &ReportEpoch::channels, "what each channel of DRAM moves, in order")
          .optional("links", &ReportEpoch::links, "the busiest links of the networks, the busiest first")
          .required("slowest_op", &ReportEpoch::slowest_op, "the op that limits the epoch")
          .required("ops", &ReportEpoch::ops, "its ops, in execution order");
  return record;
}

const schema::Record<ReportQueue>& describe(const ReportQueue*) {
  static const auto record = schema::Record<ReportQueue>("a queue or ram")
                                 .required("name", &ReportQueue::name, "name in the netlist")
                                 .required("role", &ReportQueue::role, "input, output, parameter, constant, epoch-to-epoch or buffering")
                                 .optional("chip", &ReportQueue::chip, "number of the chip in whose memory it lies; without it, 0")
                                 .required("entries", &ReportQueue::entries, "slots")
                                 .required("grid", &ReportQueue::grid, "buffers, rows by columns")
                                 .required("bytes", &ReportQueue::bytes, "of all buffers, headers included")
                                 .optional("prologue", &ReportQueue::prologue, "whether its readers load it before the epoch")
                                 .optional("writer", &ReportQueue::writer, "the op that writes it; without it, the host does")
                                 .optional("readers", &ReportQueue::readers, "the ops that read it; without them, the host does")
                                 .optional("channels", &ReportQueue::channels,
                                           "the DRAM channel of each of its buffers; without it, they are in the host's memory")
                                 .optional("epochs", &ReportQueue::epochs,
                                           "of a dynamic queue: the first and the last epoch in which it has memory; without it, it has "
                                           "its memory always");
  return record;
}

const schema::Record<ReportChannel>& describe(const ReportChannel*) {
  static const auto record = schema::Record<ReportChannel>("a channel of DRAM")
                                 .optional("chip", &ReportChannel::chip, "number of its chip; without it, 0")
                                 .required("used", &ReportChannel::used, "bytes of queues")
                                 .required("capacity", &ReportChannel::capacity, "bytes that queues may have");
  return record;
}

const schema::Record<ReportChip>& describe(const ReportChip*) {
  static const auto record =
      schema::Record<ReportChip>("a chip")
          .required("chip", &ReportChip::chip, "its number")
          .required("epochs", &ReportChip::epochs, "epochs that it runs")
          .required("cycles", &ReportChip::cycles, "expected cycles that it is busy in one iteration of the program's loop");
  return record;
}

const schema::Record<ReportTotals>& describe(const ReportTotals*) {
  static const auto record =
      schema::Record<ReportTotals>("the sums")
          .required("ops", &ReportTotals::ops, "ops")
          .required("epochs", &ReportTotals::epochs, "epochs")
          .required("chip_cores", &ReportTotals::chip_cores, "workers of the chip")
          .required("most_cores", &ReportTotals::most_cores, "workers in use in the fullest epoch")
          .required("cycles", &ReportTotals::cycles,
                    "expected cycles of one iteration of the program's loop; on several chips those of the slowest chip")
          .optional("chips", &ReportTotals::chips, "where there are several: the chips that have epochs, by number")
          .optional("idle_chips", &ReportTotals::idle_chips, "chips of the device that the plan may not use")
          .required("inputs_per_second", &ReportTotals::inputs_per_second, "what follows from the cycles and the clock")
          .required("bottleneck_op", &ReportTotals::bottleneck_op, "the slowest op")
          .optional("limiter", &ReportTotals::limiter,
                    "what limits it: kernel, input N or output, or a path of its epoch: DRAM channel N, a link")
          .optional("schedule_bound", &ReportTotals::schedule_bound, "for plans whose epochs are sections of the schedule")
          .optional("universal_bound", &ReportTotals::universal_bound, "for all plans")
          .optional("parameter_bytes", &ReportTotals::parameter_bytes, "bytes of the queues of parameters and constants")
          .required("dram", &ReportTotals::dram, "channels of the chip, in order, chip after chip");
  return record;
}

const schema::Record<ReportGiven>& describe(const ReportGiven*) {
  static const auto record = schema::Record<ReportGiven>("the plan of a netlist whose ops were placed anew")
                                 .required("epochs", &ReportGiven::epochs, "epochs")
                                 .required("cycles", &ReportGiven::cycles, "expected cycles of one iteration of the program's loop")
                                 .required("gap", &ReportGiven::gap, "by how many percent they are above the universal bound")
                                 .required("speedup", &ReportGiven::speedup, "how many times the cycles of the new plan they are")
                                 .required("limiter", &ReportGiven::limiter, "its longest epoch, and what limits that");
  return record;
}

const schema::Record<PlacementReport>& describe(const PlacementReport*) {
  static const auto record =
      schema::Record<PlacementReport>("a placement report", {"buda.placement-report", 1})
          .required("model", &PlacementReport::model, "name of the graph")
          .required("device", &PlacementReport::device, "device that it was placed for")
          .required("policy", &PlacementReport::policy, "policy that placed it")
          .required("microbatch", &PlacementReport::microbatch, "inputs that one iteration of the program's loop processes")
          .optional("batch", &PlacementReport::batch, "inputs that these are: the model's batch")
          .optional("given", &PlacementReport::given, "the plan that the ops had before")
          .required("totals", &PlacementReport::totals, "sums over all epochs")
          .required("epochs", &PlacementReport::epochs, "epochs in order")
          .required("queues", &PlacementReport::queues, "queues and rams in the netlist's order");
  return record;
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
      take_loads(e, by_epoch[e], graphs[e]);
      for (std::size_t at = 0; at < by_epoch[e].size(); ++at) add_op(by_epoch[e][at], graphs[e].ops[at], epoch);
      const std::int64_t busiest = add_loads(e, epoch, of_others);
      const cost::PipelineTimes times = cost::pipeline_times(pipeline_ops());
      count_interval(whole(times.interval), kBetweenOps);
      epoch.interval = slowest_;
      epoch.limiter = slowest_limiter_;
      epoch.change = whole(cost::TransferModel(*problem_.device).epoch_change(epoch.cores));
      epoch.cycles =
          epoch.change + std::max({latency(by_epoch[e]), busiest, whole(times.first - before)}) + (problem_.microbatch - 1) * slowest_;
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
    out.inputs = problem_.microbatch;
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
    traffic.inputs_per_epoch = problem_.microbatch;
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

std::string cell(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

std::vector<EpochTime> times_of_epochs(const PlacementReport& report) {
  std::vector<EpochTime> out;
  for (const ReportEpoch& epoch : report.epochs) {
    const auto interval = static_cast<double>(epoch.interval);
    out.push_back({static_cast<double>(epoch.cycles) - (report.microbatch - 1) * interval, interval});
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
  out.totals.ops = static_cast<std::int64_t>(problem.ops.size());
  out.totals.epochs = choice.epochs();
  out.totals.chip_cores = problem.device->grid().volume();
  out.totals.idle_chips = std::max<std::int64_t>(problem.device->chips - static_cast<std::int64_t>(problem.chips.size()), 0);
  Maker(problem, choice, built, candidates).fill(out);
  double seconds = static_cast<double>(std::max<std::int64_t>(out.totals.cycles, 1)) / (problem.device->cost.clock_ghz * 1e9);
  out.totals.inputs_per_second = three_digits(static_cast<double>(problem.batch * problem.batches) / seconds);
  for (const DramChannelUse& channel : built.dram) out.totals.dram.push_back({channel.chip, channel.used, channel.capacity});
  for (const QueuePlan& q : built.queues.queues) {
    out.queues.push_back(queue_row(problem, q));
    if (q.role == QueueRole::parameter || q.role == QueueRole::constant) out.totals.parameter_bytes += out.queues.back().bytes;
  }
  return out;
}

std::string report_text(const PlacementReport& report) { return io::json_pretty(schema::write(report)); }

std::vector<std::string> report_table(const PlacementReport& report) {
  std::size_t name = 2, graph = 5;
  for (const auto& e : report.epochs) {
    graph = std::max(graph, e.graph.size());
    for (const auto& op : e.ops) name = std::max(name, op.name.size());
  }
  auto row = [&](std::string g, std::string n, std::string type, std::string grid, std::string at, std::string l1, std::string cycles) {
    std::string line = cell(std::move(g), graph + 2) + cell(std::move(n), name + 2) + cell(std::move(type), 13) + cell(std::move(grid), 8) +
                       cell(std::move(at), 10) + cell(std::move(l1), 6) + std::move(cycles);
    return line;
  };
  std::vector<std::string> out{row("epoch", "op", "type", "grid", "at", "L1", "cycles")};
  for (const auto& e : report.epochs)
    for (const auto& op : e.ops) {
      const ReportUsage& l1 = op.resources.front();
      std::string share = l1.available == 0 ? "-" : cat(l1.used * 100 / l1.available, '%');
      out.push_back(row(e.graph, op.name, op.type, cat(op.grid.rows, 'x', op.grid.cols, op.transposed ? "^T" : ""),
                        cat('[', op.grid_loc.row, ", ", op.grid_loc.col, ']'), std::move(share), cat(op.cycles.limiter)));
    }
  for (std::string& line : report_summary(report)) out.push_back(std::move(line));
  return out;
}

}  // namespace buda::balance
