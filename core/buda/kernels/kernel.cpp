// From ops to kernels, family by family.
#include <buda/kernels/kernel.hpp>

#include <buda/arith/bits.hpp>
#include <buda/base/text.hpp>
#include <buda/numerics/pack.hpp>
#include <buda/numerics/unpack.hpp>
#include <buda/sfpu/functions.hpp>
#include <buda/sfpu/words.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace buda::kernels {
namespace {

using netlist::Op;
using netlist::OpClass;
using netlist::OpType;
using numerics::Dest;
using numerics::Intermediate;
using numerics::Source;

using Choice = std::variant<Kernel, NoKernel>;

// How a number from L1 arrives (Operand in share/kernels/formats.h).
struct Operand {
  DataFormat stored = DataFormat::invalid, unpacked = DataFormat::invalid;
  bool to_dest = false;
};

Constant flag(std::string name, bool value) { return {"bool", std::move(name), value ? "true" : "false"}; }
Constant number(std::string name, std::uint32_t value) { return {"uint32_t", std::move(name), cat(value)}; }
Constant enumerator(const std::string& type, std::string name, std::string_view value) {
  return {type, std::move(name), cat(type, "::", value)};
}
Constant operand(std::string name, const Operand& o) {
  return {"Operand", std::move(name),
          cat('{', format_code(o.stored), ", ", format_code(o.unpacked), ", ", o.to_dest ? "true" : "false", '}')};
}

DataFormat of_source(Source source) {
  return source == Source::tf32 ? DataFormat::tf32 : source == Source::fp16 ? DataFormat::float16 : DataFormat::float16_b;
}

// Through a source register: a Float32 as `source` says, everything else as it is.
Operand through(DataFormat format, Source source) { return {format, format == DataFormat::float32 ? of_source(source) : format, false}; }
Operand as_factor(DataFormat format) { return through(format, numerics::source_of(format)); }

// Copies into the destination register: the name in share/kernels/matrix.h, and the operand.
struct CopyWay {
  std::string_view name;
  Operand operand;
};
CopyWay copy_way(DataFormat format, Dest dest) {
  if (dest != Dest::fp32) return {"move", through(format, numerics::copy_source_of(format, dest))};
  if (format == DataFormat::float32) return {"to_dest", {format, format, true}};
  return {"add", as_factor(format)};
}

DataFormat own_format(Dest dest) {
  return dest == Dest::fp32 ? DataFormat::float32 : dest == Dest::bf16 ? DataFormat::float16_b : DataFormat::float16;
}

std::uint32_t intermediate_code(Intermediate intermediate) {
  switch (intermediate) {
    case Intermediate::wide:
      return format_code(DataFormat::float32);
    case Intermediate::bf16:
      return format_code(DataFormat::float16_b);
    case Intermediate::e8m6:
      return format_code(DataFormat::bfp8_b);
    case Intermediate::fp16:
      return format_code(DataFormat::float16);
    case Intermediate::e5m6:
      break;
  }
  return format_code(DataFormat::bfp8);
}

Constant packed(std::string name, Dest dest, DataFormat out) {
  const auto packing = numerics::packing_for(dest, out);
  return {"Packed", std::move(name),
          cat('{', dest == Dest::fp32 ? "true" : "false", ", ", intermediate_code(packing.intermediate), ", ", format_code(out), '}')};
}

// A threshold as the packers keep it: the upper 16 bits of a Float32, or a Float16 that is cut.
std::uint32_t threshold_bits(double threshold, Intermediate intermediate) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(threshold));
  if (intermediate != Intermediate::fp16 && intermediate != Intermediate::e5m6) return bits >> 16;
  const int exponent = static_cast<int>(bits >> 23) - (127 - 15);
  if (exponent <= 0) return 0;
  return exponent > 31 ? 0x7fffu : static_cast<std::uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ff);
}

void add_output(const Op& op, Dest dest, std::vector<Constant>& to) {
  to.push_back(packed("out", dest, op.out_format));
  const auto& relu = op.attributes.relu;
  const auto intermediate = numerics::packing_for(dest, op.out_format).intermediate;
  const std::uint32_t threshold = relu.enabled ? threshold_bits(relu.threshold, intermediate) : 0;
  const std::uint32_t mode = !relu.enabled ? 0 : relu.mode == netlist::ReluMode::max ? 3 : relu.threshold == 0 ? 1 : 2;
  to.push_back(number("relu_mode", mode));
  to.push_back(number("relu_threshold", threshold));
}

