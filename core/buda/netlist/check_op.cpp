// What single ops have to fulfil, apart from formats: counts, blocks, destination register, and the rules of each op type.
#include <buda/netlist/check_context.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

bool is_matmul(const Op& op) { return op_class(op.type) == OpClass::matmul; }

void check_inputs(CheckContext& ctx, const Op& op) {
  std::size_t wanted = expected_inputs(op), given = op.inputs.size();
  if (op.type == OpType::fused_op) {
    const FusedOp* fused = ctx.index.find_fused_op(op.attributes.fused_op_id);
    if (fused != nullptr && static_cast<std::size_t>(fused->inputs) != given)
      ctx.op_error("NL105", op, Field::inputs, cat("it has ", given, " inputs, its fused op '", fused->id, "' ", fused->inputs));
    return;
  }
  bool open_ended = op.type == OpType::splice || op.type == OpType::buffer;
  auto most = open_ended ? static_cast<std::size_t>(info(op.type).most_inputs) : wanted;
  if (given >= wanted && given <= most) return;
  std::string expected = open_ended ? cat("between ", wanted, " and ", most) : cat(wanted);
  std::string hint;
  if ((is_matmul(op) || op.type == OpType::depthwise) && given == wanted + 1) hint = "a third operand needs attribute bias: true";
  ctx.op_error("NL105", op, Field::inputs, cat(op_type_name(op.type), " with these attributes takes ", expected, " inputs, not ", given),
               std::move(hint));
}

void check_blocks(CheckContext& ctx, const Graph& graph, const Op& op) {
  const BlockShape& b = op.block;
  // The destination register holds one ublock; topk keeps a row of its input there.
  std::int64_t tiles = b.ublock_tiles();
  if (op.type == OpType::topk) tiles = std::max(tiles, std::int64_t{b.ublock_rt} * op.attributes.u_kt);
  std::int32_t room = ctx.device.dest_tiles(op.acc_format);
  if (tiles > room && op.type != OpType::fused_op) {
    Diagnostic& d = ctx.op_error("NL303", op, Field::ublock,
                                 cat("a ublock of ", b.ublock_rt, "x", b.ublock_ct, " does not fit the destination register, which holds ",
                                     room, " tiles of ", format_name(op.acc_format)));
    needs(d, "dest tiles", static_cast<std::uint64_t>(tiles), static_cast<std::uint64_t>(room));
  }
  std::int64_t half = op.single_buffer_mblocks();
  if (op.buf_size_mb < 1) {
    ctx.op_error("NL304", op, Field::buf_size_mb, "buf_size_mb is 0; an output buffer holds at least one mblock");
  } else if (op.buf_size_mb > 1 && op.buf_size_mb % 2 != 0) {
    ctx.op_error("NL304", op, Field::buf_size_mb,
                 cat("buf_size_mb is ", op.buf_size_mb, "; above 1 it counts both halves of a double buffer and is even"));
  } else if (half % b.t != 0 && b.t % half != 0 && half < std::int64_t{graph.input_count} * b.t) {
    ctx.op_error("NL304", op, Field::buf_size_mb, cat("a half buffer of ", half, " mblocks and t of ", b.t, " have to divide one another"));
  }
  if (op.tile_dim != TileDim{} && !ctx.device.features.small_tiles)
    ctx.op_error("NL209", op, Field::tile_dim, cat(ctx.device.arch, " has tiles of 32x32 only"));
  bool ordered = is_matmul(op) || op.type == OpType::depthwise || op.type == OpType::reduce;
  if (ordered && op.ublock_order != UblockOrder::r)
    ctx.op_error("NL305", op, Field::ublock_order, cat(op_type_name(op.type), " takes ublock_order r"));
}

