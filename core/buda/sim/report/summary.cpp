// SPDX-License-Identifier: Apache-2.0
// Why an epoch takes its time: each action knows what let it begin, so a walk back from the last one is the chain of causes.
#include <buda/sim/report/summary.hpp>

#include <buda/base/text.hpp>
#include <buda/sim/report/limits.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::sim {
namespace {

using perf::EpochSummary;
using Cause = EpochSummary::Cause;
using Pipe = EpochSummary::Pipe;

// Streams of all cores of an op count together.
std::string stream_of_op(const Machine& m, const StreamState& s) {
  const std::string& name = m.op_of(s);
  const std::string op = name.empty() ? std::string("relay cores") : cat('\'', name, '\'');
  switch (s.program->kind) {
    case overlay::StreamKind::input:
      return cat("input ", s.program->operand, " of ", op);
    case overlay::StreamKind::output:
    case overlay::StreamKind::fork:
      return cat("the output of ", op);
    default:
      return cat("the ", overlay::stream_kind_name(s.program->kind), " streams of ", op);
  }
}

std::string transfer_of_op(const Machine& m, const Action& a) {
  const char* what = a.kind == Action::Kind::read ? "reads of " : a.kind == Action::Kind::write ? "writes of " : "tiles of ";
  return what + stream_of_op(m, m.streams[a.entity]);
}

// What an action adds to the chain is about, without times.
Cause cause_of(const Machine& m, const Action& a) {
  Cause out;
  if (a.kind == Action::Kind::step) {
    out.kind = Cause::Kind::kernel;
    out.op = m.kernels[a.entity].op->name;
    out.what = cat("kernel of '", out.op, '\'');
    return out;
  }
  if (a.kind == Action::Kind::load) {
    out.kind = Cause::Kind::load;
    out.what = "loading of kernels and stream programs";
    return out;
  }
  if (a.kind == Action::Kind::host) {
    out.kind = Cause::Kind::host;
    out.what = cat("the host, which serves queue '", m.blob->dram[a.entity].queue, '\'');
    return out;
  }
  const StreamState& s = m.streams[a.entity];
  out.what = cat(transfer_of_op(m, a), " over ", m.fabric.resources()[a.slowest].name);
  out.kind = a.kind == Action::Kind::read ? Cause::Kind::read : a.kind == Action::Kind::write ? Cause::Kind::write : Cause::Kind::send;
  out.op = m.op_of(s);
  if (s.program->kind == overlay::StreamKind::input) out.operand = s.program->operand;
  return out;
}

// The same without the resource.
std::string group_of(const Machine& m, const Action& a) { return a.is_transfer() ? transfer_of_op(m, a) : cause_of(m, a).what; }

// The last of the actions whose end is the end of the epoch.
std::uint32_t last_action(const ActionLog& log) {
  std::uint32_t last = log.count() - 1;
  for (std::uint32_t id = last, seen = 0; seen < 4096 && log.find(id) != nullptr; --id, ++seen)
    if (log.find(id)->end > log.find(last)->end) last = id;
  return last;
}

// An epoch of many inputs ends with what the last of them still has to go through, which says nothing of its period. So of the chain over
// its second half that part is told which begins and ends with an action of the kernel or stream that is the most important: of the ops'
// kernels, inputs and outputs that one which takes most of the chain, and of its cores the one that does. What happens there between two of
// its actions happens for every input.
void keep_full_pipeline(const Machine& m, std::vector<Link>& chain) {
  using KernelOrStream = std::pair<bool, std::uint32_t>;  // whether it is a kernel, and its number
  auto longest = [](const auto& times) {
    return std::max_element(times.begin(), times.end(), [](const auto& x, const auto& y) { return x.second < y.second; })->first;
  };
  auto entity_of = [](const Link& link) { return KernelOrStream(link.action->kind == Action::Kind::step, link.action->entity); };
  std::map<std::string, std::map<KernelOrStream, Ticks>> times;
  std::map<std::string, Ticks> sums;
  for (const Link& link : chain) {
    const std::string of = group_of(m, *link.action);
    times[of][entity_of(link)] += link.time + link.after;
    sums[of] += link.time + link.after;
  }
  const KernelOrStream most = longest(times[longest(sums)]);
  auto is_most = [&](const Link& link) { return entity_of(link) == most; };
  chain.erase(chain.begin(), std::find_if(chain.begin(), chain.end(), is_most));
  // The first of its actions in time is the end of the part.
  const auto first = std::find_if(chain.rbegin(), chain.rend(), is_most).base();
  if (first - chain.begin() > 1) chain.erase(first - 1, chain.end());
}

// Between causes and what they let begin: tiles on their way, returns of credit, handshakes before a phase.
class Latency {
 public:
  void add(const Machine& m, const Link& link) {
    total_ += link.after;
    if (link.after == 0) return;
    parts_[group_of(m, *link.action)] += link.after;
  }
  void add(Ticks time) { total_ += time; }