NoKernel missing(std::string reason) { return {std::move(reason), "golden with mode=bits executes it"}; }

// A program for the vector unit, with what rounds its result on the way into a destination of 16 bits; none without a function.
constexpr std::size_t kMostWords = 600;  // share/kernels/vector.h
std::variant<Constant, NoKernel> program(const std::optional<sfpu::FunctionCall>& function, Dest dest, netlist::VectorMode mode) {
  const auto as = [](std::string value) { return Constant{"Program", "program", std::move(value)}; };
  if (!function) return as("{0, 0, 0, 0, 0, {0}}");
  const sfpu::Program* found = sfpu::program_of(*function);
  if (found == nullptr) return missing(cat(function->name, " has no program for the vector unit"));
  sfpu::Program whole = *found;
  if (dest != Dest::fp32) {
    numerics::VectorInstruction round;
    round.op = numerics::VectorOp::round;
    round.mod = dest == Dest::bf16 ? 1 : 0;
    round.c = static_cast<std::uint8_t>(whole.result);
    whole.instructions.push_back(round);
    whole.result = 0;
  }
  const std::vector<std::uint32_t> words = sfpu::words_of(whole);
  if (words.size() > kMostWords)
    return missing(cat(function->name, " takes ", words.size(), " instructions; kernels have room for ", kMostWords));
  const int format = dest == Dest::fp32 ? 3 : dest == Dest::bf16 ? 2 : 1;
  const int faces = mode == netlist::VectorMode::r ? 3 : mode == netlist::VectorMode::c ? 5 : 15;
  std::string text = cat('{', words.size(), ", ", whole.result, ", ", format, ", ", format, ", ", faces, ", {");
  for (std::size_t i = 0; i < words.size(); ++i) text += cat(i == 0 ? "" : ", ", hex_text(words[i]));
  return as(text + "}}");
}

// A format that unpackers and packers know.
bool is_known(DataFormat f) { return is_float(f) && f != DataFormat::tf32 && f != DataFormat::fp8_e4m3; }
bool is_narrow(DataFormat f) { return numerics::source_of(f) == Source::fp16; }

// What holds for all families.
std::optional<NoKernel> unable(const Op& op) {
  if (op.tile_dim != TileDim{}) return missing(cat("tiles of ", op.tile_dim.rows, 'x', op.tile_dim.cols, " have no kernel yet"));
  for (const auto& input : op.inputs)
    if (!is_known(input.format)) return missing(cat("operands of format ", format_name(input.format), " have no kernel yet"));
  if (!is_known(op.out_format)) return missing(cat("outputs of format ", format_name(op.out_format), " have no kernel yet"));
  if (op.untilize_output) return missing("untilize_output has no kernel yet");
  if (op.gradient_op) return missing("gradient_op has no kernel yet");
  if (op.attributes.stochastic_rounding != netlist::StochasticRounding::none) return missing("stochastic rounding has no kernel");
  if (op.inputs.size() > 4) return missing(cat("it has ", op.inputs.size(), " inputs; kernels of its family take at most 4"));
  return std::nullopt;
}

std::uint32_t phase_bits(netlist::MathFidelity fidelity) {
  std::uint32_t bits = 0;
  for (unsigned phase : arith::bits::phases_of(fidelity)) bits |= 1u << phase;
  return bits;
}

// What the vector unit computes; of dropout with the hardware's random numbers.
std::optional<sfpu::FunctionCall> function_of(const Op& op) {
  auto function = arith::bits::vector_function(op);
  if (op.type != OpType::dropout) return function;
  const double p = std::clamp<double>(op.attributes.p, 0, 1);
  function->name = "dropout";
  function->constants["threshold"] = static_cast<std::uint32_t>(std::min(p * 0x1p31, 0x1p31 - 1));
  return function;
}

Choice unary_kernel(const Op& op) {
  const DataFormat in = op.inputs[0].format;
  const Dest dest = arith::bits::dest_form(op, in);
  const CopyWay way = copy_way(in, dest);
  auto vector = program(function_of(op), dest, op.attributes.vector);
  if (auto* no = std::get_if<NoKernel>(&vector)) return std::move(*no);
  const std::uint32_t seed = op.type == OpType::dropout ? std::max(static_cast<std::uint32_t>(op.attributes.seed), 1u) : 0;
  Kernel k{"copy",
           {operand("in", way.operand), enumerator("Copy", "copy", way.name), number("slots", way.operand.to_dest ? 1 : 2),
            std::move(std::get<Constant>(vector)), number("seed", seed)}};
  add_output(op, dest, k.constants);
  return k;
}

