// SPDX-License-Identifier: Apache-2.0
// Follows the pointers of queues through the programs.
#include <buda/liveness/queue_entries.hpp>

#include <buda/netlist/model/index.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/programs/program_order.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace buda::liveness {
namespace {

using netlist::Execution;
using netlist::Graph;
using netlist::Netlist;
using netlist::ResolvedSetting;

// Pointers run from 0 to 2 * entries - 1, so that full and empty differ.
struct Pointers {
  std::int64_t entries = 1, read = 0, write = 0;
  std::int64_t wrapped(std::int64_t value) const { return ((value % (2 * entries)) + 2 * entries) % (2 * entries); }
  std::int64_t from(std::int64_t pointer) const { return wrapped(write - pointer); }
};

// Which queues an op of an epoch writes, and another reads, of the same epoch or of a different one.
struct Between {
  std::map<std::size_t, std::size_t> written_in, read_in;  // epoch by queue
};

class QueueRun final : public netlist::ProgramEvents {
 public:
  QueueRun(const Netlist& netlist, const std::vector<pipes::Epoch>& epochs) : netlist_(netlist), index_(netlist), out_(epochs.size()) {
    for (const netlist::Queue& queue : netlist.queues) pointers_.push_back({std::max<std::int64_t>(queue.entries, 1), 0, 0});
    for (std::size_t e = 0; e < epochs.size(); ++e)
      for (const Graph* graph : epochs[e].graphs) {
        epoch_of_[static_cast<std::size_t>(graph - netlist.graphs.data())] = e;
        graphs_in_.resize(epochs.size());
        ++graphs_in_[e];
      }
    for (std::size_t q = 0; q < netlist.queues.size(); ++q) written_by_[netlist.queues[q].input].push_back(q);
    for (const Graph& graph : netlist.graphs)
      for (const auto& op : graph.ops)
        for (const auto& in : op.inputs)
          if (auto q = queue_between(in.name)) read_by_ops_.insert(*q);
    for (std::size_t q : read_by_ops_)
      if (is_state(q)) {
        pointers_[q].write = 1;
        begun_.insert(q);
      }
  }

  Result<void> execute(const Execution& execution) override {
    const auto epoch = epoch_of_.find(execution.graph);
    if (epoch == epoch_of_.end()) return success();
    auto& waiting = waiting_[epoch->second];
    waiting.push_back(execution);
    if (waiting.size() < graphs_in_[epoch->second]) return success();
    run(epoch->second, std::exchange(waiting, {}));
    return success();
  }
  Result<void> allocate(std::size_t queue) override {
    pointers_[queue].read = pointers_[queue].write = 0;
    return success();
  }
  void read_pointer_moved(std::size_t queue, std::int32_t value) override { pointers_[queue].read = pointers_[queue].wrapped(value); }

  Beginnings take() { return {std::move(out_), std::move(begun_)}; }

 private:
  // A queue, and not a ram, that an op writes.
  std::optional<std::size_t> queue_between(const std::string& name) const {
    const auto q = index_.queue(name);
    if (!q || netlist_.queues[*q].kind == netlist::QueueKind::ram || netlist_.queues[*q].from_outside()) return std::nullopt;
    return q;
  }

  // Whether what is written follows from what is read, so that the host gives the first entry: the state of a training step.
  bool is_state(std::size_t queue) const {
    std::set<std::string> met{netlist_.queues[queue].input};
    std::vector<std::string> pending(met.begin(), met.end());
    while (!pending.empty()) {
      const netlist::Op* op = index_.find_op(pending.back());
      pending.pop_back();
      if (op == nullptr) continue;
      for (const auto& in : op->inputs) {
        const auto q = queue_between(in.name);
        if (q == queue) return true;
        const std::string& source = q ? netlist_.queues[*q].input : in.name;
        if (met.insert(source).second) pending.push_back(source);
      }
    }
    return false;
  }

  // Of these, what a graph writes and some op reads, and what it reads; each once.
  std::set<std::size_t> written_by(const Graph& graph) const {
    std::set<std::size_t> out;
    for (const auto& op : graph.ops)
      if (auto found = written_by_.find(op.name); found != written_by_.end())
        for (std::size_t q : found->second)
          if (read_by_ops_.count(q) != 0) out.insert(q);
    return out;
  }
  std::set<std::size_t> read_by(const Graph& graph) const {
    std::set<std::size_t> out;
    for (const auto& op : graph.ops)
      for (const auto& in : op.inputs)
        if (auto q = queue_between(in.name)) out.insert(*q);
    return out;
  }

