// SPDX-License-Identifier: Apache-2.0
// Programs: which graphs run, in which order, and the queue pointers meanwhile.
#pragma once

#include <buda/netlist/model/op_types.hpp>
#include <buda/netlist/model/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

// A variable ("$lptr") or a number; true and false are 1 and 0.
struct Value {
  std::string variable;
  std::int32_t immediate = 0;
  bool is_variable() const { return !variable.empty(); }
  static Value number(std::int32_t v) { return {"", v}; }
  static Value of(std::string name) { return {std::move(name), 0}; }
  friend bool operator==(const Value&, const Value&) = default;
};

// What one execute says of a queue; absent values take the queue kind's defaults.
struct QueueSetting {
  std::string queue;
  std::optional<Value> prologue, epilogue, zero, read_only;  // absent = false
  std::optional<Value> rd_ptr_local, rd_ptr_global, wr_ptr_global;
  std::optional<Value> rd_ptr_autoinc, global_rdptr_autoinc, global_wrptr_autoinc;
  SourceLocations places;
  friend bool operator==(const QueueSetting& a, const QueueSetting& b);
};

namespace instruction {
struct Param {
  std::vector<std::string> names;
  friend bool operator==(const Param&, const Param&) = default;
};
// `var` or, kept from run to run, `staticvar`.
struct Var {
  bool is_static = false;
  std::vector<std::pair<std::string, std::int32_t>> values;
  friend bool operator==(const Var&, const Var&) = default;
};
struct VarInst {
  std::string out;
  VarOp op{};
  std::vector<Value> args;
  friend bool operator==(const VarInst&, const VarInst&) = default;
};
struct Loop {
  Value count;
  friend bool operator==(const Loop&, const Loop&) = default;
};
struct EndLoop {
  friend bool operator==(const EndLoop&, const EndLoop&) = default;
};
struct Allocate {
  std::vector<std::string> queues;
  friend bool operator==(const Allocate&, const Allocate&) = default;
};
struct Deallocate {
  std::vector<std::string> queues;
  friend bool operator==(const Deallocate&, const Deallocate&) = default;
};
struct Execute {
  std::string graph;
  std::vector<QueueSetting> settings;
  friend bool operator==(const Execute&, const Execute&) = default;
};
}  // namespace instruction

struct Instruction {
  std::variant<instruction::Param, instruction::Var, instruction::VarInst, instruction::Loop, instruction::EndLoop, instruction::Allocate,
               instruction::Deallocate, instruction::Execute>
      what;
  SourceLocation place;
  // Of the names and values in `what`, in order (for an execute: of the graph's name); none for an instruction that a program made.
  std::vector<SourceLocation> parts = {};

  // Of one of them; without it the instruction's own.
  SourceLocation part(std::size_t index) const { return index < parts.size() ? parts[index] : place; }
  friend bool operator==(const Instruction& a, const Instruction& b) { return a.what == b.what; }
};

struct Program {
  // Compiled in one place (docs/decisions/0021).
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  std::string name;
  std::vector<Instruction> instructions;
  SourceLocations places;
  friend bool operator==(const Program&, const Program&) = default;
};

}  // namespace buda::netlist

#pragma GCC visibility pop
