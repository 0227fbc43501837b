// SPDX-License-Identifier: Apache-2.0
// The rules of single op types, apart from formats.
#include <buda/netlist/check/check_context.hpp>

#include <algorithm>

namespace buda::netlist {
namespace {

void check_sparse_matmul(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (op.gradient_op)
    ctx.op_error("NL340", op, Field::gradient_op, "a sparse (identity) matmul keeps its partial sums itself and cannot be a gradient_op");
  if (!a.sparse.num_nz_strips.empty() && static_cast<std::int64_t>(a.sparse.num_nz_strips.size()) != op.grid.volume())
    ctx.attribute_error(
        "NL342", op, "num_nz_strips",
        cat("num_nz_strips lists ", a.sparse.num_nz_strips.size(), " counts; it has one for each of the ", op.grid.volume(), " cores"));
  if (op.inputs.size() < 3) return;  // reported as NL105
  const OpInput& indices = op.inputs[2];
  if (!is_raw(indices.format))
    ctx.op_error("NL308", op, Field::in_df,
                 cat("the indices of a sparse matmul are RawUInt8, RawUInt16 or RawUInt32, not ", format_name(indices.format)), "", 2);
  if (!indices.maps.tms.empty() && indices.maps.tms.front().kind != TmKind::broadcast)
    ctx.op_error("NL341", op, Field::tms,
                 cat("the first manipulation of the indices has to be a broadcast, not '", indices.maps.tms.front().text(), '\''), "", 2);
  // TT-Buda takes the numbers as they are; a kernel without tiles has nothing to do.
  for (const auto& [key, value] : {std::pair("num_sparse_tiles", a.sparse.num_sparse_tiles), {"num_index_tiles", a.sparse.num_index_tiles}})
    if (value < 1)
      ctx.run_error("NL343", "op", op.name, op.places.of_attribute(attribute_number(key)),
                    cat(key, " is ", value, "; a sparse matmul reads at least one such tile per core"));
}

void check_matmul(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (a.m_k < 1 || a.u_kt < 1)
    ctx.attribute_error("NL306", op, a.m_k < 1 ? "m_k" : "u_kt",
                        cat("m_k is ", a.m_k, " and u_kt ", a.u_kt, "; both have to be at least 1: their product is the inner dimension"));
  if (a.accumulate && a.identity)
    ctx.attribute_error("NL307", op, "accumulate", "accumulate and identity exclude each other: a sparse matmul sums by its encoding");
  if (!a.accumulate && a.z > 0)
    ctx.attribute_error("NL393", op, "z", cat("z is ", a.z, ", but without accumulate: true nothing is summed over t"));
  // TT-Buda reads any word here; what cannot be run is no reason to refuse what is only compiled.
  if (!a.sfpu_op.empty() && a.sfpu_op != "gelu" && a.sfpu_op != "invalid")
    ctx.run_error("NL345", "op", op.name, op.places.of_attribute(attribute_number("sfpu_op")),
                  cat("sfpu_op '", a.sfpu_op, "' cannot follow a matmul; gelu can"));
  if (a.identity) check_sparse_matmul(ctx, op);
}

void check_reduce_op(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (a.reduce_dim == Dim::none) ctx.attribute_error("NL316", op, "dim", "attribute 'dim' is missing; it is r, c or z");
  if (a.reduce_dim == Dim::z && a.z < 1)
    ctx.attribute_error("NL350", op, "z", cat("z is ", a.z, "; with dim z it is the number of t that become one, and at least 1"));
  if (a.reduce_dim != Dim::z && a.z > 0) ctx.attribute_error("NL393", op, "z", cat("z is ", a.z, ", but dim is not z"));
  if ((a.reduce_dim == Dim::r || a.reduce_dim == Dim::c) && (a.m_k < 1 || a.u_kt < 1))
    ctx.attribute_error(
        "NL349", op, a.m_k < 1 ? "m_k" : "u_kt",
        cat("m_k is ", a.m_k, " and u_kt ", a.u_kt, "; both have to be at least 1: their product is the side that is reduced"));
  if (a.reduce_dim == Dim::z && op.untilize_output)
    ctx.op_error("NL348", op, Field::untilize_output, "a reduction over z reads its output buffer again, so it cannot be untilized");
}

void check_splice(CheckContext& ctx, const Op& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i].splice)
      ctx.attribute_error("NL326", op, cat("input", i), cat("attribute 'input", i, ": [index, length, stride]' is missing"));
    if (op.inputs[i].format != op.inputs[0].format)
      ctx.op_error("NL386", op, Field::in_df,
                   cat("all inputs of a splice have one format, because it copies tiles as they are; input 0 has ",
                       format_name(op.inputs[0].format), ", input ", i, " ", format_name(op.inputs[i].format)),
                   "", static_cast<int>(i));
  }
}

