// Which data formats go together.
#include <buda/netlist/check_context.hpp>

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
  for (const OpInput& input : op.inputs) one(input.format, Field::in_df, "in_df");
  one(op.out_format, Field::out_df, "out_df");
  one(op.intermed_format, Field::intermed_df, "intermed_df");
  bool f32 = op.acc_format == F::float32 && !ctx.device.features.fp32_accumulate;
  bool i32 = op.acc_format == F::int32 && !ctx.device.features.int32_accumulate;
  if (f32 || i32)
    ctx.op_error("NL309", op, Field::acc_df, cat(ctx.device.arch, " cannot accumulate in ", format_name(op.acc_format)),
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
    ctx.op_error("NL313", op, Field::intermed_df, cat("intermed_df ", format_name(mid), " is too coarse to accumulate in"));
}

void check_reduce(CheckContext& ctx, const Op& op) {
  if (op.type != OpType::reduce || op.inputs.empty()) return;
  F in = op.inputs[0].format;
  if (op.acc_format == F::float32 && is_family_a(in))
    ctx.op_error("NL316", op, Field::acc_df, cat("a reduction of ", format_name(in), " cannot accumulate in Float32"));
  if (op.attributes.reduce_dim == Dim::z && (in != op.intermed_format || in != op.out_format))
    ctx.op_error("NL316", op, Field::out_df,
                 cat("a reduction over z keeps one format; in_df, intermed_df and out_df are ", format_name(in), ", ",
                     format_name(op.intermed_format), " and ", format_name(op.out_format)));
}

bool small_tiles_allowed(const Op& op) {
  switch (op_class(op.type)) {
    case OpClass::matmul:
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::binary:
    case OpClass::reduce:
      return true;
    default:
      return false;
  }
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
                   cat("input ", i, " is read as ", format_name(input.format), ", but '", input.name, "' holds ", format_name(given)));
    TileDim dim = queue != nullptr ? queue->tile_dim : producer->tile_dim;
    if (dim != TileDim{} && !small_tiles_allowed(op))
      ctx.op_error("NL330", op, Field::inputs,
                   cat("input ", i, " has tiles of ", dim.rows, "x", dim.cols, ", which ", op_type_name(op.type), " does not read"));
  }
  if (op.tile_dim != TileDim{} && !small_tiles_allowed(op))
    ctx.op_error("NL330", op, Field::tile_dim,
                 cat(op_type_name(op.type), " does not make tiles of ", op.tile_dim.rows, "x", op.tile_dim.cols));
}

void check_quant(CheckContext& ctx, const Op& op) {
  if (op_class(op.type) != OpClass::quant || op.inputs.size() != 2) return;
  F in = op.inputs[0].format;
  bool from_float = op.type == OpType::quantization;
  F out = op.type == OpType::dequantization ? F::float32 : F::int8;
  bool in_fine = from_float ? in == F::float32 : in == F::int8 || in == F::int32;
  if (!in_fine || op.inputs[1].format != F::float32 || op.out_format != out || op.acc_format != F::int32)
    ctx.op_error("NL321", op, Field::in_df,
                 cat(op_type_name(op.type), " goes from ", from_float ? "Float32" : "Int8 or Int32", " and Float32 scales to ",
                     format_name(out), " with acc_df Int32; it is given ", format_name(in), ", ", format_name(op.inputs[1].format), ", ",
                     format_name(op.out_format), " and ", format_name(op.acc_format)));
}

void check_integer_matmul(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  auto byte = [](F f) { return f == F::int8 || f == F::uint8; };
  if (op.inputs.size() < 2) return;
  if (!byte(op.inputs[0].format))
    ctx.op_error("NL319", op, Field::in_df, cat("an integer matmul takes Int8 or UInt8, not ", format_name(op.inputs[0].format)));
  if (!byte(op.inputs[1].format) && op.inputs[0].format != F::uint8)
    ctx.op_error("NL319", op, Field::in_df, cat("an integer matmul takes Int8 or UInt8, not ", format_name(op.inputs[1].format)));
  if (a.l1_acc) ctx.op_error("NL319", op, Field::attributes, "an integer matmul takes no l1_acc");
  if (auto bias = bias_input(op); bias && *bias < op.inputs.size() && op.inputs[*bias].format != F::int32)
    ctx.op_error("NL319", op, Field::in_df, cat("the bias of an integer matmul is Int32, not ", format_name(op.inputs[*bias].format)));
  if (auto scales = requant_input(op); scales && *scales < op.inputs.size() && op.inputs[*scales].format != F::float32)
    ctx.op_error("NL319", op, Field::in_df,
                 cat("the scales of requant and dequant are Float32, not ", format_name(op.inputs[*scales].format)));
  if (a.identity && op.inputs.size() != 3) ctx.op_error("NL319", op, Field::inputs, "an integer sparse matmul has three inputs");
  if (a.min_buffer_input == 1) ctx.op_error("NL319", op, Field::attributes, "an integer matmul takes no min_buffer_input 1");
}

