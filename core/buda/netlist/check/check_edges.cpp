// SPDX-License-Identifier: Apache-2.0
// Edges: manipulations that are allowed, shapes that fit.
#include <buda/netlist/check/check_context.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

bool transposes_anything(const EdgeMaps& maps) {
  return std::any_of(maps.tms.begin(), maps.tms.end(), [](const Tm& tm) { return tm.kind == TmKind::transpose; });
}

void check_transpose(CheckContext& ctx, const Op& op, std::size_t i) {
  const OpInput& input = op.inputs[i];
  if (!transposes_anything(input.maps) || !input.maps.transposes()) return;
  const ops::Transpose transpose = operand_row(op, i).transpose;
  const bool allowed =
      transpose == ops::Transpose::always || (transpose == ops::Transpose::by_device && ctx.device.features.binary_transpose);
  int index = static_cast<int>(i);
  if (!allowed)
    ctx.op_error("NL405", op, Field::tms,
                 cat("input ", i, " of ", op_type_name(op.type), " cannot be transposed; input 1 of matmul, input 0 of unary ops",
                     ctx.device.features.binary_transpose ? " and of binary ops" : "", " can"),
                 "", index);
  if (input.format == DataFormat::int32)
    ctx.op_error("NL409", op, Field::tms, cat("input ", i, " is Int32, which cannot be transposed"), "", index);
}

// `pad` in a list: at most once, followed by slices only, and not together with input_N_pad.
void check_pad(CheckContext& ctx, const Op& op, std::size_t i) {
  const EdgeMaps& maps = op.inputs[i].maps;
  int index = static_cast<int>(i);
  bool padded = false;
  for (const Tm& tm : maps.tms) {
    bool slice = tm.kind == TmKind::hslice || tm.kind == TmKind::vslice;
    if (padded && tm.kind == TmKind::pad) {
      ctx.op_error("NL411", op, Field::tms, cat("input ", i, " is padded twice; a list has one pad at most"), "", index);
      return;
    }
    if (padded && !slice) {
      ctx.op_error("NL404", op, Field::tms, cat("'", tm.text(), "' follows a pad; only slices may"), "", index);
      return;
    }
    padded = padded || tm.kind == TmKind::pad;
    if (tm.kind == TmKind::tile_broadcast)
      ctx.op_error("NL406", op, Field::tms, "tile_broadcast is for the sub-ops of fused ops", "", index);
  }
  if (padded && maps.pad)
    ctx.op_error("NL412", op, Field::pad, cat("input ", i, " is padded twice: in its manipulations and by input_", i, "_pad"), "", index);
  if (padded && op.type == OpType::fused_op)
    ctx.op_error("NL413", op, Field::tms, cat("input ", i, " of a fused op cannot be padded by a manipulation"),
                 cat("input_", i, "_pad can pad it"), index);
}

std::string tm_name(const EdgeMaps& maps, int index) {
  if (index < 0) return "unpad";
  if (static_cast<std::size_t>(index) < maps.tms.size()) return maps.tms[static_cast<std::size_t>(index)].text();
  return "pad";
}

void check_broadcast_z(CheckContext& ctx, const Op& op, std::size_t i, const TileShape& producer) {
  const EdgeMaps& maps = op.inputs[i].maps;
  TileShape s = producer;
  if (maps.unpad) {
    s.rt -= maps.unpad->rt;
    s.ct -= maps.unpad->ct;
  }
  for (const Tm& tm : maps.tms) {
    if (tm.kind == TmKind::broadcast && tm.dim == Dim::z && s.t != 1 && tm.factor != 1) {
      ctx.op_error("NL403", op, Field::tms, cat("'", tm.text(), "' on a tensor of t ", s.t, "; z can be broadcast from t 1 only"), "",
                   static_cast<int>(i));
      return;
    }
    auto next = shape_after(s, tm);
    if (!std::holds_alternative<TileShape>(next)) return;
    s = std::get<TileShape>(next);
  }
}

bool fits(const TileShape& wanted, const TileShape& given) {
  auto one = [](std::int64_t w, std::int64_t g) { return w == 0 || w == g; };
  return one(wanted.t, given.t) && one(wanted.rt, given.rt) && one(wanted.ct, given.ct);
}

std::string wanted_text(const TileShape& s) {
  auto one = [](std::int64_t v) { return v == 0 ? std::string("any") : cat(v); };
  return cat("t=", one(s.t), " rt=", one(s.rt), " ct=", one(s.ct));
}

// Splice re-blocks its inputs to the output's ublocks; it can if the input's sides are multiples of grid times ublock.
void check_splice_shape(CheckContext& ctx, const Op& op, std::size_t i, const TileShape& given) {
  std::int64_t row = std::int64_t{op.grid.rows} * op.block.ublock_rt, col = std::int64_t{op.grid.cols} * op.block.ublock_ct;
  if (given.rt % row != 0 || given.ct % col != 0)
    ctx.op_error("NL402", op, Field::inputs,
                 cat("input ", i, " of shape ", given.text(), " cannot be cut into ublocks of ", op.block.ublock_rt, "x",
                     op.block.ublock_ct, " on a grid of ", op.grid.rows, "x", op.grid.cols),
                 "", static_cast<int>(i));
}