void check_matmul(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (a.m_k < 1 || a.u_kt < 1)
    ctx.op_error("NL306", op, Field::attributes, cat("m_k is ", a.m_k, " and u_kt ", a.u_kt, "; both have to be at least 1"));
  if (a.accumulate && a.identity) ctx.op_error("NL307", op, Field::attributes, "accumulate and identity exclude each other");
  if (a.accumulate && a.z < 1) ctx.op_error("NL307", op, Field::attributes, "accumulate needs z, the number of ts that are summed");
  if (a.requant && a.dequant) ctx.op_error("NL319", op, Field::attributes, "requant and dequant exclude each other");
  if (!a.sfpu_op.empty() && a.sfpu_op != "gelu" && a.sfpu_op != "invalid")
    ctx.op_error("NL308", op, Field::attributes, cat("sfpu_op '", a.sfpu_op, "' cannot follow a matmul; gelu can"));
  if (!a.identity) return;
  if (op.gradient_op) ctx.op_error("NL308", op, Field::gradient_op, "a sparse (identity) matmul cannot be a gradient_op");
  if (op.inputs.size() < 3) return;  // reported as NL105
  const OpInput& indices = op.inputs[2];
  if (!is_raw(indices.format))
    ctx.op_error("NL308", op, Field::in_df,
                 cat("the indices of a sparse matmul are RawUInt8, RawUInt16 or RawUInt32, not ", format_name(indices.format)));
  if (!indices.maps.tms.empty() && indices.maps.tms.front().kind != TmKind::broadcast)
    ctx.op_error("NL308", op, Field::tms, "the first manipulation of the indices has to be a broadcast", "", 2);
  if (a.sparse.num_sparse_tiles < 1 || a.sparse.num_index_tiles < 1)
    ctx.op_error("NL308", op, Field::attributes, "a sparse matmul needs num_sparse_tiles and num_index_tiles");
  if (!a.sparse.num_nz_strips.empty() && static_cast<std::int64_t>(a.sparse.num_nz_strips.size()) != op.grid.volume())
    ctx.op_error("NL308", op, Field::attributes,
                 cat("num_nz_strips lists ", a.sparse.num_nz_strips.size(), " counts for ", op.grid.volume(), " cores"));
}

void check_l1_acc(CheckContext& ctx, const Op& op) {
  if (!op.attributes.l1_acc) return;
  if (!is_matmul(op) && op.type != OpType::depthwise) ctx.op_error("NL310", op, Field::attributes, "l1_acc is for matmul and depthwise");
  if (!ctx.device.features.l1_accumulate)
    ctx.op_error("NL310", op, Field::attributes, cat(ctx.device.arch, " cannot accumulate in L1 (l1_acc)"));
  DataFormat f = op.intermed_format;
  if (f != DataFormat::float32 && f != DataFormat::int32 && f != DataFormat::float16_b)
    ctx.op_error("NL310", op, Field::intermed_df, cat("with l1_acc, intermed_df is Float32, Int32 or Float16_b, not ", format_name(f)));
  if (bits_per_datum(op.acc_format) == 32 && op.acc_format != f)
    ctx.op_error("NL311", op, Field::intermed_df,
                 cat("with l1_acc and acc_df ", format_name(op.acc_format), ", intermed_df has to be the same, not ", format_name(f)));
}

bool has_broadcast(const OpInput& input) {
  return std::any_of(input.maps.tms.begin(), input.maps.tms.end(), [](const Tm& tm) { return tm.kind == TmKind::broadcast; });
}

void check_kernel_broadcast(CheckContext& ctx, const Op& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const OpInput& input = op.inputs[i];
    std::int32_t tiles = input.kernel_broadcast.tiles;
    if (tiles == 0) continue;
    if (!has_broadcast(input))
      ctx.op_error("NL314", op, Field::attributes, cat("kernel_broadcast of input ", i, " needs a broadcast among its manipulations"));
    bool blocks = (is_matmul(op) || op.type == OpType::depthwise) && ctx.device.features.kernel_broadcast_blocks && tiles > 1;
    bool wide = op.block.ublock_ct >= op.block.ublock_rt;
    std::int32_t block = i == 0 && !wide ? op.block.ublock_rt * op.attributes.u_kt : i == 1 && wide ? op.block.ublock_ct : 0;
    if (blocks && block > 0 && tiles % block != 0)
      ctx.op_error("NL315", op, Field::attributes,
                   cat("kernel_broadcast of input ", i, " by ", tiles, " tiles is no multiple of its block of ", block));
  }
}