void check_integer_inputs(CheckContext& ctx, const Op& op) {
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return check_integer_matmul(ctx, op);
    case OpClass::fused:
    case OpClass::quant:
      return;
    case OpClass::binary: {
      bool wide = op.type == OpType::add || op.type == OpType::maximum;
      for (const OpInput& input : op.inputs)
        if (input.format != F::int8 && input.format != F::uint8 && !(wide && input.format == F::int32))
          ctx.op_error("NL319", op, Field::in_df,
                       cat("integer ", op_type_name(op.type), " takes Int8", wide ? ", UInt8 and Int32" : " and UInt8", ", not ",
                           format_name(input.format)));
      return;
    }
    default:
      for (const OpInput& input : op.inputs)
        if (!is_number_integer(input.format) && input.format != F::raw_uint32)
          ctx.op_error("NL319", op, Field::in_df, cat("its inputs mix integers and ", format_name(input.format)));
  }
}

void check_integer_relu(CheckContext& ctx, const Op& op) {
  const Relu& relu = op.attributes.relu;
  if (!relu.enabled) return;
  if (op.out_format == F::int8 && !(std::abs(relu.threshold) < 127))
    ctx.op_error("NL320", op, Field::attributes, cat("relu_threshold ", relu.threshold, " of an Int8 output has to be below 127"));
  if (op.out_format == F::int32 && (relu.threshold != 0 || relu.mode != ReluMode::min))
    ctx.op_error("NL320", op, Field::attributes, "relu of an Int32 output has threshold 0 and mode min");
}

}  // namespace

void check_formats(CheckContext& ctx, const Graph&, const Op& op) {
  check_supported(ctx, op);
  check_accumulation(ctx, op);
  check_reduce(ctx, op);
  check_producers(ctx, op);
  check_quant(ctx, op);
}

void check_integers(CheckContext& ctx, const Op& op) {
  check_integer_relu(ctx, op);
  bool topk = op.type == OpType::topk;
  bool integer = std::any_of(op.inputs.begin(), op.inputs.end(), [](const OpInput& i) { return is_number_integer(i.format); });
  bool has_u16 = std::any_of(op.inputs.begin(), op.inputs.end(), [](const OpInput& i) { return i.format == F::uint16; });
  if (!topk && (has_u16 || op.out_format == F::uint16 || op.intermed_format == F::uint16))
    ctx.op_error("NL323", op, Field::in_df, "UInt16 is for the indices of topk");
  if (topk) return;
  const OpAttributes& a = op.attributes;
  if ((a.requant || a.dequant) && (op_class(op.type) != OpClass::matmul || a.identity || !integer))
    ctx.op_error("NL319", op, Field::attributes, "requant and dequant are for dense matmuls of integers");
  if (!integer) {
    if (op.acc_format == F::int32 && op.type != OpType::quantization && op.type != OpType::fused_op && op.type != OpType::nop)
      ctx.op_error("NL322", op, Field::acc_df, cat(op_type_name(op.type), " of floats does not accumulate in Int32"));
    return;
  }
  bool to_float = a.dequant || op.type == OpType::dequantization;
  if (op.type != OpType::fused_op) {
    if (to_float && is_number_integer(op.out_format))
      ctx.op_error("NL319", op, Field::out_df, cat("dequantized values are floats, not ", format_name(op.out_format)));
    if (!to_float && !is_number_integer(op.out_format))
      ctx.op_error("NL319", op, Field::out_df, cat("an integer op makes Int8, UInt8, Int32 or UInt16, not ", format_name(op.out_format)));
    F mid = op.intermed_format;
    if (mid != F::int8 && mid != F::uint8 && mid != F::int32 && !to_float)
      ctx.op_error("NL319", op, Field::intermed_df, cat("intermed_df of an integer op is Int8, UInt8 or Int32, not ", format_name(mid)));
  }
  if (op.fidelity != MathFidelity::hifi4)
    ctx.op_error("NL319", op, Field::math_fidelity, cat("an integer op takes HiFi4, not ", fidelity_name(op.fidelity)));
  if (op.acc_format != F::int32)
    ctx.op_error("NL319", op, Field::acc_df, cat("an integer op accumulates in Int32, not ", format_name(op.acc_format)));
  check_integer_inputs(ctx, op);
}

}  // namespace buda::netlist
