// SPDX-License-Identifier: Apache-2.0
// The op of the netlist in other formats, and its kernel.
#include <buda/compiler/accuracy/raise_cost.hpp>

#include <buda/cost/kernel_cycles.hpp>

#include <algorithm>
#include <cstdint>

namespace buda::compiler {
namespace {

// Bytes of a tile row that a link of the network takes a cycle.
constexpr double kLinkBytes = 32;

netlist::MathFidelity fidelity_of(graph::MathFidelity f) {
  return netlist::fidelity_from_name(graph::fidelity_name(f)).value_or(netlist::MathFidelity::hifi4);
}

netlist::Op raised(netlist::Op op, const RaisedOp& to) {
  if (to.raise.fidelity) op.fidelity = fidelity_of(*to.raise.fidelity);
  if (to.raise.accumulate) op.acc_format = op.intermed_format = *to.raise.accumulate;
  if (to.raise.output) op.out_format = *to.raise.output;
  for (const std::size_t i : to.sources)
    if (to.raise.sources && i < op.inputs.size()) op.inputs[i].format = *to.raise.sources;
  return op;
}

double bytes_of(double tiles, DataFormat format) { return tiles * 1024 * bits_per_datum(format) / 8; }

// Of the result, and of operands that are read from queues.
double extra_bytes(const netlist::Op& op, const netlist::Op& now, const netlist::Netlist& netlist) {
  const auto tiles = static_cast<double>(op.shape().volume());
  double out = bytes_of(tiles, op.out_format) - bytes_of(tiles, now.out_format);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    for (const netlist::Queue& queue : netlist.queues)
      if (queue.name == op.inputs[i].name && op.inputs[i].format != now.inputs[i].format) {
        const auto read = static_cast<double>(queue.shape().volume());
        out += bytes_of(read, op.inputs[i].format) - bytes_of(read, now.inputs[i].format);
      }
  return out;
}

}  // namespace

double raise_cost(const RaisedOp& to, const Trial& placed, const device::DeviceDescriptor& device) {
  const netlist::Netlist& netlist = placed.netlist;
  const auto name = placed.ops.find(to.name);
  if (name == placed.ops.end()) return 1;
  for (std::size_t g = 0; g < netlist.graphs.size(); ++g)
    for (const netlist::Op& now : netlist.graphs[g].ops) {
      if (now.name != name->second) continue;
      const netlist::Op then = raised(now, to);
      const auto fused = std::find_if(netlist.fused_ops.begin(), netlist.fused_ops.end(),
                                      [&](const netlist::FusedOp& f) { return f.id == now.attributes.fused_op_id; });
      const netlist::FusedOp* body = fused == netlist.fused_ops.end() ? nullptr : &*fused;
      const double before = cost::kernel_cycles(now, body, device).total, after = cost::kernel_cycles(then, body, device).total;
      const double cores = static_cast<double>(now.grid.rows) * now.grid.cols;
      double out = std::max(0.0, after - before) * cores + extra_bytes(then, now, netlist) / kLinkBytes;
      for (const balance::ReportEpoch& epoch : placed.report.epochs)
        if (epoch.graph == netlist.graphs[g].name && after > static_cast<double>(epoch.interval))
          out += (after - std::max(before, static_cast<double>(epoch.interval))) * static_cast<double>(epoch.cores);
      return std::max(1.0, out);
    }
  return 1;
}

}  // namespace buda::compiler
