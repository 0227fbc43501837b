// SPDX-License-Identifier: Apache-2.0
// Which data formats go together.
#include <buda/netlist/check/check_context.hpp>
#include <buda/ops/table/device_op.hpp>

#include <algorithm>
#include <cmath>

namespace buda::netlist {
namespace {

using F = DataFormat;

// Formats that a matmul's or binary op's integer path takes; raw formats are words without a meaning and do not make an op an integer op.
bool is_number_integer(F f) { return f == F::int8 || f == F::uint8 || f == F::int32 || f == F::uint16; }
bool is_family_a(F f) { return exponent_family(f) == ExponentFamily::a; }
bool is_family_b(F f) { return exponent_family(f) == ExponentFamily::b; }

void check_supported(CheckContext& ctx, const Op& op) {
  auto one = [&](F f, Field field, std::string_view what) {
    if (!ctx.device.supports(f)) ctx.op_error("NL210", op, field, cat(what, ": ", ctx.device.arch, " has no format ", format_name(f)));
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (!ctx.device.supports(op.inputs[i].format))
      ctx.op_error("NL210", op, Field::in_df, cat("in_df: ", ctx.device.arch, " has no format ", format_name(op.inputs[i].format)), "",
                   static_cast<int>(i));
  one(op.out_format, Field::out_df, "out_df");
  one(op.intermed_format, Field::intermed_df, "intermed_df");
  bool f32 = op.acc_format == F::float32 && !ctx.device.features.fp32_accumulate;
  bool i32 = op.acc_format == F::int32 && !ctx.device.features.int32_accumulate;
  if (f32 || i32)
    ctx.op_error("NL309", op, Field::acc_df,
                 cat("the destination register of ", ctx.device.arch, " has 16 bits per datum and cannot accumulate in ",
                     format_name(op.acc_format)),
                 f32 ? "Float16_b or Float16 can be used" : "");
}

// Partial results of an accumulating op leave as intermed_df and come back; the packer and unpacker of Grayskull do not change the
// exponent family on that way.
void check_accumulation(CheckContext& ctx, const Op& op) {
  bool matmul = op_class(op.type) == OpClass::matmul;
  bool spills = op.gradient_op || (matmul && op.attributes.m_k > 1);
  F out = op.out_format, mid = op.intermed_format;
  if (spills && !ctx.device.features.mixed_exponents_matmul && out != mid) {
    bool fine = (is_family_a(out) && is_family_a(mid)) || (is_family_b(out) && is_family_b(mid)) || (out == F::float32 && is_family_b(mid));
    if (!fine)
      ctx.op_error("NL312", op, Field::intermed_df,
                   cat("out_df ", format_name(out), " and intermed_df ", format_name(mid),
                       " of an accumulating op have to be of one exponent family on ", ctx.device.arch));
  }
  bool coarse = mid == F::bfp2 || mid == F::bfp2_b || mid == F::bfp4 || mid == F::bfp4_b;
  if (coarse && (spills || (matmul && op.attributes.bias)))
    ctx.op_error("NL313", op, Field::intermed_df, cat("intermed_df ", format_name(mid), " has too few bits to accumulate in"));
}

void check_reduce(CheckContext& ctx, const Op& op) {
  if (op.type != OpType::reduce || op.inputs.empty()) return;
  F in = op.inputs[0].format;
  if (op.acc_format == F::float32 && is_family_a(in))
    ctx.op_error("NL346", op, Field::acc_df,
                 cat("a reduction of ", format_name(in), ", a format of 5 exponent bits, cannot accumulate in Float32"));
  if (op.attributes.reduce_dim == Dim::z && (in != op.intermed_format || in != op.out_format))
    ctx.op_error("NL347", op, Field::out_df,
                 cat("a reduction over z keeps one format; in_df, intermed_df and out_df are ", format_name(in), ", ",
                     format_name(op.intermed_format), " and ", format_name(op.out_format)));
}

void check_producers(CheckContext& ctx, const Op& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const OpInput& input = op.inputs[i];
    const Queue* queue = ctx.index.find_queue(input.name);
    const Op* producer = queue == nullptr ? ctx.index.find_op(input.name) : nullptr;
    if (queue == nullptr && producer == nullptr) continue;  // reported as NL102
    F given = queue != nullptr ? queue->format : producer->out_format;
    if (given != input.format)
      ctx.op_error("NL333", op, Field::in_df,
                   cat("input ", i, " is read as ", format_name(input.format), ", but '", input.name, "' holds ", format_name(given)), "",
                   static_cast<int>(i));
    TileDim dim = queue != nullptr ? queue->tile_dim : producer->tile_dim;
    if (dim != TileDim{} && !operand_row(op, i).small_tiles)
      ctx.op_error("NL330", op, Field::inputs,
                   cat("input ", i, " has tiles of ", dim.rows, "x", dim.cols, ", which ",
                       op.attributes.identity ? "a sparse matmul reads as input 1 only"
                                              : cat(op_type_name(op.type), " does not read; dense matmuls, unary, SFPU and binary ops do")),
                   "", static_cast<int>(i));
    if (input.maps.transposes() && dim != TileDim{} && dim != TileDim{16, 32} && dim != TileDim{32, 16})
      ctx.op_error("NL410", op, Field::tms,
                   cat("tiles of ", dim.rows, "x", dim.cols, " cannot be transposed; those of 32x32, 16x32 and 32x16 can"), "",
                   static_cast<int>(i));
  }
}

// Ops that copy their input into the destination register; there, in some chips, 16-bit numbers do not become 32-bit ones.
void check_fp32_copy(CheckContext& ctx, const Op& op) {
  if (!ctx.device.features.fp32_copy_needs_fp32 || op.acc_format != F::float32 || op.gradient_op || op.inputs.empty()) return;
  if (class_of(op).copies_operands && op.inputs[0].format != F::float32)
    ctx.op_error("NL344", op, Field::in_df,
                 cat("on ", ctx.device.arch, ", ", op_type_name(op.type), " with acc_df Float32 takes Float32, not ",
                     format_name(op.inputs[0].format)),
                 "", 0);
}

void check_quant(CheckContext& ctx, const Op& op) {
  if (op_class(op.type) != OpClass::quant || op.inputs.size() != 2) return;
  F in = op.inputs[0].format;
  bool from_float = op.type == OpType::quantization;
  F out = op.type == OpType::dequantization ? F::float32 : F::int8;
  bool in_fine = from_float ? in == F::float32 : in == F::int8 || in == F::int32;
  const char* code = from_float ? "NL321" : op.type == OpType::dequantization ? "NL379" : "NL380";
  if (!in_fine || op.inputs[1].format != F::float32 || op.out_format != out)
    ctx.op_error(
        code, op, Field::in_df,
        cat(op_type_name(op.type), " goes from ", from_float ? "Float32" : "Int8 or Int32", " and Float32 scales to ", format_name(out),
            "; it is given ", format_name(in), " and ", format_name(op.inputs[1].format), " and makes ", format_name(op.out_format)));
  if (op.acc_format != F::int32)
    ctx.op_error("NL381", op, Field::acc_df, cat(op_type_name(op.type), " accumulates in Int32, not ", format_name(op.acc_format)));
}

void check_uint8(CheckContext& ctx, const Op& op) {
  if (class_of(op).takes_uint8) return;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].format == F::uint8)
      ctx.op_error("NL382", op, Field::in_df, cat(op_type_name(op.type), " has no form for UInt8"), "", static_cast<int>(i));
  if (op.out_format == F::uint8) ctx.op_error("NL382", op, Field::out_df, cat(op_type_name(op.type), " has no form for UInt8"));
}

