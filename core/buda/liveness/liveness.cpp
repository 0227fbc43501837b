// SPDX-License-Identifier: Apache-2.0
// Epoch by epoch: layout, decision, explanation, remedy.
#include <buda/liveness/liveness.hpp>

#include <buda/base/text.hpp>
#include <buda/diag/parallel_results.hpp>
#include <buda/liveness/epoch_decision.hpp>
#include <buda/liveness/fork_joins.hpp>
#include <buda/liveness/mend.hpp>
#include <buda/liveness/queue_entries.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace buda::liveness {
namespace {

using netlist::Netlist;

std::string path_of(const std::vector<std::string>& ops) {
  std::string out;
  for (const std::string& op : ops) out += cat(out.empty() ? "'" : " -> '", op, '\'');
  return out;
}

std::string text_of(const FullBuffer& b) {
  switch (b.kind) {
    case FullBuffer::Kind::input:
      return cat("input ", b.operand, " of '", b.op, "' holds ", b.fill, " of ", b.capacity, " tiles");
    case FullBuffer::Kind::output:
      return cat("the output of '", b.op, "' holds ", b.fill, " of ", b.capacity, " tiles");
    case FullBuffer::Kind::queue:
      break;
  }
  return cat("queue '", b.op, "' has ", b.capacity, " entries");
}

SourceLoc place_of(const Netlist& netlist, const std::string& op) {
  for (const auto& graph : netlist.graphs)
    for (const auto& candidate : graph.ops)
      if (candidate.name == op) return netlist.loc(candidate.places.self);
  return {netlist.file};
}

Diagnostic diagnose(const Netlist& netlist, const EpochLiveness& epoch, const Deadlock& deadlock) {
  const std::string which = cat("epoch ", epoch.epoch, " ('", join(epoch.graphs, "', '"), "')");
  const bool at_queue = deadlock.pairs.empty() && deadlock.cycle.size() == 1;
  Diagnostic d = input_error(at_queue ? "LV002" : "LV001", {netlist.file}, "");
  if (!deadlock.pairs.empty()) {
    const BlockedPair& pair = deadlock.pairs.front();
    d.loc = place_of(netlist, pair.join);
    d.node = pair.join;
    d.message = cat(which, " deadlocks after ", epoch.ran, " of ", epoch.inputs, " inputs: join '", pair.join,
                    "' waits for tiles that fork '", pair.fork, "' cannot give, because the other path between them is full");
    d.data = {{"fork", pair.fork}, {"join", pair.join}};
  } else if (at_queue) {
    d.message = cat(which, " stops after ", epoch.ran, " of ", epoch.inputs, " inputs: nothing in the epoch gives what it waits for");
  } else {
    d.message = cat(which, " deadlocks after ", epoch.ran, " of ", epoch.inputs, " inputs");
  }
  d.data.emplace_back("epoch", std::to_string(epoch.epoch));
  for (const BlockedPair& pair : deadlock.pairs) {
    d.notes.push_back({{}, cat("without tiles: ", path_of(pair.starved))});
    d.notes.push_back({{}, cat("full: ", path_of(pair.full))});
  }
  for (const FullBuffer& buffer : deadlock.full) d.notes.push_back({{}, text_of(buffer)});
  for (const Waiting& wait : deadlock.cycle) d.notes.push_back({{}, wait.text});
  return d;
}

void add_hint(Diagnostic& d, const Netlist& netlist, const std::vector<Change>& changes) {
  if (changes.empty()) {
    d.hint = "no larger buffers that fit mend it: one path can pass through a queue and a later graph";
    return;
  }
  d.hint = in_netlist(netlist, changes);
  d.data.emplace_back("mend", d.hint);
}

// By an op of the epoch, in the order of the netlist.
std::vector<std::string> read_of(const Netlist& netlist, const pipes::Epoch& epoch, const std::set<std::size_t>& queues) {
  std::set<std::string> read;
  for (const auto* graph : epoch.graphs)
    for (const auto& op : graph->ops)
      for (const auto& in : op.inputs) read.insert(in.name);
  std::vector<std::string> out;
  for (std::size_t q : queues)
    if (read.contains(netlist.queues[q].name)) out.push_back(netlist.queues[q].name);
  return out;
}

Result<EpochLiveness> check_epoch(const Netlist& netlist, const overlay::EpochCompiler& compiler, std::size_t e, const Beginnings& all,
                                  Host& host, Remedy remedy) {
  const std::vector<EntriesByQueue>& starts = all.by_epoch[e];
  const pipes::Epoch& epoch = compiler.epochs()[e];
  EpochLiveness out;
  out.epoch = epoch.number;
  for (const auto* graph : epoch.graphs) out.graphs.push_back(graph->name);
  out.fork_joins = fork_joins(compiler.index(), epoch);
  out.given_first = read_of(netlist, epoch, all.begun);
  BUDA_ASSIGN(const pipes::PipeGraph pipes, compiler.pipes(epoch));
  BUDA_ASSIGN(const overlay::Blob blob, compiler.streams(pipes));
  for (const EntriesByQueue& entries : starts.empty() ? std::vector<EntriesByQueue>(1) : starts) {
    BUDA_ASSIGN(Decision decision, decide({compiler, epoch, pipes, blob}, entries));
    out.kernels = decision.kernels;
    out.streams = decision.streams;
    out.inputs = decision.inputs;
    out.ran = decision.ran;
    out.equals = decision.equals;
    if (!decision.deadlock) continue;
    out.deadlock = diagnose(netlist, out, *decision.deadlock);
    if (remedy == Remedy::tried) add_hint(*out.deadlock, netlist, mend(netlist, compiler.device(), host, epoch.number, *decision.deadlock));
    return out;
  }
  return out;
}

}  // namespace

Result<std::vector<EpochLiveness>> check_liveness(const Netlist& netlist, const device::DeviceDescriptor& device, Host& host,
                                                  Remedy remedy) {
  BUDA_ASSIGN(const auto compiler, overlay::EpochCompiler::make(netlist, device, "", host));
  BUDA_ASSIGN(const auto starts, beginnings(netlist, compiler.epochs()));
  return parallel_results(host.threads, compiler.epochs().size(),
                          [&](std::size_t e) { return check_epoch(netlist, compiler, e, starts, host, remedy); });
}

}  // namespace buda::liveness
