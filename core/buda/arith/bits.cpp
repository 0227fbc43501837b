// SPDX-License-Identifier: Apache-2.0
// What ops of Mode::bits have in common.
#include <buda/arith/bits.hpp>
#include <buda/arith/parts.hpp>

#include <buda/base/text.hpp>
#include <buda/numerics/integers.hpp>
#include <buda/numerics/unpack.hpp>
#include <buda/numerics/vector_functions.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace buda::arith::bits {

using netlist::MathFidelity;
using netlist::ReluMode;
using numerics::Dest;
using numerics::PackerRelu;
using numerics::Packing;
using numerics::Source;

namespace {

constexpr std::size_t kGroup = 16;  // numbers of a row that are packed together

Packing packing_of(const netlist::Op& op, Dest form, DataFormat out, bool with_relu) {
  Packing p = numerics::packing_for(form, out);
  if (!with_relu || !op.attributes.relu.enabled) return p;
  p.threshold = static_cast<float>(op.attributes.relu.threshold);
  p.relu = op.attributes.relu.mode == ReluMode::max ? PackerRelu::max_threshold
           : p.threshold == 0.0f                    ? PackerRelu::zero
                                                    : PackerRelu::min_threshold;
  return p;
}

std::vector<float> packed_by(const OpCall& call, const Packing& packing, const Words& words) {
  std::vector<float> values(words.size());
  in_parts(call.threads, words.size(), kGroup, [&](std::size_t begin, std::size_t end) {
    numerics::pack(packing, {words.data() + begin, end - begin}, {values.data() + begin, end - begin});
  });
  return values;
}

// What a gradient op has added to its earlier sums: the packer adds in L1 where it can, otherwise the sums are read back and added before.
std::vector<float> added_to_previous(const OpCall& call, const DestNumbers& numbers) {
  const DataFormat format = call.op.out_format;
  const std::vector<float>& previous = call.previous->floats;
  const Packing packing = packing_of(call.op, numbers.form, format, true);
  if (numerics::can_accumulate_in_l1(format)) {
    std::vector<float> values = packed_by(call, packing, numbers.words);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = numerics::sum_in_l1(format, previous[i], values[i]);
    return values;
  }
  DestNumbers sums = copied(call, format, previous);
  constexpr std::uint32_t kInSource = 0xffffe000u;
  const Source source = sums.form == Dest::fp16 ? Source::fp16 : Source::tf32;
  for (std::size_t i = 0; i < sums.words.size(); ++i)
    sums.words[i] = numerics::elwadd(source, sums.form, sums.words[i] & kInSource, numbers.words[i] & kInSource, 0);
  return packed_by(call, packing, sums.words);
}

}  // namespace

Dest dest_form(const netlist::Op& op, DataFormat operand) {
  const DataFormat wide = op.acc_format == DataFormat::invalid ? op.out_format : op.acc_format;
  if (wide == DataFormat::float32 || wide == DataFormat::tf32 || !is_float(wide)) return Dest::fp32;
  return numerics::source_of(operand) == Source::fp16 ? Dest::fp16 : Dest::bf16;
}

std::optional<std::string> cannot_meet(const OpCall& call) {
  const DataFormat a = call.inputs[0]->format, b = call.inputs[1]->format;
  if ((numerics::source_of(a) == Source::fp16) == (numerics::source_of(b) == Source::fp16)) return std::nullopt;
  return cat("its operands are ", format_name(a), " and ", format_name(b),
             ", and the matrix unit takes exponents of one width (mode=exact ignores this)");
}

Words source_words(const OpCall& call, const Value& value) {
  Words words(value.floats.size());
  in_parts(call.threads, words.size(), kGroup, [&](std::size_t begin, std::size_t end) {
    numerics::unpack(value.format, numerics::source_of(value.format), {value.floats.data() + begin, end - begin},
                     {words.data() + begin, end - begin});
  });
  return words;
}

DestNumbers copied(const OpCall& call, DataFormat format, std::span<const float> numbers) {
  DestNumbers out{dest_form(call.op, format), Words(numbers.size())};
  in_parts(call.threads, numbers.size(), kGroup, [&](std::size_t begin, std::size_t end) {
    numerics::copy_to_dest(format, out.form, numbers.subspan(begin, end - begin), {out.words.data() + begin, end - begin});
  });
  return out;
}

DestNumbers copied(std::span<const std::int32_t> numbers) {
  DestNumbers out{Dest::fp32, Words(numbers.size()), true};
  std::transform(numbers.begin(), numbers.end(), out.words.begin(), [](std::int32_t v) { return numerics::sign_and_magnitude(v); });
  return out;
}

