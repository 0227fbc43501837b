// SPDX-License-Identifier: Apache-2.0
// The machine that runs compiled programs.
#include <buda/netlist/program/program_vm.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/program/program_code.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace buda::netlist {

using Variables = std::vector<std::optional<std::int32_t>>;

// One run of a program, from its first instruction to its last.
class ProgramRun {
 public:
  ProgramRun(const Netlist& netlist, const std::string& name, const ProgramCode& code, const Variables& statics, std::uint64_t limit)
      : netlist_(netlist), name_(name), code_(code), limit_(limit), variables_(code.variables.size()) {
    for (std::size_t s = 0; s < statics.size(); ++s)
      if (code.classes[s] == VariableClass::fixed) variables_[s] = statics[s];
  }

  Result<void> bind(const ProgramParameters& parameters) {
    std::set<std::string> used;
    for (Slot slot : code_.parameters) {
      const std::string& name = code_.variables[slot];
      auto it = parameters.find(name);
      if (it == parameters.end()) it = parameters.find(name.substr(1));
      if (it == parameters.end()) return error({}, "NL609", cat("parameter '", name, "' has no value"));
      used.insert(it->first);
      variables_[slot] = it->second;
    }
    for (const auto& [name, value] : parameters) {
      if (used.count(name) != 0) continue;
      std::vector<std::string> known;
      for (Slot slot : code_.parameters) known.push_back(code_.variables[slot]);
      Diagnostic d = error({}, "NL609",
                           known.empty() ? cat("it has no parameters; '", name, "' is given")
                                         : cat("it has no parameter '", name, "'; known are ", join(known, ", ")));
      if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
      return d;
    }
    return success();
  }

  // False when there is nothing more to do.
  Result<bool> step(ProgramEvents& events) {
    if (at_ == code_.code.size()) return false;
    const Code& code = code_.code[at_];
    if (++steps_ > limit_) return error(code.place, "NL607", cat("it does not end within ", limit_, " steps"));
    BUDA_TRY(execute(code, events));
    return true;
  }

  // What the next run starts from, whether this one ended well or not.
  void keep_statics(Variables& statics) const {
    for (std::size_t s = 0; s < variables_.size(); ++s)
      if (code_.classes[s] == VariableClass::fixed) statics[s] = variables_[s];
  }

 private:
  Diagnostic error(SourceLocation place, std::string code, std::string message) const {
    Diagnostic d =
        input_error(std::move(code), place.line == 0 ? SourceLoc{} : netlist_.loc(place), cat("program '", name_, "': ", message));
    d.node = name_;
    return d;
  }

  Result<std::int32_t> value(const Operand& operand) const {
    if (!operand.is_variable) return operand.immediate;
    if (variables_[operand.slot]) return *variables_[operand.slot];
    return error(operand.place, "NL604", cat("variable '", code_.variables[operand.slot], "' is read before it has a value"));
  }

  Result<void> execute(const Code& code, ProgramEvents& events) {
    switch (code.kind) {
      case Code::Kind::declare:
        for (const auto& [slot, first] : code.variables)
          if (code.declared != VariableClass::fixed || !variables_[slot]) variables_[slot] = first;
        break;
      case Code::Kind::compute:
        BUDA_TRY(compute(code, events));
        break;
      case Code::Kind::loop: {
        BUDA_ASSIGN(std::int32_t count, value(code.operands[0]));
        if (count < 1) return error(code.operands[0].place, "NL606", cat("a loop runs at least once, not ", count, " times"));
        loops_.push_back(count);
        break;
      }
      case Code::Kind::end_loop:
        if (--loops_.back() > 0) {
          at_ = code.target + 1;
          return success();
        }
        loops_.pop_back();
        break;
      case Code::Kind::allocate:
        for (std::size_t queue : code.queues) BUDA_TRY(events.allocate(queue));
        break;
      case Code::Kind::deallocate:
        for (std::size_t queue : code.queues) BUDA_TRY(events.deallocate(queue));
        break;
      case Code::Kind::execute:
        BUDA_TRY(execute_graph(code, events));
        break;
    }
    ++at_;
    return success();
  }