void check_embedding(CheckContext& ctx, const Op& op) {
  const std::int32_t n = op.attributes.num_indices;
  if (n < 1 || n % 32 != 0)
    ctx.attribute_error("NL327", op, "num_indices", cat("num_indices is ", n, "; it has to be a multiple of 32, the rows of a tile"));
  else if (n / 32 != op.block.mblock_m)
    ctx.op_error("NL388", op, Field::mblock,
                 cat("mblock_m is ", op.block.mblock_m, "; the ", n, " rows that an embedding of num_indices ", n, " makes are ", n / 32,
                     " rows of tiles"));
  if (op.block.ublock_rt != 1)
    ctx.op_error("NL387", op, Field::ublock, cat("ublock_rt is ", op.block.ublock_rt, "; an embedding makes one row of tiles at a time"));
}

void check_tilizer(CheckContext& ctx, const Op& op) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const EdgeMaps& maps = op.inputs[i].maps;
    if (!maps.tms.empty() || maps.pad || maps.unpad)
      ctx.op_error("NL328", op,
                   maps.pad     ? Field::pad
                   : maps.unpad ? Field::unpad
                                : Field::tms,
                   "a tilizer reads rows of datums, which cannot be manipulated as tiles on the edge", "", static_cast<int>(i));
  }
  if (op.inputs.empty() || op.block.ublock_rt <= 1) return;
  const Queue* queue = ctx.index.find_queue(op.inputs[0].name);
  const Op* producer = queue == nullptr ? ctx.index.find_op(op.inputs[0].name) : nullptr;
  if (queue == nullptr && producer == nullptr) return;  // reported as NL102
  const BlockShape& in = queue != nullptr ? queue->block : producer->block;
  if (in.ublock_rt != op.block.ublock_rt || in.ublock_ct != op.block.ublock_ct)
    ctx.op_error("NL389", op, Field::ublock,
                 cat("with ublock_rt above 1 a tilizer has its input's ublock, [", in.ublock_rt, ", ", in.ublock_ct, "], not [",
                     op.block.ublock_rt, ", ", op.block.ublock_ct, ']'));
}

void check_topk(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  if (a.m_k < 1 || a.u_kt < 1 || a.k < 1)
    ctx.attribute_error("NL392", op,
                        a.k < 1     ? "k"
                        : a.m_k < 1 ? "m_k"
                                    : "u_kt",
                        cat("topk needs k, m_k and u_kt of at least 1; they are ", a.k, ", ", a.m_k, " and ", a.u_kt));
  if (a.sort == TopkSort::argmax && op.inputs.size() == 2 && op.inputs[1].format != op.out_format)
    ctx.op_error("NL329", op, Field::out_df,
                 cat("topk that sorts argmax passes indices on: out_df ", format_name(op.out_format), " has to be in_df[1], ",
                     format_name(op.inputs[1].format)));
}

}  // namespace

void check_op_type(CheckContext& ctx, const Op& op) {
  const OpAttributes& a = op.attributes;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return check_matmul(ctx, op);
    case OpClass::reduce:
      return check_reduce_op(ctx, op);
    case OpClass::splice:
      return check_splice(ctx, op);
    case OpClass::depthwise:
      if (a.u_kt != 1)
        ctx.attribute_error("NL390", op, "u_kt", cat("u_kt is ", a.u_kt, "; a depthwise multiplies tile by tile, so it is 1"));
      if (a.m_k < 1) ctx.attribute_error("NL391", op, "m_k", cat("m_k is ", a.m_k, "; a depthwise sums at least one block"));
      return;
    case OpClass::embedding:
      return check_embedding(ctx, op);
    case OpClass::tilizer:
      return check_tilizer(ctx, op);
    case OpClass::topk:
      return check_topk(ctx, op);
    case OpClass::buffer:
      if (op.block.mblock_m != 1)
        ctx.op_error("NL335", op, Field::mblock,
                     cat("mblock_m is ", op.block.mblock_m, "; a buffer op hands on one row of ublocks, so it is 1"));
      return;
    default:
      return;
  }
}

}  // namespace buda::netlist
