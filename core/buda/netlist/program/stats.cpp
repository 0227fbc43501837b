// SPDX-License-Identifier: Apache-2.0
// Counting.
#include <buda/netlist/program/stats.hpp>

#include <buda/netlist/model/op_shapes.hpp>
#include <buda/netlist/program/plan.hpp>

namespace buda::netlist {
namespace {

void count_queue(const Queue& q, NetlistStats& s) {
  ++(q.kind == QueueKind::ram ? s.rams : s.queues);
  if (q.from_outside()) ++s.host_fed;
  s.chips.insert(q.target_device);
  ++s.by_format[std::string(format_name(q.format))].queues;
  if (!q.alias.empty()) return;
  std::uint64_t bytes = buffer_bytes(q) * static_cast<std::uint64_t>(q.grid.volume());
  (q.location == QueueLocation::host ? s.host_bytes : s.dram_bytes) += bytes;
}

void count_op(const Op& op, NetlistStats& s) {
  ++s.ops;
  auto& c = s.by_type[std::string(op_type_name(op.type))];
  ++c.ops;
  c.cores += op.grid.volume();
  c.tiles += op.shape().volume();
  ++s.by_format[std::string(format_name(op.out_format))].outputs;
  ++s.by_fidelity[std::string(fidelity_name(op.fidelity))];
}

}  // namespace

NetlistStats stats_of(const Netlist& netlist) {
  NetlistStats s;
  for (const Queue& q : netlist.queues) count_queue(q, s);
  s.graphs = netlist.graphs.size();
  for (const Graph& g : netlist.graphs) {
    s.chips.insert(g.target_device);
    for (const Op& op : g.ops) count_op(op, s);
  }
  s.fused_ops = netlist.fused_ops.size();
  for (const FusedOp& f : netlist.fused_ops)
    for (const auto& schedule : f.schedules) s.sub_ops += schedule.size();
  s.programs = netlist.programs.size();
  for (const Program& p : netlist.programs) {
    s.instructions += p.instructions.size();
    for (const auto& i : p.instructions) s.executes += std::holds_alternative<instruction::Execute>(i.what) ? 1 : 0;
  }
  std::int64_t executed = 0;
  auto ran = plan_programs(netlist, {}, [&](const PlanStep& step) {
    executed += step.kind == PlanStep::Kind::execute ? 1 : 0;
    return success();
  });
  if (ran) s.epochs = executed;
  if (auto epochs = static_epochs(netlist)) s.different_epochs = static_cast<std::int64_t>(epochs->size());
  return s;
}

}  // namespace buda::netlist
