// SPDX-License-Identifier: Apache-2.0
// Kernels of the family `steps` (share/kernels/families/steps.h): each step with its formats and what it computes.
#include <buda/arith/bits.hpp>
#include <buda/arith/fused.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/tables/steps.hpp>
#include <buda/kernels/text/integers.hpp>
#include <buda/kernels/text/kernel_constants.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::kernels {
namespace {

using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using numerics::Dest;
using OperandKind = netlist::SubOperand::Kind;

// What of a step its operands decide.
struct StepShape {
  std::string_view spread = "none";  // of the second operand
  bool waits = false, last = true;
  std::uint32_t buffer = 0;
  bool as_they_come = false;  // its tiles
};
using StepChoice = std::variant<std::vector<Constant>, NoKernel>;

std::string_view step_name(const Op& op) {
  switch (netlist::op_class(op.type)) {
    case OpClass::binary:
      return op.type == OpType::maximum ? "pair" : netlist::op_type_name(op.type);
    case OpClass::reduce:
      return op.attributes.reduce_dim == netlist::Dim::r   ? "reduce_rows"
             : op.attributes.reduce_dim == netlist::Dim::c ? "reduce_cols"
                                                           : "reduce_depth";
    case OpClass::quant:
      return "pair";
    case OpClass::matmul:
      return "products";
    default:
      return "copy";
  }
}

// Whether its vector unit takes two tiles: `pair` one of each operand, a reduction one after the other.
bool keeps_two_tiles(std::string_view step) { return step == "pair" || step.starts_with("reduce"); }

// Products whose sums wait between blocks would be rounded there.
std::optional<NoKernel> unable_products(const Op& op, Dest dest) {
  const auto& a = op.attributes;
  if (a.m_k > 1 && (a.l1_acc || op.intermed_format != own_format(dest)))
    return missing("matmuls of several blocks inside of a fused op have a kernel only if their sums are not rounded between blocks");
  if (!a.sfpu_op.empty() && a.sfpu_op != "invalid") return missing("sfpu_op inside of a fused op has no kernel yet");
  return std::nullopt;
}

StepChoice step_of(const Op& op, const StepShape& shape) {
  const std::string_view kind = step_name(op);
  const DataFormat first = op.inputs[0].format, second = op.inputs.back().format;
  const Dest dest = arith::bits::dest_form(op, first);
  const bool factors = kind == "add" || kind == "subtract" || kind == "multiply" || kind == "products";
  if (factors || op.type == OpType::maximum)
    if (auto no = cannot_meet(first, second)) return *no;
  if (kind == "products")
    if (auto no = unable_products(op, dest)) return *no;
  const CopyWay a = copy_way(first, dest), b = copy_way(second, dest);
  std::optional<sfpu::FunctionCall> function;
  if (kind == "copy" && netlist::op_class(op.type) == OpClass::sfpu) function = function_of(op);
  if (op.type == OpType::dropout && function) return missing("dropout inside of a fused op has no kernel yet");
  const bool quantizes = netlist::op_class(op.type) == OpClass::quant;
  if (keeps_two_tiles(kind)) function = sfpu::FunctionCall{"maximum", {}};
  auto vector = quantizes                           ? rescaling(op)
                : function && works_on_integers(op) ? integer_program(*function)
                                                    : program(function, dest, op.attributes.vector, kind == "copy" || kind == "pair");
  if (auto* no = std::get_if<NoKernel>(&vector)) return std::move(*no);
  std::vector<Constant> out = {enumerator("Step", "kind", kind),
                               operand("a", factors ? as_factor(first) : a.operand),
                               operand("b", factors ? as_factor(second) : b.operand),
                               enumerator("Copy", "a_copy", a.name),
                               enumerator("Copy", "b_copy", b.name),
                               enumerator("Spread", "spread", shape.spread),
                               number("phases", kind == "multiply" || kind == "products" ? phase_bits(op.fidelity) : 1),
                               std::move(std::get<Constant>(vector)),
                               flag("waits", shape.waits),
                               flag("last", shape.last),
                               number("buffer", shape.buffer),
                               flag("as_they_come", shape.as_they_come)};
  add_output(op, dest, out);
  return out;
}

// What all steps have in common.
Choice kernel_with(const std::vector<Op>& ops, const std::vector<StepShape>& shapes) {
  Kernel kernel{"steps", {}, {}};
  bool single = false;
  const Dest dest = arith::bits::dest_form(ops.front(), ops.front().inputs[0].format);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Dest own = arith::bits::dest_form(ops[i], ops[i].inputs[0].format);
    auto step = step_of(ops[i], shapes[i]);
    if (auto* no = std::get_if<NoKernel>(&step)) return NoKernel{cat(ops.size() == 1 ? "" : cat(ops[i].name, ": "), no->reason), no->hint};
    single = single || keeps_two_tiles(step_name(ops[i])) ||
             (step_name(ops[i]) == "copy" && copy_way(ops[i].inputs[0].format, own).operand.to_dest);
    kernel.steps.push_back(std::move(std::get<std::vector<Constant>>(step)));
  }
  kernel.constants = {flag("wide", dest == Dest::fp32), number("slots", single ? 1 : 2)};
  return kernel;
}

