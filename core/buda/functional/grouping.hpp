// SPDX-License-Identifier: Apache-2.0
// Which graphs run together: those that feed each other.
#pragma once

#include <buda/arith/graph_plan.hpp>
#include <buda/runtime/programs/schedule.hpp>

#include <cstddef>

namespace buda::functional {

class FeedingGraphs final : public runtime::Grouping {
 public:
  // Both must outlive it.
  FeedingGraphs(const netlist::Netlist& netlist, const arith::Plans& plans) : netlist_(netlist), plans_(plans) {}

  std::size_t group_of(std::size_t graph) const override { return plans_.graphs.at(graph).group; }
  std::size_t graphs_in(std::size_t group) const override { return plans_.groups[group].graphs.size(); }
  // What shares a queue keeps its turn.
  bool has_to_precede(std::size_t waiting, std::size_t next) const override;
  Result<void> may_execute_in_part(std::size_t) const override { return success(); }

 private:
  const netlist::Netlist& netlist_;
  const arith::Plans& plans_;
};

}  // namespace buda::functional
