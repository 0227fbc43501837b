// SPDX-License-Identifier: Apache-2.0
// Follows the program interpreter and keeps the write pointers of queues, which no program names.
#include <buda/netlist/program/plan.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/index.hpp>

#include <map>
#include <optional>
#include <set>

namespace buda::netlist {
namespace {

// The queues of a graph.
struct GraphQueues {
  std::vector<std::size_t> reads, writes;
};

class Planner final : public ProgramEvents {
 public:
  Planner(const Netlist& netlist, const std::function<Result<void>(const PlanStep&)>& take)
      : netlist_(netlist), index_(netlist), take_(take), graphs_(netlist.graphs.size()), write_pointers_(netlist.queues.size(), 0) {
    for (std::size_t q = 0; q < netlist.queues.size(); ++q)
      if (auto op = index_.op(netlist.queues[q].input)) graphs_[op->graph].writes.push_back(q);
    for (std::size_t g = 0; g < netlist.graphs.size(); ++g) {
      std::set<std::size_t> seen;
      for (const Op& op : netlist.graphs[g].ops)
        for (const OpInput& input : op.inputs)
          if (auto q = index_.queue(input.name); q && seen.insert(*q).second) graphs_[g].reads.push_back(*q);
    }
  }

  void begin(std::size_t program) { step_.program = program; }

  Result<void> execute(const Execution& execution) override {
    std::map<std::size_t, const ResolvedSetting*> settings;
    for (const ResolvedSetting& s : execution.settings) settings[s.queue] = &s;
    auto setting_of = [&](std::size_t q) -> const ResolvedSetting* {
      auto it = settings.find(q);
      return it == settings.end() ? nullptr : it->second;
    };
    const Graph& graph = netlist_.graphs[execution.graph];
    const GraphQueues& queues = graphs_[execution.graph];
    step_.kind = PlanStep::Kind::execute;
    step_.graph = execution.graph;
    step_.accesses.clear();
    for (std::size_t q : queues.reads) step_.accesses.push_back(read(q, setting_of(q)));
    for (std::size_t q : queues.writes) step_.accesses.push_back(write(q, setting_of(q), graph.input_count));
    BUDA_TRY(take_(step_));
    ++step_.epoch;
    return success();
  }
  Result<void> allocate(std::size_t queue) override {
    write_pointers_[queue] = 0;
    return other(PlanStep::Kind::allocate, queue);
  }
  Result<void> deallocate(std::size_t queue) override { return other(PlanStep::Kind::deallocate, queue); }
  // A run cannot be stopped from here; the next event stops it.
  void read_pointer_moved(std::size_t queue, std::int32_t value) override {
    step_.pointer = value;
    auto taken = other(PlanStep::Kind::pop, queue);
    if (!taken && !stopped_) stopped_ = std::move(taken).failure();
  }
  std::optional<Failure> stopped_;

 private:
  Result<void> other(PlanStep::Kind kind, std::size_t queue) {
    step_.kind = kind;
    step_.queue = queue;
    step_.accesses.clear();
    return take_(step_);
  }

  PlanAccess read(std::size_t q, const ResolvedSetting* setting) const {
    PlanAccess out{q, false, setting, 0, 0};
    bool ram = netlist_.queues[q].kind == QueueKind::ram;
    if (setting == nullptr) {
      out.step = ram ? 0 : 1;
      return out;
    }
    out.first = (ram ? setting->rd_ptr_global : setting->rd_ptr_local).value_or(0);
    // What a prologue loads from a queue stays for all inputs.
    out.step = setting->prologue && !ram ? 0 : setting->rd_ptr_autoinc;
    return out;
  }

  PlanAccess write(std::size_t q, const ResolvedSetting* setting, std::int32_t inputs) {
    PlanAccess out{q, true, setting, 0, 0};
    const Queue& queue = netlist_.queues[q];
    if (queue.kind == QueueKind::ram) {
      if (setting == nullptr) return out;
      out.first = setting->wr_ptr_global.value_or(0);
      out.step = setting->global_wrptr_autoinc;
      return out;
    }
    out.first = write_pointers_[q];
    out.step = 1;
    if (queue.entries > 0) write_pointers_[q] = (out.first + inputs) % (2 * std::int64_t{queue.entries});
    return out;
  }

  const Netlist& netlist_;
  Index index_;
  const std::function<Result<void>(const PlanStep&)>& take_;
  std::vector<GraphQueues> graphs_;
  std::vector<std::int64_t> write_pointers_;  // by queue, in [0, 2 * entries)
  PlanStep step_;
};

// The parameters of a program: those that are given, and 1 for the others.
ProgramParameters parameters_of(const ProgramVm& vm, const std::string& program, const ProgramParameters& given,
                                std::set<std::string>& used) {
  ProgramParameters out;
  for (const std::string& name : vm.parameters(program)) {
    auto it = given.find(name);
    if (it == given.end()) it = given.find(name.substr(1));
    if (it != given.end()) used.insert(it->first);
    out[name] = it == given.end() ? 1 : it->second;
  }
  return out;
}

}  // namespace

std::int64_t PlanAccess::slot(std::int64_t input, std::int32_t entries) const {
  if (entries < 1) return -1;
  std::int64_t slot = (first + input * step) % entries;
  return slot < 0 ? slot + entries : slot;
}

Result<void> plan_programs(const Netlist& netlist, const PlanOptions& options, const std::function<Result<void>(const PlanStep&)>& take) {
  BUDA_ASSIGN(ProgramVm vm, ProgramVm::make(netlist));
  std::vector<std::string> programs = options.programs;
  if (programs.empty())
    for (const Program& p : netlist.programs) programs.push_back(p.name);
  std::set<std::string> used;
  std::vector<ProgramParameters> parameters;
  for (const auto& name : programs) parameters.push_back(parameters_of(vm, name, options.parameters, used));
  for (const auto& [name, value] : options.parameters)
    if (used.count(name) == 0) return input_error("NL609", {netlist.file}, cat("none of the programs has a parameter '", name, '\''));
  Planner planner(netlist, take);
  Index index(netlist);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    planner.begin(index.program(programs[i]).value_or(0));
    BUDA_TRY(vm.run(programs[i], parameters[i], planner));
    if (planner.stopped_) return std::move(*planner.stopped_);
  }
  return success();
}

}  // namespace buda::netlist
