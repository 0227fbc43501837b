// SPDX-License-Identifier: Apache-2.0
// Constants, formats, programs.
#include <buda/kernels/text/kernel_constants.hpp>

#include <buda/arith/bits.hpp>
#include <buda/base/text.hpp>
#include <buda/numerics/unpack.hpp>
#include <buda/sfpu/words.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace buda::kernels {

using netlist::Op;
using netlist::OpType;
using numerics::Dest;
using numerics::Intermediate;
using numerics::Source;

namespace {

DataFormat of_source(Source source) {
  return source == Source::tf32 ? DataFormat::tf32 : source == Source::fp16 ? DataFormat::float16 : DataFormat::float16_b;
}

// Through a source register: a Float32 as `source` says, everything else as it is.
Operand through(DataFormat format, Source source) { return {format, format == DataFormat::float32 ? of_source(source) : format, false}; }

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

// A threshold as the packers keep it: the upper 16 bits of a Float32, or a Float16 that is cut.
std::uint32_t threshold_bits(double threshold, Intermediate intermediate) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(threshold));
  if (intermediate != Intermediate::fp16 && intermediate != Intermediate::e5m6) return bits >> 16;
  const int exponent = static_cast<int>(bits >> 23) - (127 - 15);
  if (exponent <= 0) return 0;
  return exponent > 31 ? 0x7fffu : static_cast<std::uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ff);
}

constexpr std::size_t kMaxWords = 600;  // share/kernels/vector.h

// `format`: in which it is loaded and stored (VectorFormat in share/kernels/vector.h).
std::variant<Constant, NoKernel> program_constant(const sfpu::Program& program, std::string_view name, int format,
                                                  netlist::VectorMode mode) {
  const std::vector<std::uint32_t> words = sfpu::words_of(program);
  if (words.size() > kMaxWords) return missing(cat(name, " takes ", words.size(), " instructions; kernels have room for ", kMaxWords));
  const int faces = mode == netlist::VectorMode::r ? 3 : mode == netlist::VectorMode::c ? 5 : 15;
  std::string text = cat('{', words.size(), ", ", program.result, ", ", format, ", ", format, ", ", faces, ", {");
  for (std::size_t i = 0; i < words.size(); ++i) text += cat(i == 0 ? "" : ", ", hex_text(words[i]));
  return Constant{"Program", "program", text + "}}"};
}

}  // namespace

Constant flag(std::string name, bool value) { return {"bool", std::move(name), value ? "true" : "false"}; }
Constant number(std::string name, std::uint32_t value) { return {"uint32_t", std::move(name), cat(value)}; }
Constant enumerator(const std::string& type, std::string name, std::string_view value) {
  return {type, std::move(name), cat(type, "::", value)};
}
Constant operand(std::string name, const Operand& o) {
  return {"Operand", std::move(name),
          cat('{', format_code(o.stored), ", ", format_code(o.unpacked), ", ", o.to_dest ? "true" : "false", o.turned ? ", true" : "", '}')};
}

Operand as_factor(DataFormat format) {
  return is_integer(format) ? Operand{format, format, false} : through(format, numerics::source_of(format));
}

CopyWay copy_way(DataFormat format, Dest dest) {
  if (dest != Dest::fp32) return {"move", through(format, numerics::copy_source_of(format, dest))};
  if (format == DataFormat::float32 || format == DataFormat::int32) return {"to_dest", {format, format, true}};
  return {"add", as_factor(format)};
}

DataFormat own_format(Dest dest) {
  return dest == Dest::fp32 ? DataFormat::float32 : dest == Dest::bf16 ? DataFormat::float16_b : DataFormat::float16;
}

Constant packed(std::string name, Dest dest, DataFormat out) {
  if (is_integer(out))
    return {"Packed", std::move(name),
            cat(out == DataFormat::uint16 ? "{false, " : "{true, ", format_code(out), ", ", format_code(out), '}')};
  const auto packing = numerics::packing_for(dest, out);
  return {"Packed", std::move(name),
          cat('{', dest == Dest::fp32 ? "true" : "false", ", ", intermediate_code(packing.intermediate), ", ", format_code(out), '}')};
}