  Result<void> compute(const Code& code, ProgramEvents& events) {
    BUDA_ASSIGN(std::int32_t first, value(code.operands[0]));
    std::int64_t a = first, b = 0;
    if (code.operands.size() > 1) {
      BUDA_ASSIGN(b, value(code.operands[1]));
    }
    std::int64_t old = variables_[code.out].value_or(0);
    std::int64_t result = a;
    switch (code.op) {
      case VarOp::set:
        break;
      case VarOp::add:
        result = a + b;
        break;
      case VarOp::mul:
        result = a * b;
        break;
      case VarOp::inc:
        result = old + a;
        break;
      case VarOp::incwrap:
        if (b < 1) return error(code.operands[1].place, "NL608", cat("incwrap by modulus ", b, "; it has to be at least 1"));
        result = (old + (a >= 0 ? a : a + (-a + b - 1) / b * b)) % b;
        break;
    }
    if (result < std::numeric_limits<std::int32_t>::min() || result > std::numeric_limits<std::int32_t>::max())
      return error(code.place, "NL608", cat("'", code_.variables[code.out], "' becomes ", result, ", which does not fit in 32 bits"));
    variables_[code.out] = static_cast<std::int32_t>(result);
    if (auto bound = readers_.find(code.out); bound != readers_.end())
      for (std::size_t queue : bound->second) events.read_pointer_moved(queue, *variables_[code.out]);
    return success();
  }

  Result<void> flag(const std::optional<Operand>& operand, bool& out) const {
    if (!operand) return success();
    BUDA_ASSIGN(std::int32_t v, value(*operand));
    out = v != 0;
    return success();
  }
  template <class T>
  Result<void> number(const std::optional<Operand>& operand, T& out) const {
    if (!operand) return success();
    BUDA_ASSIGN(out, value(*operand));
    return success();
  }

  Result<void> execute_graph(const Code& code, ProgramEvents& events) {
    execution_.graph = code.target;
    execution_.settings.clear();
    for (const SettingCode& s : code.settings) {
      ResolvedSetting r;
      r.queue = s.queue;
      bool is_queue = netlist_.queues[s.queue].kind == QueueKind::queue;
      r.rd_ptr_autoinc = is_queue ? 1 : 0;
      r.global_wrptr_autoinc = is_queue ? 1 : 0;
      BUDA_TRY(flag(s.prologue, r.prologue));
      BUDA_TRY(flag(s.epilogue, r.epilogue));
      BUDA_TRY(flag(s.zero, r.zero));
      BUDA_TRY(flag(s.read_only, r.read_only));
      BUDA_TRY(number(s.rd_ptr_local, r.rd_ptr_local));
      BUDA_TRY(number(s.rd_ptr_global, r.rd_ptr_global));
      BUDA_TRY(number(s.wr_ptr_global, r.wr_ptr_global));
      BUDA_TRY(number(s.rd_ptr_autoinc, r.rd_ptr_autoinc));
      BUDA_TRY(number(s.global_rdptr_autoinc, r.global_rdptr_autoinc));
      BUDA_TRY(number(s.global_wrptr_autoinc, r.global_wrptr_autoinc));
      execution_.settings.push_back(r);
      bind_reader(s);
    }
    return events.execute(execution_);
  }

  // From now on the queue's read pointer follows the variable that this setting takes it from.
  void bind_reader(const SettingCode& s) {
    if (auto old = read_pointers_.find(s.queue); old != read_pointers_.end()) {
      readers_[old->second].erase(s.queue);
      read_pointers_.erase(old);
    }
    if (!s.rd_ptr_global || !s.rd_ptr_global->is_variable) return;
    read_pointers_[s.queue] = s.rd_ptr_global->slot;
    readers_[s.rd_ptr_global->slot].insert(s.queue);
  }

  const Netlist& netlist_;
  const std::string& name_;
  const ProgramCode& code_;
  std::uint64_t limit_;
  Variables variables_;
  std::vector<std::int32_t> loops_;                // rounds left of the open loops
  std::map<std::size_t, Slot> read_pointers_;      // by queue: the variable that its read pointer follows
  std::map<Slot, std::set<std::size_t>> readers_;  // the same by variable
  std::size_t at_ = 0;
  std::uint64_t steps_ = 0;
  Execution execution_;
};

struct ProgramVm::State {
  explicit State(const Netlist& netlist) : index(netlist) {}

  void end_run() {
    if (run) run->keep_statics(statics[running]);
    run.reset();
  }

  Index index;
  std::vector<ProgramCode> programs;
  std::vector<Variables> statics;  // by program and slot
  std::uint64_t step_limit = kDefaultStepLimit;
  std::optional<ProgramRun> run;
  std::size_t running = 0;  // the program of `run`
};

