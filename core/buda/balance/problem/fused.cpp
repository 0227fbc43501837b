// SPDX-License-Identifier: Apache-2.0
// Bodies, blocks and costs of fused ops.
#include <buda/balance/problem/fused.hpp>

#include <buda/balance/problem/op_attributes.hpp>
#include <buda/balance/resources/fused_blocks.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/graph/node.hpp>
#include <buda/ops/device/fused_body.hpp>

#include <utility>

namespace buda::balance {
namespace {

using netlist::SubOperand;

SubOperand operand(const ops::FusedOperand& o) {
  auto index = static_cast<std::int32_t>(o.index);
  switch (o.kind) {
    case ops::FusedOperand::Kind::input:
      return {SubOperand::Kind::input, index};
    case ops::FusedOperand::Kind::intermed:
      return {SubOperand::Kind::intermed, index};
    case ops::FusedOperand::Kind::dest:
      return {SubOperand::Kind::dest, 0};
    case ops::FusedOperand::Kind::output:
      break;
  }
  return {SubOperand::Kind::output, 0};
}

// Without blocks and id.
Result<netlist::FusedOp> schedules(const graph::AttrMap& attrs, std::size_t inputs) {
  BUDA_ASSIGN(graph::SharedBody body, ops::fused_body(attrs, inputs));
  netlist::FusedOp out;
  out.inputs = static_cast<std::int32_t>(inputs);
  out.intermediates = static_cast<std::int32_t>(body->intermediates);
  out.schedules.emplace_back();
  for (const ops::FusedSubOp& s : body->steps) {
    netlist::SubOp sub;
    sub.name = s.name;
    auto type = netlist::op_type_from_name(s.type);
    if (!type || !netlist::info(*type).sub_op) return input_error("BL003", {}, cat("'", s.type, "' cannot be part of a fused op"));
    sub.type = *type;
    BUDA_ASSIGN(sub.attributes, netlist_attributes(s.attrs, s.name, s.type));
    for (const auto& in : s.inputs) sub.inputs.push_back({operand(in), {}});
    for (const auto& p : s.pop) sub.pop.push_back(operand(p));
    sub.output = operand(s.output);
    out.schedules[0].push_back(std::move(sub));
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<const netlist::FusedOp>> fused_schedules(const graph::Node& node) {
  auto found = schedules(node.attrs, node.inputs().size());
  if (found) return std::make_shared<const netlist::FusedOp>(std::move(*found));
  Diagnostic d =
      input_error("BL003", node.loc, cat("op '", node.name(), "' (", node.op(), "): ", found.failure().diagnostics().front().message));
  d.node = node.name();
  return d;
}

double kernel_cycles_of(const netlist::Op& op, const netlist::FusedOp* fused, const device::DeviceDescriptor& device) {
  if (fused == nullptr) return cost::kernel_cycles(op, nullptr, device).total;
  const netlist::FusedOp body = with_blocks(*fused, op);
  return cost::kernel_cycles(op, &body, device).total;
}

}  // namespace buda::balance