void add_output(const Op& op, Dest dest, std::vector<Constant>& to) {
  to.push_back(packed("out", dest, op.out_format));
  const auto& relu = op.attributes.relu;
  const auto intermediate = is_integer(op.out_format) ? Intermediate::wide : numerics::packing_for(dest, op.out_format).intermediate;
  const std::uint32_t threshold = relu.enabled ? threshold_bits(relu.threshold, intermediate) : 0;
  const std::uint32_t mode = !relu.enabled ? 0 : relu.mode == netlist::ReluMode::max ? 3 : relu.threshold == 0 ? 1 : 2;
  to.push_back(number("relu_mode", mode));
  to.push_back(number("relu_threshold", threshold));
  to.push_back(flag("adds", op.gradient_op && numerics::can_accumulate_in_l1(op.out_format)));
  to.push_back(flag("as_rows", op.untilize_output));
}

NoKernel missing(std::string reason) { return {std::move(reason), "golden with mode=bits executes it"}; }

std::variant<Constant, NoKernel> program(const std::optional<sfpu::FunctionCall>& function, Dest dest, netlist::VectorMode mode,
                                         bool rounds) {
  if (!function) return Constant{"Program", "program", "{0, 0, 0, 0, 0, {0}}"};
  const sfpu::Program* found = sfpu::program_of(*function);
  if (found == nullptr) return missing(cat(function->name, " has no program for the vector unit"));
  return program(*found, function->name, dest, mode, rounds);
}

std::variant<Constant, NoKernel> program(const sfpu::Program& function, std::string_view name, Dest dest, netlist::VectorMode mode,
                                         bool rounds) {
  sfpu::Program whole = function;
  if (rounds && dest != Dest::fp32) {
    numerics::VectorInstruction round;
    round.op = numerics::VectorOp::round;
    round.mod = dest == Dest::bf16 ? 1 : 0;
    round.c = static_cast<std::uint8_t>(whole.result);
    whole.instructions.push_back(round);
    whole.result = 0;
  }
  return program_constant(whole, name, dest == Dest::fp32 ? 3 : dest == Dest::bf16 ? 2 : 1, mode);
}

std::variant<Constant, NoKernel> integer_program(const sfpu::FunctionCall& function) {
  constexpr int kWord = 4;  // share/kernels/vector.h
  const sfpu::Program* found = sfpu::program_of(function);
  if (found == nullptr) return missing(cat(function.name, " has no program for the vector unit"));
  return program_constant(*found, function.name, kWord, netlist::VectorMode::rc);
}

std::variant<Constant, NoKernel> rescaling(const Op& op) {
  const arith::bits::Rescaling how = arith::bits::rescaling_of(op);
  return how.makes_integers ? integer_program(how.function) : program(how.function, Dest::fp32, netlist::VectorMode::rc);
}

bool is_known(DataFormat f) { return is_float(f) && f != DataFormat::tf32 && f != DataFormat::fp8_e4m3; }
bool is_known_integer(DataFormat f) { return f == DataFormat::int8 || f == DataFormat::int32; }
bool is_narrow(DataFormat f) { return numerics::source_of(f) == Source::fp16; }

std::uint32_t phase_bits(netlist::MathFidelity fidelity) {
  std::uint32_t bits = 0;
  for (unsigned phase : arith::bits::phases_of(fidelity)) bits |= 1u << phase;
  return bits;
}

std::optional<sfpu::FunctionCall> function_of(const Op& op) {
  auto function = arith::bits::vector_function(op);
  if (op.type != OpType::dropout) return function;
  const double p = std::clamp<double>(op.attributes.p, 0, 1);
  function->name = "dropout";
  function->constants["threshold"] = static_cast<std::uint32_t>(std::min(p * 0x1p31, 0x1p31 - 1));
  return function;
}

std::optional<NoKernel> cannot_meet(DataFormat a, DataFormat b) {
  if (is_integer(a) || is_integer(b)) return std::nullopt;  // what of them has a kernel is asked elsewhere
  if (is_narrow(a) == is_narrow(b)) return std::nullopt;
  return NoKernel{cat("its operands are ", format_name(a), " and ", format_name(b), ", and the matrix unit takes exponents of one width"),
                  "give them formats that both end in _b, or both do not"};
}

}  // namespace buda::kernels
