// SPDX-License-Identifier: Apache-2.0
// The estimates are those with which the balancer chooses.
#include <buda/ops/table/op_traits.hpp>
#include <buda/timed/op_facts.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/tensor/data_format.hpp>

#include <algorithm>
#include <optional>

namespace buda::timed {
namespace {

using perf::EpochSummary;

// What is read from a queue and takes no bytes while the epoch runs has been read before.
balance::Traffic traffic_of(const EpochSummary::Op& op, std::int64_t inputs) {
  balance::Traffic out;
  for (const auto& in : op.inputs) {
    out.input_from_dram.push_back(in.memory);
    out.input_prologue.push_back(in.memory && in.bytes == 0);
  }
  out.output_to_dram = op.output.memory;
  out.inputs_per_epoch = inputs;
  return out;
}

const netlist::Op* find_op(const netlist::Netlist& netlist, const std::string& name) {
  for (const netlist::Graph& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops)
      if (op.name == name) return &op;
  return nullptr;
}

const netlist::FusedOp* find_body(const netlist::Netlist& netlist, const std::string& id) {
  const auto found = std::find_if(netlist.fused_ops.begin(), netlist.fused_ops.end(), [&](const auto& f) { return f.id == id; });
  return id.empty() || found == netlist.fused_ops.end() ? nullptr : &*found;
}

struct Source {
  const GridShape* grid;
  const netlist::BlockShape* block;
};

std::optional<Source> source_of(const netlist::Netlist& netlist, const std::string& name) {
  if (const netlist::Op* op = find_op(netlist, name)) return Source{&op->grid, &op->block};
  for (const netlist::Queue& queue : netlist.queues)
    if (queue.name == name) return Source{&queue.grid, &queue.block};
  return std::nullopt;
}

void add_shape(EpochSummary::Pipe& pipe, const std::optional<Source>& source) {
  constexpr std::int64_t kTile = 32;
  if (!source) return;
  pipe.z = source->block->t;
  pipe.y = std::int64_t{source->grid->rows} * source->block->mblock_m * source->block->ublock_rt * kTile;
  pipe.x = std::int64_t{source->grid->cols} * source->block->mblock_n * source->block->ublock_ct * kTile;
}

void add_block(EpochSummary::Op& out, const netlist::Op& op) {
  out.type = std::string(netlist::op_type_name(op.type));
  out.grid = op.grid;
  out.t = op.block.t;
  out.mblock_m = op.block.mblock_m;
  out.mblock_n = op.block.mblock_n;
  out.ublock_r = op.block.ublock_rt;
  out.ublock_c = op.block.ublock_ct;
  out.m_k = op.attributes.m_k;
  out.u_kt = op.attributes.u_kt;
  out.fidelity = std::string(netlist::fidelity_name(op.fidelity));
  for (const auto& in : op.inputs) out.formats.emplace_back(format_name(in.format));
  out.formats.emplace_back(format_name(op.out_format));
}

// Of the core that takes longest: cores differ in a sparse matmul, whose products the index tiles list.
cost::KernelCycles slowest_kernel(const netlist::Op& op, const netlist::FusedOp* fused, const device::DeviceDescriptor& device,
                                  const IndexTiles& index_tiles) {
  cost::KernelCycles slowest;
  for (std::int64_t core = 0; core < op.grid.volume(); ++core)
    if (const auto counts = index_tiles.counts(op, core)) {
      const cost::KernelCycles cycles = cost::kernel_cycles(op, fused, device, &*counts);
      if (cycles.total > slowest.total) slowest = cycles;
    }
  return slowest.total > 0 ? slowest : cost::kernel_cycles(op, fused, device);
}

}  // namespace

void add_facts(EpochSummary& epoch, const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
               const IndexTiles& index_tiles) {
  const double time = std::max(epoch.time.cycles(), 1.0);
  double math = 0;
  for (EpochSummary::Op& out : epoch.ops) {
    const netlist::Op* op = find_op(netlist, out.name);
    if (op == nullptr) continue;
    add_block(out, *op);
    for (EpochSummary::Pipe& in : out.inputs) add_shape(in, source_of(netlist, in.name));
    add_shape(out.output, Source{&op->grid, &op->block});
    if (ops::runs_on_ethernet(op->type)) continue;
    const netlist::FusedOp* fused = find_body(netlist, op->attributes.fused_op_id);
    const cost::KernelCycles kernel = slowest_kernel(*op, fused, device, index_tiles);
    out.estimate = kernel.total;
    balance::Traffic traffic = traffic_of(out, epoch.inputs);
    traffic.input_from_dram.resize(op->inputs.size());
    traffic.input_prologue.resize(op->inputs.size());
    out.limiter = balance::estimate(*op, kernel.total, traffic, device).limiter();
    out.math = std::min(kernel.math, out.kernel.cycles());
    math += out.math * static_cast<double>(epoch.inputs * out.cores) / time;
  }
  const std::int64_t workers = device.grid().volume() * std::max(device.chips, 1);
  epoch.math_utilisation = workers == 0 ? 0 : math / static_cast<double>(workers);
}

void add_marks(EpochSummary& epoch, const netlist::Netlist& netlist, const KernelMarksOf& marks_of) {
  for (EpochSummary::Op& out : epoch.ops)
    if (const netlist::Op* op = find_op(netlist, out.name)) out.marks = marks_of(*op);
}

}  // namespace buda::timed
