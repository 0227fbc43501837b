// SPDX-License-Identifier: Apache-2.0
// What every op has to fulfil, apart from formats: counts, blocks, destination register, and what attributes ask for.
#include <buda/netlist/check/check_context.hpp>
#include <buda/netlist/model/output_buffer.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <utility>

namespace buda::netlist {
namespace {

bool is_matmul(const Op& op) { return ops::multiplies_matrices(op.type); }

bool takes_bias(const Op& op) {
  const auto& operands = class_of(op).operands;
  return std::any_of(operands.begin(), operands.end(), [](const ops::Operand& o) { return o.needs == ops::Needs::bias; });
}

void check_inputs(CheckContext& ctx, const Op& op) {
  const InputCount count = expected_inputs(op);
  const std::size_t given = op.inputs.size();
  if (op.type == OpType::fused_op) {
    const FusedOp* fused = ctx.index.find_fused_op(op.attributes.fused_op_id);
    if (fused != nullptr && static_cast<std::size_t>(fused->inputs) != given)
      ctx.op_error("NL121", op, Field::inputs, cat("it has ", given, " inputs, but its fused op '", fused->id, "' takes ", fused->inputs));
    return;
  }
  if (given >= count.min && given <= count.max) return;
  std::string expected = count.min < count.max ? cat("between ", count.min, " and ", count.max) : cat(count.min);
  std::string hint;
  if (takes_bias(op) && given == count.min + 1) hint = "a third operand needs attribute bias: true";
  ctx.op_error("NL105", op, Field::inputs, cat(op_type_name(op.type), " with these attributes takes ", expected, " inputs, not ", given),
               std::move(hint));
}

void check_blocks(CheckContext& ctx, const Graph& graph, const Op& op) {
  const BlockShape& b = op.block;
  // The destination register holds one ublock; topk keeps a row of its input there. Of fused ops each sub-op is looked at.
  std::int32_t room = ctx.device.dest_tiles(op.acc_format);
  if (b.ublock_tiles() > room && op.type != OpType::fused_op) {
    Diagnostic& d = ctx.op_error(
        "NL303", op, Field::ublock,
        cat("a ublock of ", b.ublock_rt, "x", b.ublock_ct, " is ", b.ublock_tiles(),
            " tiles, which do not fit the destination register: its half holds ", room, " tiles of ", format_name(op.acc_format)));
    needs(d, "dest tiles", static_cast<std::uint64_t>(b.ublock_tiles()), static_cast<std::uint64_t>(room));
  }
  const std::int64_t row = std::int64_t{b.ublock_rt} * op.attributes.u_kt;
  if (op.type == OpType::topk && row > room) {
    Diagnostic& d = ctx.attribute_error("NL337", op, "u_kt",
                                        cat("topk sorts ublock_rt x u_kt, ", b.ublock_rt, "x", op.attributes.u_kt,
                                            " tiles, in the destination register, which holds ", room, " of ", format_name(op.acc_format)));
    needs(d, "dest tiles", static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(room));
  }
  if (auto why = output_buffer_fault(op.buf_size_mb, b.t, graph.input_count))
    ctx.op_error("NL304", op, Field::buf_size_mb, std::move(*why));
  if (op.tile_dim != TileDim{} && !ctx.device.features.small_tiles)
    ctx.op_error("NL209", op, Field::tile_dim, cat(ctx.device.arch, " has tiles of 32x32 only"));
  if (class_of(op).row_major && op.ublock_order != UblockOrder::r)
    ctx.op_error(is_matmul(op) ? "NL305" : "NL394", op, Field::ublock_order,
                 cat(op_type_name(op.type), " takes ublock_order r: it makes its ublocks row by row"));
}

void check_l1_acc(CheckContext& ctx, const Op& op) {
  if (!op.attributes.l1_acc) return;
  if (!ctx.device.features.l1_accumulate)
    ctx.attribute_error("NL310", op, "l1_acc", cat("the packer of ", ctx.device.arch, " cannot accumulate in L1 (l1_acc)"));
  DataFormat f = op.intermed_format;
  if (f != DataFormat::float32 && f != DataFormat::int32 && f != DataFormat::float16_b)
    ctx.op_error("NL339", op, Field::intermed_df,
                 cat("with l1_acc the packer adds Float32, Int32 or Float16_b; intermed_df is ", format_name(f)));
  if (is_matmul(op) && bits_per_datum(op.acc_format) == 32 && op.acc_format != f)
    ctx.op_error("NL311", op, Field::intermed_df,
                 cat("with l1_acc and acc_df ", format_name(op.acc_format), ", intermed_df has to be the same, not ", format_name(f)));
}

bool has_broadcast(const OpInput& input) {
  return std::any_of(input.maps.tms.begin(), input.maps.tms.end(), [](const Tm& tm) { return tm.kind == TmKind::broadcast; });
}

// The key that asks for it.
std::string_view broadcast_key(const Op& op, const OpInput& input) {
  if (input.kernel_broadcast.per_t) return "kernel_broadcast_per_t";
  return CheckContext::stands(op, "single_tile") ? "single_tile" : "kernel_broadcast";
}

void check_kernel_broadcast(CheckContext& ctx, const Op& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const OpInput& input = op.inputs[i];
    std::int32_t tiles = input.kernel_broadcast.tiles;
    if (tiles == 0) continue;
    if (!has_broadcast(input))
      ctx.attribute_error("NL314", op, broadcast_key(op, input),
                          cat("kernel_broadcast of input ", i, " reads ", tiles,
                              " tiles again and again, which needs a broadcast among the manipulations of that input"),
                          cat("write input_", i, "_tms: [broadcast: {r: N}]"));
    bool blocks = takes_bias(op) && ctx.device.features.kernel_broadcast_blocks && tiles > 1;
    bool wide = op.block.ublock_ct >= op.block.ublock_rt;
    std::int32_t block = i == 0 && !wide ? op.block.ublock_rt * op.attributes.u_kt : i == 1 && wide ? op.block.ublock_ct : 0;
    if (blocks && block > 0 && tiles % block != 0)
      ctx.attribute_error("NL315", op, broadcast_key(op, input),
                          cat("kernel_broadcast of input ", i, " by ", tiles, " tiles is not a multiple of its block of ", block));
  }
}

void check_gradient(CheckContext& ctx, const Op& op) {
  if (!op.gradient_op) return;
  const bool copy_or_matmul = class_of(op).any_gradient;
  bool any = ctx.device.features.gradient_any_op;
  if (any ? op.type == OpType::maximum : !copy_or_matmul && op.type != OpType::multiply)
    ctx.op_error("NL318", op, Field::gradient_op,
                 cat(op_type_name(op.type), " cannot be a gradient_op on ", ctx.device.arch,
                     any ? "; everything but maximum can" : "; matmul, multiply, nop and datacopy can"));
  if (op.intermed_format != op.out_format)
    ctx.op_error("NL357", op, Field::intermed_df,
                 cat("a gradient_op accumulates in its output: intermed_df ", format_name(op.intermed_format), " has to be out_df ",
                     format_name(op.out_format)));
  if (op.acc_format == DataFormat::int32) ctx.op_error("NL359", op, Field::acc_df, "a gradient_op cannot accumulate in Int32");
  if (copy_or_matmul) return;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].maps.transposes())
      ctx.op_error("NL358", op, Field::tms, cat("a gradient_op that transposes is a matmul, nop or datacopy, not ", op_type_name(op.type)),
                   "", static_cast<int>(i));
}