void check_gradient(CheckContext& ctx, const Op& op) {
  if (!op.gradient_op) return;
  OpClass c = op_class(op.type);
  bool any = ctx.device.features.gradient_any_op;
  if (any ? op.type == OpType::maximum : c != OpClass::matmul && c != OpClass::unary && op.type != OpType::multiply)
    ctx.op_error("NL318", op, Field::gradient_op, cat(op_type_name(op.type), " cannot be a gradient_op on ", ctx.device.arch));
  if (op.intermed_format != op.out_format)
    ctx.op_error("NL318", op, Field::intermed_df,
                 cat("a gradient_op accumulates in its output: intermed_df ", format_name(op.intermed_format), " has to be out_df ",
                     format_name(op.out_format)));
  if (op.acc_format == DataFormat::int32) ctx.op_error("NL318", op, Field::acc_df, "a gradient_op cannot accumulate in Int32");
  if (c == OpClass::matmul || op.type == OpType::datacopy || op.type == OpType::nop) return;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].maps.transposes())
      ctx.op_error("NL318", op, Field::tms, "transpose on a gradient_op is for matmul and datacopy", "", static_cast<int>(i));
}

void check_untilize(CheckContext& ctx, const Op& op) {
  if (!op.untilize_output) return;
  if (op.ublock_order != UblockOrder::r) ctx.op_error("NL317", op, Field::ublock_order, "untilize_output takes ublock_order r");
  DataFormat f = op.out_format;
  bool integers = (f == DataFormat::int8 || f == DataFormat::int32) && ctx.device.features.int32_accumulate;
  if (f != DataFormat::float32 && f != DataFormat::float16 && f != DataFormat::float16_b && !integers && !is_raw(f))
    ctx.op_error("NL317", op, Field::out_df,
                 cat("untilize_output writes Float32, Float16 or Float16_b", ctx.device.features.int32_accumulate ? ", Int8 or Int32" : "",
                     ", not ", format_name(f)));
  if (is_matmul(op) && op.attributes.m_k != 1)
    ctx.op_error("NL317", op, Field::untilize_output, cat("a matmul that untilizes has m_k 1, not ", op.attributes.m_k));
  const auto& queues = ctx.queues_fed_by(op.name);
  if (queues.size() != 1 || !ctx.readers_of(op.name).empty()) {
    ctx.op_error("NL317", op, Field::untilize_output,
                 cat("an op that untilizes feeds one queue and nothing else; it feeds ", queues.size(), " queues and ",
                     ctx.readers_of(op.name).size(), " ops"));
    return;
  }
  const Queue& q = ctx.netlist.queues[queues.front()];
  if (q.grid.volume() != 1)
    ctx.op_error("NL317", op, Field::untilize_output,
                 cat("its queue '", q.name, "' has a grid of ", q.grid.rows, "x", q.grid.cols, "; untilized data goes to a single buffer"));
  if (!ctx.readers_of(q.name).empty())
    ctx.op_error("NL317", op, Field::untilize_output, cat("its queue '", q.name, "' feeds ops, which cannot read untilized data"));
}

void check_reduce(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (a.reduce_dim == Dim::none) ctx.op_error("NL316", op, Field::attributes, "attribute 'dim' is missing");
  if (a.reduce_dim == Dim::z && a.z < 1) ctx.op_error("NL316", op, Field::attributes, "dim z needs z, the number of ts reduced to one");
  if ((a.reduce_dim == Dim::r || a.reduce_dim == Dim::c) && (a.m_k < 1 || a.u_kt < 1))
    ctx.op_error("NL316", op, Field::attributes, cat("m_k is ", a.m_k, " and u_kt ", a.u_kt, "; both have to be at least 1"));
  if (a.reduce_dim == Dim::z && op.untilize_output)
    ctx.op_error("NL316", op, Field::untilize_output, "a reduction over z cannot be untilized");
}

void check_splice(CheckContext& ctx, const Op& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i].splice)
      ctx.op_error("NL326", op, Field::attributes, cat("attribute 'input", i, ": [index, length, stride]' is missing"));
    if (op.inputs[i].format != op.inputs[0].format) ctx.op_error("NL326", op, Field::in_df, "all inputs of a splice have the same format");
  }
}