// A fused op: the formats of its buffers, sub-op by sub-op.
Choice fused_kernel(const Op& base, const netlist::FusedOp& fused) {
  std::vector<Op> ops;
  std::vector<StepShape> shapes;
  std::map<std::uint32_t, DataFormat> buffers;
  for (const auto& schedule : fused.schedules)
    for (const netlist::SubOp& sub : schedule) {
      Op op = arith::op_of(base, sub);
      StepShape shape;
      switch (netlist::op_class(op.type)) {
        case OpClass::unary:
        case OpClass::sfpu:
        case OpClass::binary:
        case OpClass::matmul:
        case OpClass::reduce:
          break;
        default:
          return missing(cat(netlist::op_type_name(op.type), " inside of a fused op has no kernel yet"));
      }
      if (sub.inputs.empty()) return missing(cat("sub-op '", sub.name, "' has no inputs"));
      for (std::size_t i = 0; i < sub.inputs.size(); ++i) {
        const netlist::SubOperand& what = sub.inputs[i].operand;
        netlist::OpInput input;
        if (what.kind == OperandKind::input) {
          if (what.index < 0 || static_cast<std::size_t>(what.index) >= base.inputs.size())
            return missing(cat("sub-op '", sub.name, "' reads ", netlist::text(what), ", which the op does not have"));
          input.format = base.inputs[static_cast<std::size_t>(what.index)].format;
        } else {
          const auto found = buffers.find(buffer_of(what));
          if (found == buffers.end()) return missing(cat("sub-op '", sub.name, "' reads ", netlist::text(what), " before it is written"));
          input.format = found->second;
          shape.waits = true;
        }
        if (!is_known(input.format)) return missing(cat("operands of format ", format_name(input.format), " have no kernel yet"));
        for (const netlist::Tm& tm : sub.inputs[i].tms) {
          if (tm.kind != netlist::TmKind::tile_broadcast) continue;
          if (i == 0 || netlist::op_class(op.type) != OpClass::binary || op.type == OpType::maximum)
            return missing(cat("tile_broadcast of ", netlist::text(what),
                               " has no kernel: it is not the second operand of add, subtract or multiply"));
          shape.spread = tm.dim == netlist::Dim::r ? "row" : "column";
        }
        op.inputs.push_back(std::move(input));
      }
      if (!is_known(op.out_format)) return missing(cat("results of format ", format_name(op.out_format), " have no kernel yet"));
      shape.last = sub.output.kind == OperandKind::output;
      if (!shape.last) {
        shape.buffer = buffer_of(sub.output);
        if (shape.buffer >= kStepBuffers) return missing(cat("it has more than ", kStepBuffers - 1, " intermediates"));
        buffers[shape.buffer] = op.out_format;
      }
      ops.push_back(std::move(op));
      shapes.push_back(shape);
    }
  if (ops.empty()) return missing("it has no sub-ops");
  return kernel_with(ops, shapes);
}

}  // namespace

std::uint32_t buffer_of(const netlist::SubOperand& operand) {
  return operand.kind == OperandKind::dest ? 0 : static_cast<std::uint32_t>(operand.index) + 1;
}

Choice steps_kernel(const Op& op, const netlist::FusedOp* fused) {
  if (netlist::op_class(op.type) != OpClass::fused) {
    StepShape shape;
    shape.as_they_come = reduces_as_they_come(op);
    return kernel_with({op}, {shape});
  }
  if (fused == nullptr) return missing(cat("there is no fused op '", op.attributes.fused_op_id, "'"));
  return fused_kernel(op, *fused);
}

}  // namespace buda::kernels
