// SPDX-License-Identifier: Apache-2.0
// Compiles programs.
#include <buda/netlist/program/program_code.hpp>

#include <buda/base/text.hpp>

#include <map>

namespace buda::netlist {
namespace {

const char* class_name(VariableClass c) {
  switch (c) {
    case VariableClass::param:
      return "param";
    case VariableClass::local:
      return "var";
    case VariableClass::fixed:
      return "staticvar";
    case VariableClass::undeclared:
      break;
  }
  return "variable";
}

class Compiler {
 public:
  Compiler(const Program& program, const Index& index, std::vector<Diagnostic>& errors)
      : program_(program), index_(index), errors_(errors) {}

  ProgramCode run() {
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      instruction_ = &program_.instructions[i];
      std::visit([this](const auto& inst) { compile(inst); }, program_.instructions[i].what);
    }
    for (std::size_t start : loops_) {
      error("NL601", out_.code[start].place, "this loop has no endloop");
      out_.code[start].target = out_.code.size();
    }
    return std::move(out_);
  }

 private:
  void error(std::string code, std::string message) { error(std::move(code), instruction_->place, std::move(message)); }
  void error(std::string code, SourceLocation place, std::string message) {
    Diagnostic d = input_error(std::move(code), index_.netlist().loc(place), cat("program '", program_.name, "': ", message));
    d.node = program_.name;
    errors_.push_back(std::move(d));
  }

  Slot slot(const std::string& name) {
    auto [it, added] = slots_.emplace(name, static_cast<Slot>(out_.variables.size()));
    if (added) {
      out_.variables.push_back(name);
      out_.classes.push_back(VariableClass::undeclared);
    }
    return it->second;
  }

  Operand operand(const Value& value, SourceLocation place) {
    if (!value.is_variable()) return {false, 0, value.immediate, place};
    return {true, slot(value.variable), 0, place};
  }
  std::optional<Operand> operand(const QueueSetting& setting, const std::optional<Value>& value, Field field) {
    if (!value) return std::nullopt;
    return operand(*value, setting.places.of(field));
  }

  Code& emit(Code::Kind kind) {
    out_.code.emplace_back();
    out_.code.back().kind = kind;
    out_.code.back().place = instruction_->place;
    return out_.code.back();
  }

  void declare(Code& code, const std::string& name, SourceLocation place, std::int32_t value, VariableClass c) {
    Slot s = slot(name);
    VariableClass& known = out_.classes[s];
    if (known != VariableClass::undeclared && known != c)
      error("NL605", place, cat("'", name, "' is a ", class_name(known), " already and cannot become a ", class_name(c)));
    known = c;
    code.variables.emplace_back(s, value);
  }

  void compile(const instruction::Param& p) {
    if (instruction_ != &program_.instructions.front())
      error("NL610", "'param' has to be the first instruction, and the only one of its kind");
    for (std::size_t i = 0; i < p.names.size(); ++i) {
      const std::string& name = p.names[i];
      Slot s = slot(name);
      if (out_.classes[s] != VariableClass::undeclared) error("NL605", instruction_->part(i), cat("'", name, "' is declared twice"));
      out_.classes[s] = VariableClass::param;
      out_.parameters.push_back(s);
    }
  }
  void compile(const instruction::Var& v) {
    VariableClass c = v.is_static ? VariableClass::fixed : VariableClass::local;
    Code& code = emit(Code::Kind::declare);
    code.declared = c;
    for (std::size_t i = 0; i < v.values.size(); ++i) declare(code, v.values[i].first, instruction_->part(i), v.values[i].second, c);
  }
  void compile(const instruction::VarInst& v) {
    std::size_t wanted = v.op == VarOp::set || v.op == VarOp::inc ? 1 : 2;
    if (v.args.size() != wanted) {
      error("NL006", cat("'", name_of(v.op), "' takes ", wanted, " arguments, not ", v.args.size()));
      return;
    }
    Slot out = slot(v.out);
    if (out_.classes[out] == VariableClass::undeclared) out_.classes[out] = VariableClass::local;
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < v.args.size(); ++i) operands.push_back(operand(v.args[i], instruction_->part(1 + i)));
    Code& code = emit(Code::Kind::compute);
    code.op = v.op;
    code.out = out;
    code.operands = std::move(operands);
  }
  void compile(const instruction::Loop& l) {
    Operand count = operand(l.count, instruction_->part(0));
    loops_.push_back(out_.code.size());
    emit(Code::Kind::loop).operands.push_back(count);
  }
  void compile(const instruction::EndLoop&) {
    if (loops_.empty()) {
      error("NL601", "this endloop ends no loop");
      return;
    }
    std::size_t start = loops_.back();
    loops_.pop_back();
    out_.code[start].target = out_.code.size();
    emit(Code::Kind::end_loop).target = start;
  }
  std::vector<std::size_t> queues(const std::vector<std::string>& names) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (auto queue = index_.queue(names[i])) {
        out.push_back(*queue);
      } else {
        error("NL603", instruction_->part(i), cat("there is no queue '", names[i], "'"));
      }
    }
    return out;
  }
  void compile(const instruction::Allocate& a) {
    auto list = queues(a.queues);
    emit(Code::Kind::allocate).queues = std::move(list);
  }
  void compile(const instruction::Deallocate& d) {
    auto list = queues(d.queues);
    emit(Code::Kind::deallocate).queues = std::move(list);
  }
  void compile(const instruction::Execute& e) {
    auto graph = index_.graph(e.graph);
    if (!graph) error("NL602", instruction_->part(0), cat("there is no graph '", e.graph, "'"));
    std::vector<SettingCode> settings;
    for (const auto& s : e.settings) {
      auto queue = index_.queue(s.queue);
      if (!queue) {
        error("NL603", s.places.self, cat("there is no queue '", s.queue, "'"));
        continue;
      }
      settings.push_back({*queue, operand(s, s.prologue, Field::prologue), operand(s, s.epilogue, Field::epilogue),
                          operand(s, s.zero, Field::zero), operand(s, s.read_only, Field::read_only),
                          operand(s, s.rd_ptr_local, Field::rd_ptr_local), operand(s, s.rd_ptr_global, Field::rd_ptr_global),
                          operand(s, s.wr_ptr_global, Field::wr_ptr_global), operand(s, s.rd_ptr_autoinc, Field::rd_ptr_autoinc),
                          operand(s, s.global_rdptr_autoinc, Field::global_rdptr_autoinc),
                          operand(s, s.global_wrptr_autoinc, Field::global_wrptr_autoinc)});
    }
    if (!graph) return;
    Code& code = emit(Code::Kind::execute);
    code.target = *graph;
    code.settings = std::move(settings);
  }

  const Program& program_;
  const Index& index_;
  std::vector<Diagnostic>& errors_;
  ProgramCode out_;
  std::map<std::string, Slot> slots_;
  std::vector<std::size_t> loops_;
  const Instruction* instruction_ = nullptr;  // the one that is compiled
};

}  // namespace

ProgramCode compile_program(const Program& program, const Index& index, std::vector<Diagnostic>& errors) {
  return Compiler(program, index, errors).run();
}

}  // namespace buda::netlist