void check_special(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return check_matmul(ctx, op);
    case OpClass::reduce:
      return check_reduce(ctx, op);
    case OpClass::splice:
      return check_splice(ctx, op);
    case OpClass::depthwise:
      if (a.u_kt != 1 || a.m_k < 1)
        ctx.op_error("NL306", op, Field::attributes, cat("depthwise takes u_kt 1 and m_k of at least 1, not ", a.u_kt, " and ", a.m_k));
      return;
    case OpClass::embedding:
      if (a.num_indices < 1 || a.num_indices % 32 != 0 || op.block.ublock_rt != 1 || a.num_indices / 32 != op.block.mblock_m)
        ctx.op_error("NL327", op, Field::attributes,
                     cat("an embedding of ", a.num_indices, " indices needs a multiple of 32, ublock_rt 1 and mblock_m ",
                         a.num_indices / 32, "; they are ", op.block.ublock_rt, " and ", op.block.mblock_m));
      return;
    case OpClass::tilizer:
      for (const OpInput& input : op.inputs)
        if (!input.maps.tms.empty() || input.maps.pad || input.maps.unpad)
          ctx.op_error("NL328", op, Field::tms, "a tilizer takes no manipulations", "", 0);
      return;
    case OpClass::topk:
      if (a.m_k < 1 || a.u_kt < 1 || a.k < 1) ctx.op_error("NL329", op, Field::attributes, "topk needs k, m_k and u_kt of at least 1");
      if (a.sort == TopkSort::argmax && op.inputs.size() == 2 && op.inputs[1].format != op.out_format)
        ctx.op_error("NL329", op, Field::out_df,
                     cat("topk that sorts argmax passes indices on: out_df ", format_name(op.out_format), " has to be in_df[1] ",
                         format_name(op.inputs[1].format)));
      return;
    case OpClass::buffer:
      if (op.block.mblock_m != 1) ctx.op_error("NL335", op, Field::mblock, "a buffer op has mblock_m 1");
      return;
    default:
      return;
  }
}

void check_modes(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (a.sfpu_thread == SfpuThread::pack && !ctx.device.features.sfpu_on_pack)
    ctx.op_error("NL324", op, Field::attributes, cat(ctx.device.arch, " runs the SFPU on the math thread only"));
  using S = StochasticRounding;
  S s = a.stochastic_rounding;
  if (s != S::none && !ctx.device.features.stochastic_rounding)
    ctx.op_error("NL325", op, Field::attributes, cat(ctx.device.arch, " has no stochastic rounding"));
  if ((s == S::fpu || s == S::all) && op.acc_format == DataFormat::float32)
    ctx.op_error("NL325", op, Field::attributes, "stochastic rounding of the FPU does not go with acc_df Float32");
  auto bfp8 = [](DataFormat f) { return f == DataFormat::bfp8 || f == DataFormat::bfp8_b; };
  if ((s == S::pack || s == S::all) && (bfp8(op.out_format) || bfp8(op.intermed_format)))
    ctx.op_error("NL325", op, Field::attributes, "stochastic rounding of the packer does not go with Bfp8 and Bfp8_b");
  if (a.relu.threshold < 0) ctx.op_error("NL320", op, Field::attributes, "relu_threshold is negative");
  if (a.min_buffer_input == 1 && (op.type == OpType::depthwise || op.type == OpType::buffer))
    ctx.op_error("NL331", op, Field::attributes, cat(op_type_name(op.type), " takes min_buffer_input 0"));
  if (op.type == OpType::dropout && (a.p < 0 || a.p > 1))
    ctx.op_error("NL332", op, Field::attributes, cat("p is ", a.p, "; a probability is between 0 and 1"));
}

}  // namespace

void check_op(CheckContext& ctx, const Graph& graph, const Op& op) {
  check_inputs(ctx, op);
  check_blocks(ctx, graph, op);
  check_special(ctx, op);
  check_l1_acc(ctx, op);
  check_kernel_broadcast(ctx, op);
  check_gradient(ctx, op);
  check_untilize(ctx, op);
  check_modes(ctx, op);
}

}  // namespace buda::netlist