ProgramVm::ProgramVm(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramVm::ProgramVm(ProgramVm&&) noexcept = default;
ProgramVm& ProgramVm::operator=(ProgramVm&&) noexcept = default;
ProgramVm::~ProgramVm() = default;

Result<ProgramVm> ProgramVm::make(const Netlist& netlist) {
  auto state = std::make_unique<State>(netlist);
  std::vector<Diagnostic> errors;
  for (const Program& p : netlist.programs) state->programs.push_back(compile_program(p, state->index, errors));
  if (!errors.empty()) return Failure(std::move(errors));
  ProgramVm vm(std::move(state));
  vm.reset();
  return vm;
}

void ProgramVm::reset() {
  state_->run.reset();
  state_->statics.clear();
  for (const ProgramCode& code : state_->programs) state_->statics.emplace_back(code.variables.size());
}

void ProgramVm::set_step_limit(std::uint64_t steps) { state_->step_limit = steps; }

Result<void> ProgramVm::run(const std::string& program, const ProgramParameters& parameters, ProgramEvents& events) {
  BUDA_TRY(start(program, parameters));
  for (bool more = true; more;) {
    BUDA_ASSIGN(more, step(events));
  }
  return success();
}

Result<void> ProgramVm::start(const std::string& program, const ProgramParameters& parameters) {
  const Netlist& netlist = state_->index.netlist();
  auto index = state_->index.program(program);
  if (!index) {
    std::vector<std::string> known;
    for (const Program& p : netlist.programs) known.push_back(p.name);
    Diagnostic d = input_error("NL611", {netlist.file}, cat("there is no program '", program, "'; there are ", join(known, ", ")));
    if (auto near = nearest_word(program, known)) d.hint = cat("did you mean '", *near, "'?");
    return d;
  }
  state_->end_run();
  ProgramRun run(netlist, netlist.programs[*index].name, state_->programs[*index], state_->statics[*index], state_->step_limit);
  BUDA_TRY(run.bind(parameters));
  state_->run.emplace(std::move(run));
  state_->running = *index;
  return success();
}

Result<bool> ProgramVm::step(ProgramEvents& events) {
  if (!state_->run) return false;
  auto more = state_->run->step(events);
  if (!more || !*more) state_->end_run();
  return more;
}

std::vector<std::string> ProgramVm::parameters(const std::string& program) const {
  std::vector<std::string> out;
  if (auto index = state_->index.program(program))
    for (Slot slot : state_->programs[*index].parameters) out.push_back(state_->programs[*index].variables[slot]);
  return out;
}

std::optional<std::int32_t> ProgramVm::static_value(const std::string& program, const std::string& variable) const {
  auto index = state_->index.program(program);
  if (!index) return std::nullopt;
  const ProgramCode& code = state_->programs[*index];
  for (std::size_t s = 0; s < code.variables.size(); ++s)
    if (code.variables[s] == variable && code.classes[s] == VariableClass::fixed) return state_->statics[*index][s];
  return std::nullopt;
}

namespace {
constexpr std::size_t kMaxEpochs = 10'000;
}

Result<std::vector<StaticEpoch>> static_epochs(const Netlist& netlist) {
  struct Collector final : ProgramEvents {
    std::vector<StaticEpoch> epochs;
    std::size_t program = 0;
    // Graph, and queue * 4 + prologue * 2 + epilogue in queue order.
    std::set<std::pair<std::size_t, std::vector<std::size_t>>> seen;

    Result<void> execute(const Execution& e) override {
      std::vector<std::size_t> key;
      for (const auto& s : e.settings) key.push_back(s.queue * 4 + (s.prologue ? 2u : 0u) + (s.epilogue ? 1u : 0u));
      std::sort(key.begin(), key.end());
      if (seen.emplace(e.graph, std::move(key)).second) epochs.push_back({program, e.graph, e.settings});
      if (epochs.size() > kMaxEpochs)
        return input_error("NL607", {}, cat("the programs execute more than ", kMaxEpochs, " different epochs"));
      return success();
    }
  };
  BUDA_ASSIGN(ProgramVm vm, ProgramVm::make(netlist));
  Collector collector;
  for (std::size_t p = 0; p < netlist.programs.size(); ++p) {
    collector.program = p;
    ProgramParameters ones;
    for (const auto& name : vm.parameters(netlist.programs[p].name)) ones[name] = 1;
    BUDA_TRY(vm.run(netlist.programs[p].name, ones, collector));
  }
  return std::move(collector.epochs);
}

}  // namespace buda::netlist