void apply(const OpCall& call, DestNumbers& numbers, const buda::sfpu::FunctionCall& function, const Words& second) {
  const buda::sfpu::Program* program = buda::sfpu::program_of(function);
  // vector_function() names only functions that there are, which a test shows.
  if (program != nullptr) apply(call, numbers, *program, second);
}

void apply(const OpCall& call, DestNumbers& numbers, const buda::sfpu::Program& function, const Words& second) {
  in_parts(call.threads, numbers.words.size(), kGroup, [&](std::size_t begin, std::size_t end) {
    numerics::VectorCall part;
    part.program = function.instructions.data();
    part.length = function.instructions.size();
    part.result = function.result;
    part.form = numbers.form;
    part.keeps_bits = numbers.integer;
    part.numbers = numbers.words.data() + begin;
    part.count = end - begin;
    part.second = second.empty() ? nullptr : second.data() + begin;
    numerics::best_vector_unit().apply(part);
  });
}

std::vector<float> packed(const OpCall& call, const DestNumbers& numbers, DataFormat format) {
  return packed_by(call, packing_of(call.op, numbers.form, format, false), numbers.words);
}

void spill(const OpCall& call, DestNumbers& numbers, DataFormat format) {
  // Between a register and a buffer of its own format nothing is lost.
  const DataFormat own = numbers.form == Dest::fp32   ? DataFormat::float32
                         : numbers.form == Dest::bf16 ? DataFormat::float16_b
                                                      : DataFormat::float16;
  if (format == own || format == DataFormat::invalid || is_integer(format)) return;
  const std::vector<float> values = packed(call, numbers, format);
  in_parts(call.threads, values.size(), kGroup, [&](std::size_t begin, std::size_t end) {
    numerics::copy_to_dest(format, numbers.form, {values.data() + begin, end - begin}, {numbers.words.data() + begin, end - begin});
  });
}

void add_bias(const OpCall& call, const Value& bias, DestNumbers& numbers) {
  Words added = source_words(call, bias);
  const std::size_t cols = bias.cols(), height = static_cast<std::size_t>(bias.dim.rows);
  const Source source = numbers.form == Dest::fp16 ? Source::fp16 : Source::tf32;
  // Sums of 32 bits have exponents of 8 bits, whatever those of the operands.
  if (numbers.form == Dest::fp32 && numerics::source_of(bias.format) == Source::fp16)
    for (std::uint32_t& word : added) word = std::bit_cast<std::uint32_t>(numerics::value_of_dest(Dest::fp16, word));
  in_parts(call.threads, numbers.words.size() / cols, height, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t c = 0; c < cols; ++c) {
        std::uint32_t& word = numbers.words[row * cols + c];
        word = numerics::elwadd(source, numbers.form, word & 0xffffe000u, added[row / height * height * cols + c], 0);
      }
  });
}

Value finish(const OpCall& call, const DestNumbers& numbers) {
  const netlist::Op& op = call.op;
  if (numbers.integer) {
    std::vector<std::int32_t> values(numbers.words.size());
    std::transform(numbers.words.begin(), numbers.words.end(), values.begin(), numerics::value_of_integer);
    return arith::finish(call, std::move(values));
  }
  if (is_integer(op.out_format)) {
    // The vector unit makes integers of them first.
    std::vector<float> values(numbers.words.size());
    std::transform(numbers.words.begin(), numbers.words.end(), values.begin(),
                   [&](std::uint32_t word) { return numerics::value_of_dest(numbers.form, word); });
    return arith::finish(call, std::move(values));
  }
  Value out;
  out.tiles = op.shape();
  out.dim = op.tile_dim;
  out.format = op.out_format;
  out.floats = call.previous && !call.previous->integer()
                   ? added_to_previous(call, numbers)
                   : packed_by(call, packing_of(op, numbers.form, op.out_format, true), numbers.words);
  return out;
}

std::span<const unsigned> phases_of(MathFidelity fidelity) {
  static constexpr std::array<unsigned, 4> kAll = {3, 2, 1, 0};
  static constexpr std::array<unsigned, 2> kLowOfB = {2, 0};
  switch (fidelity) {
    case MathFidelity::lofi:
      return std::span(kAll).last(1);
    case MathFidelity::hifi2:
      return std::span(kAll).last(2);
    case MathFidelity::hifi2_b:
      return kLowOfB;
    case MathFidelity::hifi3:
      return std::span(kAll).last(3);
    case MathFidelity::hifi4:
      break;
  }
  return kAll;
}

numerics::Product product(const OpCall& call) {
  const DataFormat format = call.inputs[0]->format;
  return {numerics::source_of(format), dest_form(call.op, format), phases_of(call.op.fidelity),
          static_cast<std::size_t>(call.inputs[0]->dim.cols)};
}

}  // namespace buda::arith::bits
