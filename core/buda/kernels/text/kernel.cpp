// SPDX-License-Identifier: Apache-2.0
// From ops to kernels, family by family.
#include <buda/kernels/text/kernel.hpp>

#include <buda/arith/bits.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/tables/steps.hpp>
#include <buda/kernels/text/integers.hpp>
#include <buda/kernels/text/kernel_constants.hpp>
#include <buda/kernels/text/package.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>
#include <buda/numerics/pack.hpp>

#include <kernels/arguments.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace buda::kernels {
namespace {

using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using numerics::Dest;

// A gradient op whose earlier sums the packers cannot add to: they are read back, after a product that has nothing else at its end.
bool reads_previous(const Op& op) { return op.gradient_op && !numerics::can_accumulate_in_l1(op.out_format); }
bool can_read_previous(const Op& op) {
  const auto& a = op.attributes;
  return netlist::op_class(op.type) == OpClass::matmul && !a.identity && !a.bias && !a.l1_acc &&
         (a.sfpu_op.empty() || a.sfpu_op == "invalid");
}

// What holds for all families.
std::optional<NoKernel> unable(const Op& op) {
  if (op.tile_dim != TileDim{}) return missing(cat("tiles of ", op.tile_dim.rows, 'x', op.tile_dim.cols, " have no kernel yet"));
  if (works_on_integers(op))
    if (auto no = unable_integers(op)) return no;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (!is_known(op.inputs[i].format) && !is_known_integer(op.inputs[i].format) && !is_index(op, i))
      return missing(cat("operands of format ", format_name(op.inputs[i].format), " have no kernel yet"));
  const bool makes_indices = netlist::op_class(op.type) == OpClass::topk;
  if (!is_known(op.out_format) && !is_known_integer(op.out_format) && !makes_indices)
    return missing(cat("outputs of format ", format_name(op.out_format), " have no kernel yet"));
  if (op.untilize_output) {
    if (is_bfp(op.out_format) || op.out_format == DataFormat::lf8)
      return missing(cat("untilize_output in ", format_name(op.out_format), " has no kernel yet"));
    const OpClass kind = netlist::op_class(op.type);
    if (takes_steps(op) || (kind != OpClass::unary && kind != OpClass::sfpu && kind != OpClass::binary))
      return missing(cat("untilize_output of ", netlist::op_type_name(op.type), " ops has no kernel yet"));
    if (op.ublock_order == netlist::UblockOrder::c && op.block.mblock_m > 1 && op.block.mblock_n > 1)
      return missing("untilize_output with ublock_order c has no kernel: its rows are not complete one after the other");
  }
  if (op.gradient_op && op.untilize_output) return missing("untilize_output of a gradient_op has no kernel yet");
  if (reads_previous(op) && !can_read_previous(op))
    return missing(cat("gradient_op in ", format_name(op.out_format), ", which packers do not add up, has no kernel yet"));
  if (op.attributes.stochastic_rounding != netlist::StochasticRounding::none) return missing("stochastic rounding has no kernel");
  if (op.inputs.size() > tt::kInputs) return missing(cat("it has ", op.inputs.size(), " inputs; kernels take at most ", int{tt::kInputs}));
  return std::nullopt;
}

Choice unary_kernel(const Op& op, const Package* package) {
  const DataFormat in = op.inputs[0].format;
  const Dest dest = arith::bits::dest_form(op, in);
  const CopyWay way = copy_way(in, dest);
  const bool replaced = package != nullptr && package->function;
  auto vector = replaced ? program(*package->function, package->name, dest, op.attributes.vector)
                         : program(function_of(op), dest, op.attributes.vector);
  if (auto* no = std::get_if<NoKernel>(&vector)) return std::move(*no);
  const std::uint32_t seed = op.type == OpType::dropout && !replaced ? std::max(static_cast<std::uint32_t>(op.attributes.seed), 1u) : 0;
  Kernel k{"copy",
           {operand("in", as_it_comes(op, 0, way.operand)), enumerator("Copy", "copy", way.name),
            number("slots", way.operand.to_dest ? 1 : 2), std::move(std::get<Constant>(vector)), number("seed", seed)}};
  add_output(op, dest, k.constants);
  return k;
}

// Rows of numbers become tiles.
Choice rows_kernel(const Op& op) {
  const DataFormat in = op.inputs[0].format;
  if (is_bfp(in)) return missing(cat("rows of ", format_name(in), " have no kernel: their numbers share exponents"));
  constexpr std::int32_t kWidest = 4095 * 16;  // bytes between rows, for which an unpacker has 12 bits
  if (op.block.ublock_ct * 32 * bits_per_datum(in) / 8 > kWidest)
    return missing(
        cat("rows of ublocks ", op.block.ublock_ct, " tiles wide are longer than the ", kWidest, " bytes that an unpacker steps over"));
  const Dest dest = arith::bits::dest_form(op, in);
  const CopyWay way = copy_way(in, dest);
  Kernel k{
      "rows",
      {operand("in", way.operand), enumerator("Copy", "copy", way.name), number("slots", way.operand.to_dest ? 1 : 2), number("seed", 0)}};
  k.constants.push_back(std::get<Constant>(program(std::nullopt, dest, netlist::VectorMode::rc)));
  add_output(op, dest, k.constants);
  return k;
}

Choice topk_kernel(const Op& op) {
  const auto& a = op.attributes;
  if (op.inputs.size() != 2 || op.inputs[1].format != DataFormat::uint16) return missing("topk has a kernel with indices in UInt16 only");
  if (a.k > 32 || op.block.mblock_n * op.block.ublock_ct != 1)
    return missing(cat("topk of ", a.k, " numbers has no kernel: 32 are the most"));
  const DataFormat in = op.inputs[0].format;
  const Dest dest = arith::bits::dest_form(op, in);
  if (dest == Dest::fp32) return missing("topk with a destination of 32 bits has no kernel yet");
  const bool picks_indices = a.sort != netlist::TopkSort::max;
  const Operand values = copy_way(in, dest).operand, indices{DataFormat::uint16, DataFormat::uint16, false};
  const DataFormat waits = picks_indices ? DataFormat::uint16 : own_format(dest);
  if (picks_indices && op.out_format != DataFormat::uint16)
    return missing(cat("indices in ", format_name(op.out_format), " have no kernel yet"));
  if (picks_indices && a.relu.enabled) return missing("ReLU of indices has no kernel");
  Kernel k{"topk",
           {operand("values", values), operand("indices", indices),
            operand("picked", picks_indices ? indices : copy_way(waits, dest).operand), number("load", dest == Dest::bf16 ? 2 : 1),
            number("k", static_cast<std::uint32_t>(a.k)), flag("picks_indices", picks_indices), packed("partial", dest, waits)}};
  add_output(op, dest, k.constants);
  return k;
}

Choice binary_kernel(const Op& op) {
  const DataFormat a = op.inputs[0].format, b = op.inputs[1].format;
  if (auto no = cannot_meet(a, b)) return *no;
  const Dest dest = arith::bits::dest_form(op, a);
  const std::string_view name = op.type == OpType::add ? "add" : op.type == OpType::subtract ? "subtract" : "multiply";
  Kernel k{"binary",
           {operand("a", as_it_comes(op, 0, as_factor(a))), operand("b", as_factor(b)), enumerator("Binary", "operation", name),
            number("phases", op.type == OpType::multiply ? phase_bits(op.fidelity) : 1), number("slots", 2)}};
  add_output(op, dest, k.constants);
  return k;
}

// Sparse tiles times activations; the kernel decodes the index tiles.
Choice sparse_kernel(const Op& op) {
  const auto& a = op.attributes;
  const auto encoding = netlist::sparse_geometry(op);
  if (const auto* why = std::get_if<std::string>(&encoding)) return missing(*why);
  const auto& geometry = std::get<netlist::SparseGeometry>(encoding);
  if (geometry.form != netlist::SparseGeometry::Form::strips)
    return missing("sparse matmuls whose index tiles hold words (indices_len) have no kernel yet");
  if (a.bias) return missing("sparse matmuls with a bias have no kernel yet");
  if (a.sparse.fracture_factor != 1) return missing("sparse matmuls with fracture_factor have no kernel yet");
  const DataFormat left = op.inputs[0].format, right = op.inputs[1].format;
  if (auto no = cannot_meet(left, right)) return *no;
  const Dest dest = arith::bits::dest_form(op, left);
  const DataFormat own = is_integer(left) ? DataFormat::int32 : own_format(dest);
  const DataFormat between = is_known(op.intermed_format) && !is_integer(left) ? op.intermed_format : own;
  if (dest != Dest::fp32 && is_narrow(between) != (dest == Dest::fp16))
    return missing(cat("sums of ", format_name(left), " operands in ", format_name(between), " have no kernel yet"));
  const CopyWay way = copy_way(between, dest);
  Kernel k{"sparse",
           {operand("left", as_factor(left)), operand("right", as_it_comes(op, 1, as_factor(right))), operand("between", way.operand),
            enumerator("Copy", "copy", way.name), flag("spills", between != own),
            number("tile_bits", static_cast<std::uint32_t>(geometry.tile_bits)),
            number("ublock_bits", static_cast<std::uint32_t>(geometry.ublock_bits)),
            number("inner_bits", static_cast<std::uint32_t>(geometry.inner_bits)), number("phases", phase_bits(op.fidelity)),
            number("slots", 2), packed("partial", dest, between)}};
  add_output(op, dest, k.constants);
  return k;
}

Choice matmul_kernel(const Op& op) {
  const auto& a = op.attributes;
  if (op.ublock_order != netlist::UblockOrder::r) return missing("matmuls with ublock_order c have no kernel");
  if (a.identity) return sparse_kernel(op);
  const DataFormat left = op.inputs[0].format, right = op.inputs[1].format;
  if (auto no = cannot_meet(left, right)) return *no;
  const Dest dest = arith::bits::dest_form(op, left);
  // Between blocks nothing is lost in a buffer of the destination's own format.
  const bool integers = is_integer(left), scales = a.requant || a.dequant;
  const DataFormat between = integers ? DataFormat::int32 : is_known(op.intermed_format) ? op.intermed_format : own_format(dest);
  const std::int64_t blocks = std::int64_t{a.m_k} * (a.accumulate ? std::max(a.z, 1) : 1);
  const bool in_l1 = a.l1_acc && numerics::can_accumulate_in_l1(between);
  if (dest != Dest::fp32 && is_narrow(between) != (dest == Dest::fp16))
    return missing(cat("sums of ", format_name(left), " operands in ", format_name(between), " have no kernel yet"));
  const CopyWay way = copy_way(between, dest);
  const bool previous = reads_previous(op);
  const Operand sums = as_factor(previous ? own_format(dest) : between);
  const Operand bias = a.bias && !integers ? as_factor(op.inputs[2].format) : previous ? as_factor(op.out_format) : sums;
  if (a.bias && !integers)
    if (auto no = cannot_meet(between, op.inputs[2].format)) return *no;
  if (previous && dest == Dest::fp32) return missing("gradient_op in a Bfp format with sums of 32 bits has no kernel yet");
  if (previous)
    if (auto no = cannot_meet(own_format(dest), op.out_format)) return *no;
  if (integers && a.bias && (op.inputs.size() < 3 || op.inputs[2].format != DataFormat::int32))
    return missing("the bias of a product of integers has a kernel in Int32 only");
  if (scales && (op.inputs.empty() || op.inputs.back().format != DataFormat::float32))
    return missing("scales have a kernel in Float32 only");
  const bool reads_back = (blocks > 1 && !in_l1) || (in_l1 && !a.bias) || (integers && (a.bias || scales));
  Kernel k{"matmul",
           {operand("left", as_factor(left)), operand("right", as_it_comes(op, 1, as_factor(right))), operand("between", way.operand),
            operand("sums", sums), operand("bias", bias), enumerator("Copy", "copy", way.name), flag("spills", blocks > 1),
            flag("goes_on", false), flag("sums_in_l1", in_l1),
            enumerator("Round", "round",
                       previous              ? "previous"
                       : scales              ? "scale"
                       : a.bias && !integers ? "bias"
                       : in_l1               ? "copy"
                                             : "none"),
            flag("begins_with_bias", integers && a.bias), number("phases", phase_bits(op.fidelity)),
            number("slots", reads_back && way.operand.to_dest ? 1 : 2)}};
  std::optional<sfpu::FunctionCall> function;
  if (!a.sfpu_op.empty() && a.sfpu_op != "invalid") function = sfpu::FunctionCall{a.sfpu_op, {}};
  auto vector = scales ? rescaling(op) : program(function, dest, netlist::VectorMode::rc);
  if (auto* no = std::get_if<NoKernel>(&vector)) return std::move(*no);
  k.constants.push_back(std::move(std::get<Constant>(vector)));
  k.constants.push_back(packed("partial", dest, between));
  k.constants.push_back(packed("whole", dest, integers ? between : own_format(dest)));
  add_output(op, dest, k.constants);
  return k;
}

// Sums wait between blocks without being rounded: so results do not depend on how many there are.
Choice depthwise_kernel(const Op& op) {
  if (op.attributes.bias) return missing("depthwise ops with a bias have no kernel yet");
  if (op.ublock_order != netlist::UblockOrder::r) return missing("depthwise ops with ublock_order c have no kernel");
  const DataFormat left = op.inputs[0].format, right = op.inputs[1].format;
  if (auto no = cannot_meet(left, right)) return *no;
  const Dest dest = arith::bits::dest_form(op, left);
  const DataFormat between = own_format(dest);
  const CopyWay way = copy_way(between, dest);
  const bool spills = sums_by_blocks(op);
  Kernel k{
      "depthwise",
      {operand("left", as_factor(left)), operand("right", as_it_comes(op, 1, as_factor(right))), operand("between", way.operand),
       enumerator("Copy", "copy", way.name), flag("spills", spills), flag("goes_on", true), flag("sums_in_l1", false),
       enumerator("Round", "round", "none"), flag("begins_with_bias", false), number("phases", phase_bits(op.fidelity)),
       number("slots", spills && way.operand.to_dest ? 1 : 2), std::get<Constant>(program(std::nullopt, dest, netlist::VectorMode::rc)),
       packed("partial", dest, between), packed("whole", dest, between)}};
  add_output(op, dest, k.constants);
  return k;
}

Choice family_kernel(const Op& op, const netlist::FusedOp* fused, const Package* package) {
  if (takes_steps(op)) return steps_kernel(op, fused);
  switch (netlist::op_class(op.type)) {
    case OpClass::unary:
    case OpClass::sfpu:
      return unary_kernel(op, package);
    case OpClass::binary:
      return binary_kernel(op);
    case OpClass::matmul:
      return matmul_kernel(op);
    case OpClass::depthwise:
      return depthwise_kernel(op);
    case OpClass::topk:
      return topk_kernel(op);
    case OpClass::tilizer:
    case OpClass::embedding:
      return rows_kernel(op);
    case OpClass::buffer:
    case OpClass::drainer:
      if (op.inputs.size() > 1) return missing(cat(netlist::op_type_name(op.type), " ops with index tiles have no kernel yet"));
      return unary_kernel(op, package);
    default:
      return missing(cat(netlist::op_type_name(op.type), " ops have no kernel yet"));
  }
}

}  // namespace

std::variant<Kernel, NoKernel> kernel_of(const Op& op, const netlist::FusedOp* fused, const Package* package) {
  if (auto no = unable(op)) return *no;
  const bool by_header = package != nullptr && !package->header.empty();
  // What is fed to a kernel of others has been transposed already.
  Op turned = op;
  if (by_header)
    for (netlist::OpInput& input : turned.inputs) input.maps.tms.clear();
  Choice choice = family_kernel(by_header ? turned : op, fused, package);
  // A header of others gets the constants of the family that it replaces.
  if (auto* kernel = std::get_if<Kernel>(&choice); kernel != nullptr && by_header) {
    kernel->family = package->name;
    kernel->header = package->header;
  }
  return choice;
}

}  // namespace buda::kernels