  Ticks total() const { return total_; }
  Cause cause() const {
    Cause out;
    out.what = "latency of the networks";
    out.time.ticks = total_;
    const auto most = std::max_element(parts_.begin(), parts_.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    if (most != parts_.end()) out.what += cat(", ", static_cast<int>(100 * most->second / total_), " % of it before ", most->first);
    return out;
  }

 private:
  Ticks total_ = 0;
  std::map<std::string, Ticks> parts_;
};

// Back from the end of the epoch, over half of it if there are inputs enough.
std::vector<Cause> causes_of(const Machine& m) {
  if (m.actions.count() == 0) return {};
  const bool is_full = m.inputs >= kInputsOfAFullPipeline;
  struct Part {
    Cause cause;
    int sharing = 1;
  };
  std::map<std::string, Part> parts;
  const std::uint32_t last = last_action(m.actions);
  std::vector<Link> chain = chain_of(m.actions, last, is_full ? m.now / 2 : 0);
  if (is_full) keep_full_pipeline(m, chain);
  Latency latency;
  latency.add(is_full ? 0 : m.now - std::min(m.now, m.actions.find(last)->end));
  for (const Link& link : chain) {
    Cause cause = cause_of(m, *link.action);
    Part& part = parts[cause.what];
    cause.time.ticks = part.cause.time.ticks + link.time;
    part.cause = std::move(cause);
    part.sharing = std::max<int>(part.sharing, link.action->sharing);
    latency.add(m, link);
  }
  std::vector<Cause> out;
  for (auto& [what, part] : parts) {
    if (part.sharing > 1) part.cause.what += cat(", with up to ", part.sharing, " concurrent transfers");
    out.push_back(std::move(part.cause));
  }
  if (latency.total() > 0) out.push_back(latency.cause());
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.time > y.time; });
  return out;
}

perf::SimTime span_of(std::vector<Cause>& causes) {
  perf::SimTime span;
  for (const Cause& cause : causes) span.ticks += cause.time.ticks;
  for (Cause& cause : causes) cause.share = static_cast<double>(cause.time.ticks) / static_cast<double>(span.ticks);
  return span;
}

// `filling`: the part that passed before the pipeline was full.
void add_moving(const Machine& m, const Moving& moving, Ticks filling, double time, Pipe& pipe) {
  pipe.moving += static_cast<double>(moving.all) / time;
  pipe.dram += static_cast<double>(moving.memories) / time;
  const auto inputs = static_cast<double>(m.inputs < 2 ? 1 : m.inputs - m.filling_inputs());
  pipe.delay = pipe.delay.value_or(0) + perf::SimTime{moving.all - (m.inputs < 2 ? 0 : filling)}.cycles() / inputs;
}

// Where the tiles of an operand come from is the same on all cores.
void add_input(const Machine& m, const KernelState& k, std::size_t operand, double time, Pipe& pipe) {
  pipe.waits += static_cast<double>(k.tile_time[operand]) / time;
  add_moving(m, k.tile_moving[operand], k.tile_filling[operand], time, pipe);
  if (operand < k.op->inputs.size()) pipe.name = k.op->inputs[operand].name;
  if (k.operands[operand] == kNone) return;
  const StreamState& s = m.streams[k.operands[operand]];
  pipe.memory = pipe.memory || s.reads();
  for (StreamId from : s.receiving.senders) pipe.memory = pipe.memory || m.streams[m.streams[from].owner].reads();
  const auto tiles = static_cast<std::uint64_t>(k.plan.operands[operand].kept ? 0 : k.plan.operands[operand].tiles);
  pipe.bytes = std::max(pipe.bytes, tiles * static_cast<std::uint64_t>(s.program->message_bytes));
}

