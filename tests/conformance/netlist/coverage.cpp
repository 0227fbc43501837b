// SPDX-License-Identifier: Apache-2.0
// Lists of properties: a new attribute that is not listed here is not asked for, so add it.
#include "coverage.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::judge {

using netlist::Netlist;
using netlist::Op;
using netlist::OpAttributes;
using netlist::OpType;
using netlist::Queue;
using netlist::SubOperand;

namespace {

template <class T>
struct Property {
  const char* name;
  bool (*used)(const T&);
};

const std::vector<Property<OpAttributes>>& attributes() {
  using A = OpAttributes;
  static const std::vector<Property<A>> list = {
      {"m_k", [](const A& a) { return a.m_k > 1; }},
      {"u_kt", [](const A& a) { return a.u_kt > 1; }},
      {"bias", [](const A& a) { return a.bias; }},
      {"accumulate", [](const A& a) { return a.accumulate && a.z > 1; }},
      {"z", [](const A& a) { return !a.accumulate && a.z > 1; }},
      {"l1_acc", [](const A& a) { return a.l1_acc; }},
      {"min_buffer_input", [](const A& a) { return a.min_buffer_input == 1; }},
      {"sfpu_op", [](const A& a) { return !a.sfpu_op.empty(); }},
      {"relu_mode min", [](const A& a) { return a.relu.enabled && a.relu.mode == netlist::ReluMode::min; }},
      {"relu_mode max", [](const A& a) { return a.relu.enabled && a.relu.mode == netlist::ReluMode::max; }},
      {"relu_threshold", [](const A& a) { return a.relu.enabled && a.relu.threshold > 0; }},
      {"requant", [](const A& a) { return a.requant; }},
      {"dequant", [](const A& a) { return a.dequant; }},
      {"zero_point", [](const A& a) { return a.zero_point != 0; }},
      {"vector r", [](const A& a) { return a.vector == netlist::VectorMode::r; }},
      {"vector c", [](const A& a) { return a.vector == netlist::VectorMode::c; }},
      {"approximate_mode", [](const A& a) { return a.approximate_mode; }},
      {"sfpu_execution_thread", [](const A& a) { return a.sfpu_thread == netlist::SfpuThread::pack; }},
      {"dim r", [](const A& a) { return a.reduce_dim == netlist::Dim::r; }},
      {"dim c", [](const A& a) { return a.reduce_dim == netlist::Dim::c; }},
      {"dim z", [](const A& a) { return a.reduce_dim == netlist::Dim::z; }},
      {"p", [](const A& a) { return a.p != 0; }},
      {"seed", [](const A& a) { return a.seed != 0; }},
      {"slope", [](const A& a) { return a.slope != A{}.slope; }},
      {"exp", [](const A& a) { return a.exp != 0; }},
      {"granularity t", [](const A& a) { return a.granularity == netlist::Granularity::t; }},
      {"granularity ublock", [](const A& a) { return a.granularity == netlist::Granularity::ublock; }},
      {"sparse_tile_ptr_bits", [](const A& a) { return a.identity && a.sparse.sparse_tile_ptr_bits > 0; }},
      {"sparse_ublock_idx_bits", [](const A& a) { return a.identity && a.sparse.sparse_ublock_idx_bits > 0; }},
      {"indices_len", [](const A& a) { return a.identity && a.sparse.indices_len > 0; }},
      {"starting_row", [](const A& a) { return a.identity && a.sparse.starting_row > 0; }},
      {"act_t", [](const A& a) { return a.identity && a.sparse.act_t > 1; }},
      {"num_columns", [](const A& a) { return a.identity && a.sparse.num_columns > 0; }},
      {"fracture_factor", [](const A& a) { return a.identity && a.sparse.fracture_factor > 1; }},
      {"num_nz_strips", [](const A& a) { return a.identity && !a.sparse.num_nz_strips.empty(); }},
      {"num_indices", [](const A& a) { return a.num_indices > 0; }},
      {"sort max", [](const A& a) { return a.k > 0 && a.sort == netlist::TopkSort::max; }},
      {"sort argmax", [](const A& a) { return a.k > 0 && a.sort == netlist::TopkSort::argmax; }},
      {"kreduce", [](const A& a) { return a.kreduce; }},
      {"ingress_channels", [](const A& a) { return !a.ingress_channels.empty(); }},
      {"egress_channels", [](const A& a) { return !a.egress_channels.empty(); }},
      {"dest_device", [](const A& a) { return a.dest_device > 0; }},
      {"stoch_rnd_mode fpu", [](const A& a) { return a.stochastic_rounding == netlist::StochasticRounding::fpu; }},
      {"stoch_rnd_mode pack", [](const A& a) { return a.stochastic_rounding == netlist::StochasticRounding::pack; }},
      {"stoch_rnd_mode all", [](const A& a) { return a.stochastic_rounding == netlist::StochasticRounding::all; }},
  };
  return list;
}

bool any_input(const Op& op, bool (*holds)(const netlist::OpInput&)) { return std::any_of(op.inputs.begin(), op.inputs.end(), holds); }

// More units than one round copies.
bool splices_in_rounds(const Op& o) {
  if (o.type != OpType::splice) return false;
  std::int64_t copied = 0;
  for (const auto& in : o.inputs) copied += in.splice ? in.splice->length : 0;
  const bool by_t = o.attributes.granularity == netlist::Granularity::t;
  return copied < (by_t ? o.block.t : std::int64_t{o.block.mblock_m} * o.block.mblock_n);
}

const std::vector<Property<Op>>& properties() {
  using I = netlist::OpInput;
  static const std::vector<Property<Op>> list = {
      {"grid_transpose", [](const Op& o) { return o.grid_transpose; }},
      {"untilize_output", [](const Op& o) { return o.untilize_output; }},
      {"gradient_op", [](const Op& o) { return o.gradient_op; }},
      {"overlay_size", [](const Op& o) { return o.overlay_size > 0; }},
      {"small tiles", [](const Op& o) { return o.tile_dim.rows < 32; }},
      {"narrow tiles", [](const Op& o) { return o.tile_dim.cols < 32; }},
      {"ublock_order c", [](const Op& o) { return o.ublock_order == netlist::UblockOrder::c; }},
      {"input_buf_min_size_tiles", [](const Op& o) { return any_input(o, [](const I& i) { return i.min_buffer_tiles > 0; }); }},
      {"input_dram_io_buf_size_tiles", [](const Op& o) { return any_input(o, [](const I& i) { return i.dram_io_tiles > 0; }); }},
      {"forked_dram_inputs", [](const Op& o) { return any_input(o, [](const I& i) { return !i.forked_from.empty(); }); }},
      {"kernel_broadcast",
       [](const Op& o) { return any_input(o, [](const I& i) { return i.kernel_broadcast.tiles > 0 && !i.kernel_broadcast.per_t; }); }},
      {"kernel_broadcast_per_t", [](const Op& o) { return any_input(o, [](const I& i) { return i.kernel_broadcast.per_t; }); }},
      {"splice that skips", [](const Op& o) { return any_input(o, [](const I& i) { return i.splice && i.splice->index > 0; }); }},
      {"splice that leaves out",
       [](const Op& o) { return any_input(o, [](const I& i) { return i.splice && i.splice->stride > i.splice->length; }); }},
      {"splice of several rounds", &splices_in_rounds},
      {"unpad", [](const Op& o) { return any_input(o, [](const I& i) { return i.maps.unpad.has_value(); }); }},
      {"pad", [](const Op& o) { return any_input(o, [](const I& i) { return i.maps.pad.has_value(); }); }},
      {"small tiles to a matmul", [](const Op& o) { return o.type == OpType::matmul && o.tile_dim.rows < 32; }},
  };
  return list;
}

const std::vector<Property<Queue>>& queue_properties() {
  static const std::vector<Property<Queue>> list = {
      {"ram", [](const Queue& q) { return q.kind == netlist::QueueKind::ram; }},
      {"loc host", [](const Queue& q) { return q.location == netlist::QueueLocation::host; }},
      {"layout flat", [](const Queue& q) { return q.layout == netlist::QueueLayout::flat; }},
      {"alias", [](const Queue& q) { return !q.alias.empty(); }},
      {"input_tms", [](const Queue& q) { return !q.input_tms.empty(); }},
      {"net2net", [](const Queue& q) { return q.input.find("net2net") != std::string::npos; }},
      {"small tiles of a queue", [](const Queue& q) { return q.tile_dim != TileDim{}; }},
      {"a second chip", [](const Queue& q) { return q.target_device > 0; }},
  };
  return list;
}

const std::vector<DataFormat>& formats() {
  using F = DataFormat;
  static const std::vector<F> list = {F::float32, F::float16, F::float16_b, F::bfp8,  F::bfp8_b, F::bfp4,      F::bfp4_b,
                                      F::bfp2_b,  F::lf8,     F::int8,      F::int32, F::uint16, F::raw_uint32};
  return list;
}

std::string fidelity(netlist::MathFidelity f) { return cat("math_fidelity ", netlist::fidelity_name(f)); }

constexpr netlist::TmKind kTms[] = {netlist::TmKind::broadcast, netlist::TmKind::hslice,        netlist::TmKind::vslice,
                                    netlist::TmKind::hstack,    netlist::TmKind::vstack,        netlist::TmKind::transpose,
                                    netlist::TmKind::pad,       netlist::TmKind::tile_broadcast};
std::string tm_name(netlist::TmKind kind) {
  const netlist::Tm tm{kind, netlist::Dim::r, 1, 0, 0, 0};
  const std::string text = tm.text();
  return cat("manipulation ", text.substr(0, text.find(':')));
}

}  // namespace

