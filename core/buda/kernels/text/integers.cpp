// SPDX-License-Identifier: Apache-2.0
// The unpackers bring Int8 into source registers and Int32 past them into the destination register, whose integers have 32 bits.
#include <buda/kernels/text/integers.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::kernels {
namespace {

using netlist::Op;
using netlist::OpClass;
using netlist::OpType;

std::optional<NoKernel> unable_products(const Op& op) {
  const auto& a = op.attributes;
  if (op.inputs.size() < 2) return missing("it has fewer than two inputs");
  for (std::size_t i = 0; i < 2; ++i)
    if (op.inputs[i].format != DataFormat::int8)
      return missing(cat("products of ", format_name(op.inputs[i].format), " and integers have no kernel yet"));
  const bool waits = a.m_k > 1 || (a.accumulate && a.z > 1) || a.requant || a.dequant || a.identity;
  if (waits && op.intermed_format != DataFormat::int32 && is_integer(op.intermed_format))
    return missing(cat("sums of integers that wait as ", format_name(op.intermed_format), " have no kernel: only Int32 keeps them"));
  if (op.fidelity != netlist::MathFidelity::hifi4) return missing("products of integers have a kernel with math_fidelity HiFi4 only");
  return std::nullopt;
}

}  // namespace

bool is_index(const Op& op, std::size_t input) {
  const OpClass kind = netlist::op_class(op.type);
  if (kind == OpClass::embedding || kind == OpClass::topk) return input == 1;
  return op.attributes.identity && input == 2 && is_raw(op.inputs[2].format);
}

bool works_on_integers(const Op& op) {
  if (is_integer(op.out_format)) return true;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (is_integer(op.inputs[i].format) && !is_index(op, i)) return true;
  return false;
}

std::optional<NoKernel> unable_integers(const Op& op) {
  if (netlist::op_class(op.type) == OpClass::topk) return std::nullopt;  // which computes with floats
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const DataFormat format = op.inputs[i].format;
    if (is_integer(format) && !is_known_integer(format) && !is_index(op, i))
      return missing(cat("operands of format ", format_name(format), " have no kernel yet"));
  }
  if (is_integer(op.out_format) && !is_known_integer(op.out_format))
    return missing(cat("outputs of format ", format_name(op.out_format), " have no kernel yet"));
  if (op.gradient_op || op.untilize_output)
    return missing(cat(op.gradient_op ? "gradient_op" : "untilize_output", " of integers has no kernel yet"));
  const auto& relu = op.attributes.relu;
  if (relu.enabled && is_integer(op.out_format) && (relu.threshold != 0 || relu.mode != netlist::ReluMode::min))
    return missing("ReLU of integers has a kernel only with mode min and threshold 0: packers have no other");
  const auto count = static_cast<std::size_t>(
      std::count_if(op.inputs.begin(), op.inputs.end(), [](const netlist::OpInput& input) { return is_integer(input.format); }));
  switch (netlist::op_class(op.type)) {
    case OpClass::quant:
      return std::nullopt;
    case OpClass::matmul:
      return unable_products(op);
    case OpClass::binary:
      if (op.type != OpType::maximum)
        for (const auto& input : op.inputs)
          if (input.format != DataFormat::int8)
            return missing(
                cat(netlist::op_type_name(op.type), " of ", format_name(input.format), " has no kernel yet: the matrix unit takes Int8"));
      break;
    case OpClass::unary:
    case OpClass::buffer:
    case OpClass::drainer:
    case OpClass::splice:
    case OpClass::reduce:
      break;
    default:
      return missing(cat(netlist::op_type_name(op.type), " of integers has no kernel yet"));
  }
  if (count == op.inputs.size() && is_integer(op.out_format)) return std::nullopt;
  return missing(cat(netlist::op_type_name(op.type), " has no kernel that makes ", format_name(op.out_format), " of ",
                     format_name(op.inputs[0].format)));
}

}  // namespace buda::kernels