void check_untilized_queue(CheckContext& ctx, const Op& op, const Queue& q) {
  if (q.grid.volume() != 1)
    ctx.queue_error(
        "NL353", q, Field::grid_size,
        cat("it takes the untilized output of '", op.name, "', which goes to one buffer, but its grid is ", q.grid.rows, "x", q.grid.cols));
  const auto& readers = ctx.readers_of(q.name);
  if (!readers.empty())
    ctx.queue_error("NL355", q, Field::input,
                    cat("it holds the untilized output of '", op.name, "', which op '", ctx.op(readers.front().op).name, "' cannot read"));
}

void check_untilize(CheckContext& ctx, const Op& op) {
  if (!op.untilize_output) return;
  if (op.ublock_order != UblockOrder::r)
    ctx.op_error("NL317", op, Field::ublock_order, "untilize_output takes ublock_order r: rows of datums leave row by row");
  DataFormat f = op.out_format;
  bool integers = (f == DataFormat::int8 || f == DataFormat::int32) && ctx.device.features.int32_accumulate;
  if (f != DataFormat::float32 && f != DataFormat::float16 && f != DataFormat::float16_b && !integers && !is_raw(f))
    ctx.op_error("NL351", op, Field::out_df,
                 cat("untilize_output writes Float32, Float16 or Float16_b", ctx.device.features.int32_accumulate ? ", Int8 or Int32" : "",
                     ", not ", format_name(f)));
  if (is_matmul(op) && op.attributes.m_k != 1)
    ctx.op_error("NL356", op, Field::untilize_output,
                 cat("a matmul that untilizes has m_k 1, not ", op.attributes.m_k, ": its partial sums would share the output buffer"));
  const auto& queues = ctx.queues_fed_by(op.name);
  if (queues.size() != 1)
    ctx.op_error("NL352", op, Field::untilize_output,
                 cat("an op that untilizes feeds exactly one queue; it feeds ", queues.empty() ? std::string("none") : cat(queues.size())));
  const auto& readers = ctx.readers_of(op.name);
  if (!readers.empty())
    ctx.op_error("NL354", op, Field::untilize_output,
                 cat("op '", ctx.op(readers.front().op).name, "' reads it, but untilized data goes to a queue only"));
  for (std::size_t i : queues) check_untilized_queue(ctx, op, ctx.netlist.queues[i]);
}