void Coverage::add_op(const Op& op) {
  seen_.insert(cat("op ", netlist::op_type_name(op.type)));
  for (const auto& a : attributes())
    if (a.used(op.attributes)) seen_.insert(cat("attribute ", a.name));
  for (const auto& p : properties())
    if (p.used(op)) seen_.insert(p.name);
  for (DataFormat f : {op.out_format, op.intermed_format, op.acc_format}) seen_.insert(cat("format ", format_name(f)));
  seen_.insert(fidelity(op.fidelity));
  for (const auto& in : op.inputs) {
    seen_.insert(cat("format ", format_name(in.format)));
    for (const auto& tm : in.maps.tms) seen_.insert(tm_name(tm.kind));
  }
}

void Coverage::add(const Netlist& netlist) {
  for (const auto& graph : netlist.graphs)
    for (const Op& op : graph.ops) add_op(op);
  for (const Queue& q : netlist.queues)
    for (const auto& p : queue_properties())
      if (p.used(q)) seen_.insert(p.name);
  for (const auto& fused : netlist.fused_ops)
    for (const auto& schedule : fused.schedules)
      for (const auto& sub : schedule) {
        seen_.insert(cat("step ", netlist::op_type_name(sub.type)));
        for (const auto& in : sub.inputs)
          for (const auto& tm : in.tms) seen_.insert(tm_name(tm.kind));
      }
}

std::vector<std::string> Coverage::missing() const {
  std::vector<std::string> wanted;
  for (const auto& type : netlist::all_op_types()) {
    wanted.push_back(cat("op ", type.name));
    if (type.sub_op) wanted.push_back(cat("step ", type.name));
  }
  for (const auto& a : attributes()) wanted.push_back(cat("attribute ", a.name));
  for (const auto& p : properties()) wanted.emplace_back(p.name);
  for (const auto& p : queue_properties()) wanted.emplace_back(p.name);
  for (DataFormat f : formats()) wanted.push_back(cat("format ", format_name(f)));
  for (const auto kind : kTms) wanted.push_back(tm_name(kind));
  for (const auto& f : netlist::spellings(static_cast<const netlist::MathFidelity*>(nullptr))) wanted.push_back(fidelity(f.value));
  std::vector<std::string> out;
  for (const auto& w : wanted)
    if (seen_.count(w) == 0) out.push_back(w);
  return out;
}

}  // namespace buda::judge
