// The cycle model of kernels and transfers.
#include <buda/balance/cost/cost.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

using netlist::Dim;
using netlist::Op;
using netlist::OpClass;

// Half of a link's rate is what a stream gets of it in practice (one word every second cycle).
constexpr double kStreamShareOfLink = 0.5;

const device::MatmulCost* matmul_row(const Op& op, const device::CostParameters& cost) {
  std::string variant = is_integer(op.inputs[0].format) ? "int32" : is_bfp(op.inputs[0].format) ? "bfp" : "fp16";
  if (op.attributes.l1_acc)
    if (const auto* row = cost.find_matmul("l1_acc_" + variant)) return row;
  if (const auto* row = cost.find_matmul(variant)) return row;
  return cost.matmul.empty() ? nullptr : &cost.matmul.front();
}

// t * (products * phases * math + spilled tiles * spill + ublocks * per_ublock + unpacked tiles * unpack + (m_k - 1) * per_inner_block).
double matmul_cycles(const Op& op, const device::CostParameters& cost) {
  const auto& b = op.block;
  const auto& a = op.attributes;
  double ublocks = static_cast<double>(b.mblock_m) * b.mblock_n * a.m_k;
  double products = static_cast<double>(b.mblock_tiles()) * a.m_k * a.u_kt;
  double phases = netlist::fidelity_phases(op.fidelity);
  const device::MatmulCost* row = matmul_row(op, cost);
  if (row == nullptr) return b.t * products * phases * cost.math_cycles_per_tile;
  double spilled = static_cast<double>(b.mblock_tiles()) * (a.m_k - 1);
  double unpacked = ublocks * a.u_kt * b.ublock_rt * (1.0 + b.ublock_ct);
  double sums = a.accumulate ? std::max(a.z, 1) : 1;
  return sums * b.t *
         (products * phases * row->math + spilled * row->spill + ublocks * row->per_ublock + unpacked * row->unpack +
          (a.m_k - 1) * row->per_inner_block);
}

const device::OpCost* op_row(const Op& op, const device::CostParameters& cost) {
  std::string variant;
  if (op.attributes.approximate_mode) variant = "approx";
  if (is_integer(op.out_format)) variant = op.out_format == DataFormat::int32 ? "int32" : "int8";
  if (op.type == netlist::OpType::reduce) variant = "dim_" + std::string(netlist::name_of(op.attributes.reduce_dim));
  if (const auto* row = cost.find_op(netlist::op_type_name(op.type), variant)) return row;
  return cost.find_op("nop", "");
}

double format_factor(const Op& op, const device::CostParameters& cost) {
  if (netlist::op_class(op.type) != OpClass::binary) return 1;
  int bits = 0;
  for (const auto& in : op.inputs) bits = std::max(bits, bits_per_datum(in.format));
  return bits >= 32 ? cost.binary_format.fp32 : bits >= 16 ? cost.binary_format.fp16 : cost.binary_format.bfp;
}

double eltwise_cycles(const Op& op, const device::CostParameters& cost) {
  const device::OpCost* row = op_row(op, cost);
  if (row == nullptr) return 0;
  const auto& b = op.block;
  double ublocks = static_cast<double>(b.mblock_m) * b.mblock_n;
  double tiles = static_cast<double>(b.mblock_tiles());
  double t = b.t;
  if (op.type == netlist::OpType::reduce) {
    // What is counted are the tiles that go in.
    double inner = std::max<double>(static_cast<double>(op.inner_tiles()), 1);
    if (op.attributes.reduce_dim == Dim::z) {
      t *= std::max(op.attributes.z, 1);
    } else {
      double steps = std::max(op.attributes.m_k, 1);
      ublocks *= steps;
      tiles *= inner;
    }
  }
  return t * (ublocks * row->per_ublock + tiles * row->per_tile * format_factor(op, cost));
}

}  // namespace

double kernel_cycles(const Op& op, const device::DeviceDescriptor& device) {
  return netlist::op_class(op.type) == OpClass::matmul ? matmul_cycles(op, device.cost) : eltwise_cycles(op, device.cost);
}

double OpCycles::transfer() const {
  double most = output;
  for (double in : inputs) most = std::max(most, in);
  return most;
}
double OpCycles::limiter() const { return std::max(kernel, transfer()); }

double dram_share(std::int64_t dram_cores, const device::DeviceDescriptor& device) {
  double channel = device.cost.dram_channel_gbs / std::max(device.cost.clock_ghz, 1e-9);
  double link = device.cost.noc_bytes_per_cycle;
  double all = channel * static_cast<double>(device.dram.channels.size());
  return std::max(std::min({channel, link, all / static_cast<double>(std::max<std::int64_t>(dram_cores, 1))}), 1e-9);
}

OpCycles estimate(const Op& op, const Traffic& traffic, const device::DeviceDescriptor& device) {
  OpCycles out;
  out.kernel = kernel_cycles(op, device);
  double noc = std::max(device.cost.noc_bytes_per_cycle * kStreamShareOfLink, 1e-9);
  double dram = dram_share(traffic.dram_cores, device);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const std::int64_t kept = op.inputs[i].kernel_broadcast.tiles;
    auto bytes = static_cast<double>(kept > 0 ? kept : input_order(op, i).tiles()) *
                 tile_bytes(op.inputs[i].format, input_tile_dim(op, i), device.tile_alignment);
    bool from_dram = i < traffic.input_from_dram.size() && traffic.input_from_dram[i];
    bool prologue = i < traffic.input_prologue.size() && traffic.input_prologue[i];
    double cycles = bytes / (from_dram ? dram : noc);
    out.inputs.push_back(prologue ? cycles / static_cast<double>(std::max<std::int64_t>(traffic.inputs_per_epoch, 1)) : cycles);
  }
  auto bytes = static_cast<double>(op.block.tiles()) * tile_bytes(op.out_format, op.tile_dim, device.tile_alignment);
  out.output = bytes / (traffic.output_to_dram ? dram : noc);
  return out;
}

}  // namespace buda::balance