void add_output(const Machine& m, const KernelState& k, double time, Pipe& pipe) {
  pipe.waits += static_cast<double>(k.room_time) / time;
  add_moving(m, k.room_moving, k.room_filling, time, pipe);
  if (k.output == kNone) return;
  const StreamState& s = m.streams[k.output];
  for (StreamId user : s.storage.users) pipe.memory = pipe.memory || m.streams[user].writing != nullptr;
  pipe.bytes = std::max(pipe.bytes, static_cast<std::uint64_t>(k.plan.out_tiles) * static_cast<std::uint64_t>(s.program->message_bytes));
}

void take_mean(std::int64_t cores, Pipe& pipe) {
  for (double* part : {&pipe.waits, &pipe.moving, &pipe.dram}) *part /= static_cast<double>(cores);
  if (pipe.delay) *pipe.delay /= static_cast<double>(cores);
}

std::vector<EpochSummary::Op> ops_of(const Machine& m) {
  std::vector<EpochSummary::Op> out;
  std::map<const netlist::Op*, std::size_t> index;
  const double time = m.now == 0 ? 1 : static_cast<double>(m.now);
  for (const KernelState& k : m.kernels) {
    auto [it, fresh] = index.try_emplace(k.op, out.size());
    if (fresh) {
      out.emplace_back();
      out.back().name = k.op->name;
    }
    EpochSummary::Op& op = out[it->second];
    ++op.cores;
    op.busy += static_cast<double>(k.busy_time) / time;
    // Those of a core that lacks one are of the others.
    op.inputs.resize(std::max(op.inputs.size(), k.operands.size()));
    for (std::size_t i = 0; i < k.operands.size(); ++i) add_input(m, k, i, time, op.inputs[i]);
    add_output(m, k, time, op.output);
    op.kernel = std::max(op.kernel, perf::SimTime{k.plan.input_time});
  }
  for (EpochSummary::Op& op : out) {
    op.busy /= static_cast<double>(op.cores);
    for (Pipe& pipe : op.inputs) take_mean(op.cores, pipe);
    take_mean(op.cores, op.output);
  }
  return out;
}

Ticks first_input_of(const Machine& m) {
  if (m.inputs < 2) return m.now;
  Ticks out = 0;
  for (const KernelState& k : m.kernels) out = std::max(out, k.first_input_done);
  return out;
}

// Between inputs, from the one that is done at a kernel's `begin` to the last, where that is longest.
Ticks period_of(const Machine& m, Ticks KernelState::*begin, std::int64_t inputs_before) {
  if (m.inputs < 2) return m.now;
  Ticks longest = 0;
  for (const KernelState& k : m.kernels)
    if (k.last_step > k.*begin) longest = std::max(longest, k.last_step - k.*begin);
  return longest / static_cast<Ticks>(m.inputs - inputs_before);
}

}  // namespace

perf::EpochSummary summary_of(const Machine& m, const std::string& graph) {
  perf::EpochSummary out;
  out.graph = graph;
  out.inputs = m.inputs;
  out.time = out.total = {m.now};
  out.period = {period_of(m, &KernelState::period_begin, m.filling_inputs())};
  out.mean_period = {period_of(m, &KernelState::first_input_done, 1)};
  out.first_input = {first_input_of(m)};
  out.causes = causes_of(m);
  out.span = span_of(out.causes);
  out.limits = limits_of(m);
  out.ops = ops_of(m);
  out.tiles = m.tiles_moved;
  out.events = m.events.taken();
  for (ResourceId id = 0; id < m.fabric.resources().size(); ++id) {
    const Fabric::Resource& r = m.fabric.resources()[id];
    if (r.bytes > 0) out.loads.push_back({r.name, m.fabric.utilisation(id, m.now), r.bytes});
  }
  std::stable_sort(out.loads.begin(), out.loads.end(), [](const auto& a, const auto& b) { return a.utilisation > b.utilisation; });
  return out;
}

}  // namespace buda::sim