std::optional<NoKernel> cannot_meet(DataFormat a, DataFormat b) {
  if (is_narrow(a) == is_narrow(b)) return std::nullopt;
  return NoKernel{cat("its operands are ", format_name(a), " and ", format_name(b), ", and the matrix unit takes exponents of one width"),
                  "give them formats that both end in _b, or both do not"};
}

Choice binary_kernel(const Op& op) {
  if (op.type == OpType::maximum) return missing("maximum has no kernel yet");
  const DataFormat a = op.inputs[0].format, b = op.inputs[1].format;
  if (auto no = cannot_meet(a, b)) return *no;
  const Dest dest = arith::bits::dest_form(op, a);
  const std::string_view name = op.type == OpType::add ? "add" : op.type == OpType::subtract ? "subtract" : "multiply";
  Kernel k{"binary",
           {operand("a", as_factor(a)), operand("b", as_factor(b)), enumerator("Binary", "operation", name),
            number("phases", op.type == OpType::multiply ? phase_bits(op.fidelity) : 1), number("slots", 2)}};
  add_output(op, dest, k.constants);
  return k;
}

Choice matmul_kernel(const Op& op) {
  const auto& a = op.attributes;
  if (op.ublock_order != netlist::UblockOrder::r) return missing("matmuls with ublock_order c have no kernel");
  if (a.identity) return missing("sparse matmuls have no kernel yet");
  if (a.requant || a.dequant) return missing("matmuls that requantize or dequantize have no kernel yet");
  const DataFormat left = op.inputs[0].format, right = op.inputs[1].format;
  if (auto no = cannot_meet(left, right)) return *no;
  const Dest dest = arith::bits::dest_form(op, left);
  // Between blocks nothing is lost in a buffer of the destination's own format.
  const DataFormat between = is_known(op.intermed_format) ? op.intermed_format : own_format(dest);
  const std::int64_t blocks = std::int64_t{a.m_k} * (a.accumulate ? std::max(a.z, 1) : 1);
  const bool in_l1 = a.l1_acc && numerics::can_accumulate_in_l1(between);
  if (dest != Dest::fp32 && is_narrow(between) != (dest == Dest::fp16))
    return missing(cat("sums of ", format_name(left), " operands in ", format_name(between), " have no kernel yet"));
  const CopyWay way = copy_way(between, dest);
  const Operand sums = as_factor(between);
  const Operand bias = a.bias ? as_factor(op.inputs[2].format) : sums;
  if (a.bias)
    if (auto no = cannot_meet(between, op.inputs[2].format)) return *no;
  const bool reads_back = (blocks > 1 && !in_l1) || (in_l1 && !a.bias);
  Kernel k{"matmul",
           {operand("left", as_factor(left)), operand("right", as_factor(right)), operand("between", way.operand), operand("sums", sums),
            operand("bias", bias), enumerator("Copy", "copy", way.name), flag("spills", blocks > 1), flag("sums_in_l1", in_l1),
            enumerator("Round", "round",
                       a.bias  ? "bias"
                       : in_l1 ? "copy"
                               : "none"),
            number("phases", phase_bits(op.fidelity)), number("slots", reads_back && way.operand.to_dest ? 1 : 2)}};
  std::optional<sfpu::FunctionCall> function;
  if (!a.sfpu_op.empty() && a.sfpu_op != "invalid") function = sfpu::FunctionCall{a.sfpu_op, {}};
  auto vector = program(function, dest, netlist::VectorMode::rc);
  if (auto* no = std::get_if<NoKernel>(&vector)) return std::move(*no);
  k.constants.push_back(std::move(std::get<Constant>(vector)));
  k.constants.push_back(packed("partial", dest, between));
  add_output(op, dest, k.constants);
  return k;
}

}  // namespace

std::variant<Kernel, NoKernel> kernel_of(const Op& op) {
  if (auto no = unable(op)) return *no;
  switch (netlist::op_class(op.type)) {
    case OpClass::unary:
    case OpClass::sfpu:
      return unary_kernel(op);
    case OpClass::binary:
      return binary_kernel(op);
    case OpClass::matmul:
      return matmul_kernel(op);
    default:
      return missing(
          cat(netlist::op_type_name(op.type), " ops have no kernel yet; copies, add, subtract, multiply and dense matmuls have"));
  }
}

}  // namespace buda::kernels
