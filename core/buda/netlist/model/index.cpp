// SPDX-License-Identifier: Apache-2.0
// Builds the index.
#include <buda/netlist/model/index.hpp>

namespace buda::netlist {

Index::Index(const Netlist& netlist) : netlist_(&netlist) {
  for (std::size_t i = 0; i < netlist.queues.size(); ++i) queues_.emplace(netlist.queues[i].name, i);
  for (std::size_t i = 0; i < netlist.programs.size(); ++i) programs_.emplace(netlist.programs[i].name, i);
  for (std::size_t i = 0; i < netlist.fused_ops.size(); ++i) fused_.emplace(netlist.fused_ops[i].id, i);
  for (std::size_t g = 0; g < netlist.graphs.size(); ++g) {
    graphs_.emplace(netlist.graphs[g].name, g);
    for (std::size_t o = 0; o < netlist.graphs[g].ops.size(); ++o) ops_.emplace(netlist.graphs[g].ops[o].name, OpRef{g, o});
  }
}

const Queue* Index::find_queue(std::string_view name) const {
  auto i = queue(name);
  return i ? &netlist_->queues[*i] : nullptr;
}

const Op* Index::find_op(std::string_view name) const {
  auto ref = op(name);
  return ref ? &netlist_->graphs[ref->graph].ops[ref->op] : nullptr;
}

const FusedOp* Index::find_fused_op(std::string_view id) const {
  auto i = fused_op(id);
  return i ? &netlist_->fused_ops[*i] : nullptr;
}

}  // namespace buda::netlist