void check_modes(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (a.sfpu_thread == SfpuThread::pack && !ctx.device.features.sfpu_on_pack)
    ctx.attribute_error("NL324", op, "sfpu_execution_thread", cat(ctx.device.arch, " runs the SFPU on the math thread only"));
  using S = StochasticRounding;
  S s = a.stochastic_rounding;
  const char* rounding = CheckContext::stands(op, "srnd_fpu_en") ? "srnd_fpu_en" : "stoch_rnd_mode";
  if (s != S::none && !ctx.device.features.stochastic_rounding)
    ctx.attribute_error("NL325", op, rounding, cat(ctx.device.arch, " has no stochastic rounding"));
  if ((s == S::fpu || s == S::all) && op.acc_format == DataFormat::float32)
    ctx.attribute_error("NL384", op, rounding, "the FPU does not round stochastically with acc_df Float32 (stoch_rnd_mode fpu and all)");
  auto bfp8 = [](DataFormat f) { return f == DataFormat::bfp8 || f == DataFormat::bfp8_b; };
  if ((s == S::pack || s == S::all) && (bfp8(op.out_format) || bfp8(op.intermed_format)))
    ctx.attribute_error(
        "NL385", op, rounding,
        "the packer does not round Bfp8 and Bfp8_b stochastically, neither out_df nor intermed_df (stoch_rnd_mode pack and all)");
  if (a.relu.threshold < 0)
    ctx.attribute_error("NL320", op, "relu_threshold", cat("relu_threshold is ", a.relu.threshold, "; it is not negative"));
  if (a.min_buffer_input == 1 && (op.type == OpType::depthwise || op.type == OpType::buffer))
    ctx.attribute_error("NL331", op, "min_buffer_input", cat(op_type_name(op.type), " takes min_buffer_input 0"));
  if (a.p < 0 || a.p > 1) ctx.attribute_error("NL332", op, "p", cat("p is ", a.p, "; a probability is between 0 and 1"));
}

}  // namespace

void check_op(CheckContext& ctx, const Graph& graph, const Op& op) {
  check_inputs(ctx, op);
  check_blocks(ctx, graph, op);
  check_op_type(ctx, op);
  check_l1_acc(ctx, op);
  check_kernel_broadcast(ctx, op);
  check_gradient(ctx, op);
  check_untilize(ctx, op);
  check_modes(ctx, op);
}

}  // namespace buda::netlist