  void run(std::size_t epoch, const std::vector<Execution>& executions) {
    EntriesByQueue entries;
    std::set<std::size_t> written;
    for (const Execution& execution : executions) written.merge(written_by(netlist_.graphs[execution.graph]));
    for (const Execution& execution : executions) {
      const Graph& graph = netlist_.graphs[execution.graph];
      for (std::size_t q : read_by(graph)) entries[q] = read_entries(execution, q, inputs_of(graph), written.count(q) != 0);
    }
    for (const Execution& execution : executions) {
      const Graph& graph = netlist_.graphs[execution.graph];
      for (std::size_t q : written_by(graph)) {
        const std::int64_t room = pointers_[q].entries - pointers_[q].from(pointers_[q].read);
        entries.try_emplace(q, QueueEntries{kEndless, kEndless, 0}).first->second.room = room >= inputs_of(graph) ? kEndless : room;
      }
    }
    for (const Execution& execution : executions) advance(execution);
    auto& known = out_[epoch];
    if (std::find(known.begin(), known.end(), entries) == known.end()) known.push_back(std::move(entries));
  }

  // To where the pointers are when it has ended.
  void advance(const Execution& execution) {
    const Graph& graph = netlist_.graphs[execution.graph];
    for (std::size_t q : written_by(graph)) pointers_[q].write = pointers_[q].wrapped(pointers_[q].write + inputs_of(graph));
    for (const ResolvedSetting& setting : execution.settings) {
      Pointers& p = pointers_[setting.queue];
      p.read = p.wrapped(p.read + inputs_of(graph) * setting.global_rdptr_autoinc);
    }
  }

  static std::int64_t inputs_of(const Graph& graph) { return std::max(graph.input_count, 1); }

  QueueEntries read_entries(const Execution& execution, std::size_t q, std::int64_t inputs, bool written) {
    Pointers& p = pointers_[q];
    QueueEntries out{kEndless, kEndless, 0};
    std::int64_t pointer = p.read, step = 1;
    for (const ResolvedSetting& setting : execution.settings) {
      if (setting.queue != q) continue;
      if (setting.rd_ptr_global) p.read = p.wrapped(*setting.rd_ptr_global);
      pointer = setting.rd_ptr_local.value_or(static_cast<std::int32_t>(p.read));
      step = setting.prologue ? 0 : setting.rd_ptr_autoinc;
      out.frees = setting.global_rdptr_autoinc;
    }
    if (!written) return out;
    const std::int64_t there = p.from(p.wrapped(pointer)) > p.entries ? 0 : p.from(p.wrapped(pointer));
    const std::int64_t ready = step <= 0 ? (there > 0 ? inputs : 0) : (there + step - 1) / step;
    out.ready = ready >= inputs ? kEndless : ready;
    return out;
  }

  static constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
  const Netlist& netlist_;
  netlist::Index index_;
  std::vector<Pointers> pointers_;
  std::map<std::size_t, std::size_t> epoch_of_;  // by graph
  std::vector<std::size_t> graphs_in_;
  std::map<std::string, std::vector<std::size_t>> written_by_;
  std::set<std::size_t> read_by_ops_, begun_;
  std::map<std::size_t, std::vector<Execution>> waiting_;  // for others of their epochs
  std::vector<std::vector<EntriesByQueue>> out_;
};

}  // namespace

Result<Beginnings> beginnings(const Netlist& netlist, const std::vector<pipes::Epoch>& epochs) {
  BUDA_ASSIGN(auto vm, netlist::ProgramVm::make(netlist));
  QueueRun events(netlist, epochs);
  for (const netlist::Program* program : runtime::program_order(netlist)) {
    netlist::ProgramParameters ones;
    for (const auto& name : vm.parameters(program->name)) ones[name] = 1;
    BUDA_TRY(vm.run(program->name, ones, events));
  }
  return events.take();
}

}  // namespace buda::liveness
