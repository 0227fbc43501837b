// SPDX-License-Identifier: Apache-2.0
// A graph made ready to run: ops in an order in which inputs come first, and for each edge where its values come from and what happens to
// them on the way.
#pragma once

#include <buda/arith/gather.hpp>
#include <buda/arith/op.hpp>

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::arith {

struct EdgePlan {
  enum class From : std::uint8_t { queue, op, other_graph };
  From from = From::queue;
  std::size_t index = 0;  // of the queue in the netlist; of the op in this graph; of the op in GraphPlan::exports of all graphs
  Gather gather;
  DataFormat convert = DataFormat::invalid;  // the format to round to, where in_df differs from the producer's
  TileDim tiles;                             // to which its tiles are brought
};

// An op's output on its way into a queue.
struct WritePlan {
  std::size_t queue = 0;
  Gather gather;
};

struct OpPlan {
  const netlist::Op* op = nullptr;
  // What is executed: `op`, with the tile size in which it works where that is not its output's.
  std::shared_ptr<const netlist::Op> work;
  // The same for one t alone, where the op is executed t by t because its inputs would be too large laid out side by side; null otherwise.
  std::shared_ptr<const netlist::Op> by_t;
  const netlist::FusedOp* fused = nullptr;  // of a fused op
  std::vector<EdgePlan> inputs;
  std::vector<WritePlan> writes;
  std::size_t uses = 0;   // by ops of this graph, for one input
  bool exported = false;  // another graph reads its output
  double flops = 0;
};

struct GraphPlan {
  const netlist::Graph* graph = nullptr;
  std::vector<OpPlan> ops;          // in the order of execution
  std::vector<std::size_t> queues;  // read by ops, each once, ascending
  std::size_t group = 0;            // of graphs that run together
};

// Graphs of which one feeds the other directly, op to op: they run at the same time, on chips of their own.
struct GraphGroup {
  std::vector<std::size_t> graphs;                         // of the netlist, ascending
  std::vector<std::pair<std::size_t, std::size_t>> order;  // graph, op in its plan: producers first
};

struct Plans {
  std::map<std::size_t, GraphPlan> graphs;  // by their index in the netlist
  std::vector<GraphGroup> groups;
};

// Plans for the graphs that programs execute. Reports everything that stands in the way, of all graphs, with
// the op's place: what this target cannot do (GD001), inputs that do not have the shape that their op needs (GD002), manipulations that do
// not apply (GD003), and names of nothing (GD004). The netlist must outlive the plans.
// Ops whose manipulated inputs have more than `most_numbers` numbers together are executed t by t, where that can be done.
Result<Plans> plan_graphs(const netlist::Netlist& netlist, std::int64_t most_numbers);

}  // namespace buda::arith

#pragma GCC visibility pop
