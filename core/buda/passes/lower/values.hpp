// SPDX-License-Identifier: Apache-2.0
// The device values of a tensor graph's values, as far as it is lowered, and the nodes that could not be lowered.
#pragma once

#include <buda/graph/values/value_table.hpp>
#include <buda/passes/layout/rearrangement.hpp>
#include <buda/passes/lower/known_placement.hpp>
#include <buda/passes/lower/lower_graph.hpp>

#include <array>
#include <map>
#include <set>
#include <vector>

namespace buda::passes {

// The argument of a maximum along c, whose padding may have been made very negative: a later subtraction of that maximum from the argument
// reads this value instead, so that the padding of the difference is very negative as well (rules/reduce.cpp).
struct MaximumArgument {
  graph::NodeId maximum;
  graph::ValueRef of;  // the argument, in the tensor graph
  Lowered x;
  bool is_masked = false;
};

// What becomes of the dependents of a node that cannot be lowered: they are left out, or they are lowered with its results as inputs of the
// device, so that all nodes that cannot be lowered are found.
enum class Dependents : std::uint8_t { left_out, lowered };

class Values {
 public:
  // `task`, `views` (of inputs, analysis.hpp) and `out` must outlive it.
  Values(const LoweringTask& task, const std::map<graph::NodeId, Rearrangement>& views, Dependents dependents, graph::Graph& out);

  KnownValues& known() { return known_; }
  const KnownValues& known() const { return known_; }

  // The device value. Known values are placed, and reshapes and transposes are lowered, when they are first asked for: a chain of them is
  // often possible where its first step alone would not be.
  Result<Lowered> of(const graph::Edge& edge);
  // A known value, replicated through its tile.
  Result<Lowered> placed(graph::ValueRef value, Copies copies);
  void set(graph::ValueRef value, Lowered lowered) { values_.set(value, std::move(lowered)); }

  const MaximumArgument* maximum_argument(graph::ValueRef of) const;
  void set_maximum_argument(MaximumArgument argument) { maximum_arguments_.insert_or_assign(argument.of, std::move(argument)); }

  // Notes that a node cannot be lowered.
  void fail(const graph::Node& n, Failure why);
  // That a node is left out because of its input `cause`.
  void leave_out(const graph::Node& n, const graph::Node& cause);
  bool has_failed(graph::NodeId id) const { return failed_.contains(id); }
  const Failure& failure() const { return failure_; }
  std::vector<Refusal> take_refusals() { return std::move(refused_); }

 private:
  Result<Lowered> rearranged_result(const graph::Node& n);
  Result<void> enter(const graph::Node& n);

  const LoweringTask& task_;
  const std::map<graph::NodeId, Rearrangement>& views_;
  Dependents dependents_;
  graph::Graph& out_;
  KnownValues known_;
  graph::ValueTable<Lowered> values_;
  std::array<graph::ValueTable<Lowered>, kCopiesForms> placed_;  // by Copies
  std::map<graph::ValueRef, MaximumArgument> maximum_arguments_;
  std::set<graph::NodeId> failed_;
  Failure failure_;
  std::vector<Refusal> refused_;
};

}  // namespace buda::passes
