// SPDX-License-Identifier: Apache-2.0
// Graphs at work.
#pragma once

#include <buda/arith/graph_plan.hpp>
#include <buda/arith/value.hpp>

#include <buda/netlist/program/program_vm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::functional {

using arith::EdgePlan;
using arith::GraphGroup;
using arith::GraphPlan;
using arith::Mode;
using arith::OpKind;
using arith::OpPlan;
using arith::Plans;
using arith::Value;
using arith::ValuePtr;
using arith::WritePlan;

// One execution of a graph: where each queue is read, and what the ops have made of the present input.
struct Epoch {
  struct Reader {
    std::int64_t pointer = 0;         // of the first input
    std::int64_t step = 0;            // per input
    std::int64_t published_step = 0;  // of the header's read pointer
    bool goes_round = false;          // what the queue holds is read again and again
    bool prologue = false;
    std::vector<ValuePtr> loaded;  // by input: of a prologue

    // Entries from `pointer` on, for so many inputs.
    std::int64_t needed(std::int64_t inputs) const { return (inputs - 1) * std::max<std::int64_t>(step, 0) + 1; }
  };

  const GraphPlan& plan;
  netlist::Execution execution;
  std::map<std::size_t, Reader> readers;  // by queue
  std::vector<bool> done;                 // by op: for the present input
  std::vector<ValuePtr> values;           // by op: its output for the present input
  std::vector<std::size_t> uses;          // by op: readers still to come
  std::map<std::size_t, ValuePtr> sums;   // by op: of gradient ops

  const netlist::Graph& graph() const { return *plan.graph; }
  bool takes(std::int64_t input) const { return input < graph().input_count; }
  const netlist::ResolvedSetting* setting(std::size_t queue) const {
    for (const auto& s : execution.settings)
      if (s.queue == queue) return &s;
    return nullptr;
  }
  void start_input() {
    done.assign(plan.ops.size(), false);
    values.assign(plan.ops.size(), nullptr);
    uses.clear();
    for (const OpPlan& op : plan.ops) uses.push_back(op.uses);
  }
};

// Epochs of graphs that feed each other, and how far they are.
struct Group {
  const GraphGroup& plan;
  std::map<std::size_t, Epoch> epochs;  // by graph
  std::int64_t inputs = 0;              // of the epoch with the most
  std::int64_t input = 0;               // the present one
  bool begun = false;                   // prologues are loaded

  // The epoch one of whose ops, which other graphs read, has this name.
  const Epoch* epoch_with(const std::string& op) const {
    for (const auto& [graph, epoch] : epochs)
      for (const OpPlan& plan_of_op : epoch.plan.ops)
        if (plan_of_op.exported && plan_of_op.op->name == op) return &epoch;
    return nullptr;
  }
};

}  // namespace buda::functional