void check_integer_matmul(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  auto byte = [](F f) { return f == F::int8 || f == F::uint8; };
  if (op.inputs.size() < 2) return;
  if (!byte(op.inputs[0].format))
    ctx.op_error("NL370", op, Field::in_df, cat("an integer matmul takes Int8 or UInt8 as in0, not ", format_name(op.inputs[0].format)), "",
                 0);
  // TT-Buda checks in0 twice here, so after UInt8 anything passes as in1.
  if (!byte(op.inputs[1].format) && op.inputs[0].format != F::uint8)
    ctx.op_error("NL371", op, Field::in_df, cat("an integer matmul takes Int8 or UInt8 as in1, not ", format_name(op.inputs[1].format)), "",
                 1);
  if (a.l1_acc) ctx.attribute_error("NL372", op, "l1_acc", "the packer adds no integers, so an integer matmul does not support l1_acc");
  if (auto bias = bias_input(op); bias && *bias < op.inputs.size() && op.inputs[*bias].format != F::int32)
    ctx.op_error(
        "NL373", op, Field::in_df,
        cat("the bias of an integer matmul is added to its Int32 sums and has to be Int32, not ", format_name(op.inputs[*bias].format)), "",
        static_cast<int>(*bias));
  if (auto scales = requant_input(op); scales && *scales < op.inputs.size() && op.inputs[*scales].format != F::float32)
    ctx.op_error("NL374", op, Field::in_df,
                 cat("the scales of requant and dequant are Float32, not ", format_name(op.inputs[*scales].format)), "",
                 static_cast<int>(*scales));
  if (a.identity && op.inputs.size() != 3)
    ctx.op_error("NL375", op, Field::inputs, cat("an integer sparse matmul has three inputs and no bias; it has ", op.inputs.size()));
  if (a.min_buffer_input == 1)
    ctx.attribute_error("NL376", op, "min_buffer_input", "an integer matmul does not support min_buffer_input 1");
}

