// SPDX-License-Identifier: Apache-2.0
// Chooses the network of multicasts.
#include <buda/pipes/plan/multicast.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

Result<Multicast> multicast_of(const netlist::Netlist& netlist, const netlist::Op& op, std::size_t input, MulticastAxis axis) {
  bool second = false;
  if (const netlist::FusedOp* fused = op.type == netlist::OpType::fused_op ? fused_op_of(netlist, op) : nullptr) {
    int rows = 0, columns = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const netlist::OperandRole role = operand_use(op, fused, i).operand->role;
      if (role != netlist::OperandRole::left && role != netlist::OperandRole::right) continue;
      int& count = role == netlist::OperandRole::left ? rows : columns;
      if (i == input) second = count > 0;
      ++count;
    }
    int multicasts = (op.grid.cols > 1 ? rows : 0) + (op.grid.rows > 1 ? columns : 0);
    if (multicasts > 2) {
      Diagnostic d = input_error("PP008", netlist.loc(op.places.self),
                                 cat("op '", op.name, "': ", multicasts, " inputs of the fused op are multicast; at most two can be"));
      d.node = op.name;
      d.hint = "split the fused op, or give it a grid with one row or one column";
      return d;
    }
  }
  MulticastAxis noc1_axis = op.grid_transpose ? MulticastAxis::row : MulticastAxis::column;
  return Multicast{axis, (axis == noc1_axis) != second};
}

}  // namespace buda::pipes
