// Why an epoch takes its time: each action knows what let it begin, so a walk back from the last one is the chain of causes.
#include <buda/sim/summary.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::sim {
namespace {

using perf::EpochSummary;

// Streams of all cores of an op count together.
std::string stream_of_op(const Machine& m, const StreamState& s) {
  const std::string& name = m.op_of(s);
  const std::string op = name.empty() ? std::string("cores that pass tiles on") : cat('\'', name, '\'');
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

// What an action adds to the chain is about.
std::string cause_of(const Machine& m, const Action& a) {
  if (a.kind == Action::Kind::step) return cat("kernel of '", m.kernels[a.entity].op->name, '\'');
  if (a.kind == Action::Kind::load) return "loading of kernels and stream programs";
  if (a.kind == Action::Kind::host) return cat("the host, which serves queue '", m.blob->dram[a.entity].queue, '\'');
  const char* what = a.kind == Action::Kind::read ? "reads of " : a.kind == Action::Kind::write ? "writes of " : "tiles of ";
  return cat(what, stream_of_op(m, m.streams[a.entity]), " over ", m.fabric.resources()[a.slowest].name);
}

std::vector<EpochSummary::Cause> causes_of(const Machine& m) {
  if (m.actions.count() == 0) return {};
  // The last of the actions whose end is the end of the epoch, and back over a quarter of it if there are inputs enough.
  const Ticks from = m.inputs >= 8 ? m.now - m.now / 4 : 0;
  struct CausePart {
    Ticks time = 0;
    int sharing = 1;
  };
  std::map<std::string, CausePart> parts;
  Ticks all = 0;
  std::uint32_t last = m.actions.count() - 1;
  for (std::uint32_t id = last, seen = 0; seen < 4096 && m.actions.find(id) != nullptr; --id, ++seen)
    if (m.actions.find(id)->end > m.actions.find(last)->end) last = id;
  for (const Link& link : chain_of(m.actions, last, from)) {
    CausePart& part = parts[cause_of(m, *link.action)];
    part.time += link.time;
    part.sharing = std::max<int>(part.sharing, link.action->sharing);
    if (link.after > 0) parts["latency of the networks"].time += link.after;
    all += link.time + link.after;
  }
  std::vector<EpochSummary::Cause> out;
  for (const auto& [what, part] : parts)
    out.push_back({part.sharing > 1 ? cat(what, ", shared by up to ", part.sharing) : what,
                   all == 0 ? 0 : static_cast<double>(part.time) / static_cast<double>(all)});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return out;
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
      out.back().waits_for_tiles.assign(k.operands.size(), 0);
    }
    EpochSummary::Op& op = out[it->second];
    ++op.cores;
    op.busy += static_cast<double>(k.busy_time) / time;
    op.waits_for_room += static_cast<double>(k.room_time) / time;
    for (std::size_t i = 0; i < k.tile_time.size(); ++i) op.waits_for_tiles[i] += static_cast<double>(k.tile_time[i]) / time;
    op.kernel = std::max(op.kernel, perf::SimTime{k.plan.input_time});
  }
  for (EpochSummary::Op& op : out) {
    const auto cores = static_cast<double>(op.cores);
    op.busy /= cores;
    op.waits_for_room /= cores;
    for (double& w : op.waits_for_tiles) w /= cores;
  }
  return out;
}

// From the first input to the last, where that is longest.
Ticks period_of(const Machine& m) {
  if (m.inputs < 2) return m.now;
  Ticks period = 0;
  for (const KernelState& k : m.kernels)
    if (k.last_step > k.first_input_done) period = std::max(period, (k.last_step - k.first_input_done) / static_cast<Ticks>(m.inputs - 1));
  return period;
}

}  // namespace

perf::EpochSummary summary_of(const Machine& m, const std::string& graph) {
  perf::EpochSummary out;
  out.graph = graph;
  out.inputs = m.inputs;
  out.time = out.total = {m.now};
  out.period = {period_of(m)};
  out.causes = causes_of(m);
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
