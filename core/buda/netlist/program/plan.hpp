// SPDX-License-Identifier: Apache-2.0
// Programs unrolled: every epoch that they execute, and where it reads and writes.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/program/program_vm.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace buda::netlist {

// One queue of an executed graph. Input i of the epoch uses slot (first + i * step) mod entries.
struct PlanAccess {
  std::size_t queue = 0;                     // in Netlist::queues
  bool writes = false;                       // a queue that is read and written is listed twice
  const ResolvedSetting* setting = nullptr;  // null: the execute says nothing of it
  std::int64_t first = 0;                    // pointer before it wraps: the queue's own for a written queue, else that of the setting
  std::int64_t step = 0;
  std::int64_t slot(std::int64_t input, std::int32_t entries) const;  // -1 without entries
};

struct PlanStep {
  enum class Kind { execute, allocate, deallocate, pop };
  Kind kind = Kind::execute;
  std::size_t program = 0;           // in Netlist::programs
  std::size_t epoch = 0;             // of execute: how many were executed before
  std::size_t graph = 0;             // of execute, in Netlist::graphs
  std::vector<PlanAccess> accesses;  // of execute: reads in the order of the graph's ops, then writes
  std::size_t queue = 0;             // of the others
  std::int32_t pointer = 0;          // of pop: what the queue's global read pointer has become
};

struct PlanOptions {
  std::vector<std::string> programs;  // in this order; empty: all in file order, each once
  ProgramParameters parameters;       // those that are not named are 1, as for TT-Buda's net2pipe
};

// Runs the programs and hands each step to `take`, whose failure ends the run. What a step points to lives as long as the call of `take`.
// A parameter that no program has is an error (NL609), and so is a program that does not exist (NL611). Linear in the steps executed.
Result<void> plan_programs(const Netlist& netlist, const PlanOptions& options, const std::function<Result<void>(const PlanStep&)>& take);

}  // namespace buda::netlist