void check_integer_inputs(CheckContext& ctx, const Op& op) {
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return check_integer_matmul(ctx, op);
    case OpClass::fused:
    case OpClass::quant:
      return;
    case OpClass::binary: {
      bool wide = ops::device_op(op.type).takes_int32;
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        F f = op.inputs[i].format;
        if (f != F::int8 && f != F::uint8 && !(wide && f == F::int32))
          ctx.op_error(
              wide ? "NL367" : "NL368", op, Field::in_df,
              cat("integer ", op_type_name(op.type), " takes Int8", wide ? ", UInt8 and Int32" : " and UInt8", ", not ", format_name(f)),
              "", static_cast<int>(i));
      }
      return;
    }
    default:
      for (std::size_t i = 0; i < op.inputs.size(); ++i)
        if (!is_number_integer(op.inputs[i].format) && op.inputs[i].format != F::raw_uint32)
          ctx.op_error("NL369", op, Field::in_df,
                       cat("one of its inputs is an integer, so all have to be; input ", i, " is ", format_name(op.inputs[i].format)), "",
                       static_cast<int>(i));
  }
}

void check_integer_relu(CheckContext& ctx, const Op& op) {
  const Relu& relu = op.attributes.relu;
  if (!relu.enabled) return;
  if (op.out_format == F::int8 && !(std::abs(relu.threshold) < 127))
    ctx.attribute_error("NL377", op, "relu_threshold",
                        cat("relu_threshold is ", relu.threshold, "; of an Int8 output it has to be below 127"));
  if (op.out_format == F::int32 && (relu.threshold != 0 || relu.mode != ReluMode::min))
    ctx.attribute_error("NL378", op, relu.threshold != 0 ? "relu_threshold" : "relu_mode",
                        cat("relu of an Int32 output has threshold 0 and mode min, not ", relu.threshold, " and ", name_of(relu.mode)));
}

}  // namespace

void check_formats(CheckContext& ctx, const Graph&, const Op& op) {
  check_supported(ctx, op);
  check_accumulation(ctx, op);
  check_reduce(ctx, op);
  check_producers(ctx, op);
  check_fp32_copy(ctx, op);
  check_quant(ctx, op);
  check_uint8(ctx, op);
}

void check_integers(CheckContext& ctx, const Op& op) {
  bool topk = op.type == OpType::topk;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].format == F::uint16 && !(topk && i == 1))
      ctx.op_error("NL323", op, Field::in_df, cat("UInt16 is for the indices of topk, not for input ", i, " of ", op_type_name(op.type)),
                   "", static_cast<int>(i));
  if (op.out_format == F::uint16 && !topk)
    ctx.op_error("NL323", op, Field::out_df, cat("UInt16 is for the indices of topk, not for the output of ", op_type_name(op.type)));
  if (op.intermed_format == F::uint16)
    ctx.op_error("NL383", op, Field::intermed_df, "UInt16 is no format for partial results (intermed_df)");
  if (op.acc_format == F::uint16) ctx.op_error("NL383", op, Field::acc_df, "UInt16 is no format to accumulate in (acc_df)");
  if (topk) return;
  bool integer = std::any_of(op.inputs.begin(), op.inputs.end(), [](const OpInput& i) { return is_number_integer(i.format); });
  const OpAttributes& a = op.attributes;
  if ((a.requant || a.dequant) && (op_class(op.type) != OpClass::matmul || a.identity || !integer))
    ctx.attribute_error("NL366", op, a.requant ? "requant" : "dequant", "requant and dequant are for dense matmuls of integers");
  if (a.requant && a.dequant)
    ctx.attribute_error("NL365", op, "dequant", "requant and dequant exclude each other: one makes Int8, the other floats");
  if (!integer) {
    if (op.acc_format == F::int32 && op.type != OpType::quantization && op.type != OpType::fused_op && op.type != OpType::nop)
      ctx.op_error("NL322", op, Field::acc_df,
                   cat(op_type_name(op.type), " of floats does not accumulate in Int32; quantization, fused_op and nop can"));
    return;
  }
  check_integer_relu(ctx, op);
  bool to_float = a.dequant || op.type == OpType::dequantization;
  if (op.type != OpType::fused_op) {
    if (a.dequant && is_number_integer(op.out_format))
      ctx.op_error("NL361", op, Field::out_df, cat("dequant makes floats, not ", format_name(op.out_format)));
    if (!to_float && !is_number_integer(op.out_format))
      ctx.op_error("NL319", op, Field::out_df,
                   cat("an op of integers makes Int8, UInt8, Int32 or UInt16, not ", format_name(op.out_format)),
                   op_class(op.type) == OpClass::matmul ? "dequant: true makes floats" : "");
  }
  F mid = op.intermed_format;
  if (mid != F::int8 && mid != F::uint8 && mid != F::int32 && !to_float && op.type != OpType::fused_op)
    ctx.op_error("NL362", op, Field::intermed_df, cat("intermed_df of an op of integers is Int8, UInt8 or Int32, not ", format_name(mid)));
  if (op.fidelity != MathFidelity::hifi4)
    ctx.op_error("NL363", op, Field::math_fidelity,
                 cat("integers need all phases of the multiplier: math_fidelity HiFi4, not ", fidelity_name(op.fidelity)));
  if (op.acc_format != F::int32)
    ctx.op_error("NL364", op, Field::acc_df, cat("an op of integers accumulates in Int32, not ", format_name(op.acc_format)));
  check_integer_inputs(ctx, op);
}

}  // namespace buda::netlist