void check_shape(CheckContext& ctx, const Op& op, std::size_t i, const TileShape& producer) {
  const OpInput& input = op.inputs[i];
  auto map = TileMap::make(producer, input.maps);
  if (auto* e = std::get_if<MapError>(&map)) {
    ctx.op_error("NL401", op, Field::tms,
                 cat("'", tm_name(input.maps, e->index), "' cannot be applied to input ", i, " '", input.name, "' (", producer.text(),
                     "): ", e->reason),
                 "", static_cast<int>(i));
    return;
  }
  const TileShape& given = std::get<TileMap>(map).shape();
  if (op.type == OpType::splice) return check_splice_shape(ctx, op, i, given);
  const std::optional<TileShape> wanted = needed_shape(op, i, ctx.index.find_fused_op(op.attributes.fused_op_id));
  // The activations of a sparse matmul may be stacked in a way that only the encoding knows.
  if (op.attributes.identity && i == 1) return;
  if (!wanted || fits(*wanted, given)) return;
  Diagnostic& d = ctx.op_error("NL402", op, Field::inputs,
                               cat("input ", i, " '", input.name, "' has shape ", given.text(),
                                   input.maps.tms.empty() ? "" : " after its manipulations", ", but ", wanted_text(*wanted), " is needed"));
  d.data = {{"given", given.text()}, {"needed", wanted_text(*wanted)}};
}

}  // namespace

void check_edges(CheckContext& ctx, const Graph& graph, const Op& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    check_transpose(ctx, op, i);
    check_pad(ctx, op, i);
    const Queue* queue = ctx.index.find_queue(op.inputs[i].name);
    const Op* producer = queue == nullptr ? ctx.index.find_op(op.inputs[i].name) : nullptr;
    if (queue == nullptr && producer == nullptr) continue;
    TileShape shape = queue != nullptr ? queue->shape() : producer->shape();
    check_broadcast_z(ctx, op, i, shape);
    check_shape(ctx, op, i, shape);
    if (queue != nullptr && queue->target_device != graph.target_device && !ctx.device.features.remote_input_queues) {
      ctx.run_error("NL334", "op", op.name, op.places.of(Field::inputs),
                    cat("queue '", queue->name, "' is on chip ", queue->target_device, ", the op on chip ", graph.target_device, "; ",
                        ctx.device.arch, " reads queues of its own chip only"));
    }
  }
}

// From ops into queues.
void check_queue_edges(CheckContext& ctx) {
  for (const Queue& q : ctx.netlist.queues) {
    if (ctx.full()) return;
    for (const Tm& tm : q.input_tms) {
      if (tm.kind == TmKind::transpose || tm.kind == TmKind::pad)
        ctx.queue_error(tm.kind == TmKind::pad ? "NL414" : "NL408", q, Field::input_tms,
                        cat("'", tm.text(), "' is illegal between an op and a queue, where tiles are only moved"));
      if (tm.kind == TmKind::tile_broadcast)
        ctx.queue_error("NL406", q, Field::input_tms, "tile_broadcast is for the sub-ops of fused ops");
    }
    const Op* op = ctx.index.find_op(q.input);
    if (op == nullptr) continue;
    if (op->out_format != q.format)
      ctx.queue_error("NL395", q, Field::df,
                      cat("it holds ", format_name(q.format), ", but '", op->name, "' makes ", format_name(op->out_format)));
    if (op->tile_dim != q.tile_dim)
      ctx.queue_error("NL211", q, Field::tile_dim,
                      cat("it has tiles of ", q.tile_dim.rows, "x", q.tile_dim.cols, ", but '", op->name, "' makes ", op->tile_dim.rows,
                          "x", op->tile_dim.cols));
    if (op->untilize_output && !q.input_tms.empty())
      ctx.queue_error("NL415", q, Field::input_tms, cat("untilized data of '", op->name, "' cannot be manipulated on the edge"));
    EdgeMaps maps;
    maps.tms = q.input_tms;
    auto map = TileMap::make(op->shape(), maps);
    if (auto* e = std::get_if<MapError>(&map)) {
      ctx.queue_error("NL401", q, Field::input_tms,
                      cat("'", tm_name(maps, e->index), "' cannot be applied to the output of '", op->name, "' (", op->shape().text(),
                          "): ", e->reason));
    } else if (const TileShape& given = std::get<TileMap>(map).shape(); given != q.shape()) {
      ctx.queue_error(op->untilize_output ? "NL417" : "NL416", q, Field::input,
                      cat("'", op->name, "' makes ", given.text(), ", the queue holds ", q.shape().text()));
    }
    bool same_block = op->grid == q.grid && op->block == q.block && op->ublock_order == q.ublock_order;
    if (op->gradient_op && !same_block)
      ctx.queue_error("NL360", q, Field::mblock, cat("it takes gradients of '", op->name, "' and has to have its grid and blocks"));
  }
}

}  // namespace buda::netlist
