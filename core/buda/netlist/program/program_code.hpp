// SPDX-License-Identifier: Apache-2.0
// Programs with names replaced by numbers, ready to run. Internal to this module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::netlist {

using Slot = std::uint32_t;  // of a variable

struct Operand {
  bool is_variable = false;
  Slot slot = 0;
  std::int32_t immediate = 0;
  SourceLocation place;  // of the value in a queue setting, of the whole instruction elsewhere
};

enum class VariableClass : std::uint8_t { undeclared, param, local, fixed };

struct SettingCode {
  std::size_t queue = 0;
  std::optional<Operand> prologue, epilogue, zero, read_only;
  std::optional<Operand> rd_ptr_local, rd_ptr_global, wr_ptr_global;
  std::optional<Operand> rd_ptr_autoinc, global_rdptr_autoinc, global_wrptr_autoinc;
};

struct Code {
  enum class Kind : std::uint8_t { declare, compute, loop, end_loop, allocate, deallocate, execute };
  Kind kind = Kind::declare;
  SourceLocation place;
  VariableClass declared = VariableClass::local;         // declare
  std::vector<std::pair<Slot, std::int32_t>> variables;  // declare: with first values
  VarOp op = VarOp::set;                                 // compute
  Slot out = 0;                                          // compute
  std::vector<Operand> operands;                         // compute: arguments; loop: its count
  std::size_t target = 0;                                // loop: its end; end_loop: its start; execute: graph
  std::vector<std::size_t> queues;                       // allocate, deallocate
  std::vector<SettingCode> settings;                     // execute
};

struct ProgramCode {
  std::vector<std::string> variables;  // names by slot
  std::vector<VariableClass> classes;  // by slot
  std::vector<Slot> parameters;
  std::vector<Code> code;
};

// Reports NL601 to NL605 and NL610 into `errors`; what cannot be compiled is left out.
ProgramCode compile_program(const Program& program, const Index& index, std::vector<Diagnostic>& errors);

}  // namespace buda::netlist
