// SPDX-License-Identifier: Apache-2.0
// Op models: what they stand for in a netlist, and the account of those that were rejected.
#include <buda/balance/models/op_model.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/models/candidates.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>
#include <buda/balance/problem/selection.hpp>
#include <buda/balance/resources/edge.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/tags/tile_rows.hpp>
#include <buda/graph/tm.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <numeric>

namespace buda::balance {
namespace {

using netlist::Op;
using netlist::OpClass;

std::string pair_text(std::int64_t a, std::int64_t b) { return cat(a, 'x', b); }

void enumerate(Candidates& candidates) {
  switch (netlist::op_class(candidates.spec().op.type)) {
    case OpClass::matmul:
      return candidates.spec().selection ? sparse_models(candidates) : matmul_models(candidates);
    case OpClass::depthwise:
      return depthwise_models(candidates);
    case OpClass::reduce:
      return reduce_models(candidates);
    case OpClass::splice:
      return splice_models(candidates);
    default:
      return eltwise_models(candidates);
  }
}

}  // namespace

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::string OpModel::text() const {
  std::string out = cat("grid ", pair_text(grid.rows, grid.cols), ", mblock ", pair_text(block.mblock_m, block.mblock_n), ", ublock ",
                        pair_text(block.ublock_rt, block.ublock_ct));
  if (u_kt > 0) out += cat(", u_kt ", u_kt);
  if (stream.parts > 1) out += cat(", ", stream.parts, " parts along ", direction_name(stream.direction));
  if (bands > 1) out += cat(", ", bands, " bands of rows");
  return out;
}

std::optional<std::array<std::int64_t, 2>> OpOverride::blocked_tiles() const {
  if (!grid || !mblock || !ublock) return std::nullopt;
  std::array<std::int64_t, 2> out = {std::int64_t{grid->rows} * (*mblock)[0] * (*ublock)[0],
                                     std::int64_t{grid->cols} * (*mblock)[1] * (*ublock)[1]};
  if (stream && stream->parts > 1) out[cuts_rows(stream->direction) ? 0 : 1] *= stream->parts;
  return out;
}

bool OpOverride::allows(const Stream& cut, std::int64_t matrices) const {
  const bool whole = cut.parts == 1;
  if (stream && (stream->parts != cut.parts || (!whole && cuts_rows(stream->direction) != cuts_rows(cut.direction)))) return false;
  if (!stream_direction || whole) return true;
  if (*stream_direction == StreamDirection::none || cuts_rows(*stream_direction) != cuts_rows(cut.direction)) return false;
  return matrices == 1 || goes_by_matrix(*stream_direction) == goes_by_matrix(cut.direction);
}

std::string_view rejection_name(Rejection r) {
  switch (r) {
    case Rejection::grid:
      return "for the size of the chip";
    case Rejection::override:
      return "by the user's overrides";
    case Rejection::dest:
      return "for the destination register";
    case Rejection::l1:
      return "for L1";
    case Rejection::other:
      return "for other limits";
  }
  return "";
}

void Rejections::count(Rejection r, const OpModel& model, Usage usage) {
  ++counts[r];
  bool nearer = !nearest || (usage.resource == nearest_usage.resource && usage.used < nearest_usage.used);
  if (!nearer) return;
  nearest = model;
  nearest_usage = std::move(usage);
}

std::string Rejections::text() const {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(cat(count, ' ', rejection_name(reason)));
  return parts.empty() ? "none was tried" : join(parts, ", ");
}

HeldResult held_result(const OpSpec& spec, const Stream& stream) {
  return {stream, spec.out.t, spec.selection && spec.selection->slices > 1};
}
HeldResult held_result(const OpSpec& spec, const OpModel& model) {
  HeldResult out = held_result(spec, model.stream);
  out.bands = model.bands;
  return out;
}

bool holds_all(const OpSpec& spec, const OpModel& model) {
  const std::int64_t mblocks = held_shape(spec.out, held_result(spec, model)).t;
  return std::max(model.buf_size_mb / 2, 1) >= mblocks;
}

netlist::Dim undivided(const OpSpec& spec) {
  const OpClass kind = netlist::op_class(spec.op.type);
  // All indices are in one tile, which belongs to one row of cores.
  if (kind == OpClass::embedding) return netlist::Dim::r;
  if (kind == OpClass::depthwise) return netlist::Dim::c;
  return kind == OpClass::reduce ? spec.op.attributes.reduce_dim : spec.splice.dim;
}

bool may_stream(const OpSpec& spec) {
  if (spec.feeds_loopback || (spec.selection && spec.outputs > 0 && spec.selection->slices > 1)) return false;
  if (spec.op.attributes.accumulate || tiling::takes_rows(spec.op, 0)) return false;
  // One of several t of a result may be what is kept of it: small tiles stand alone.
  return spec.op.tile_dim.rows == graph::kTileSide;
}

std::vector<Stream> streams_of(const OpSpec& spec) {
  std::vector<Stream> out;
  if (!may_stream(spec)) return out;
  const netlist::Dim dim = undivided(spec);
  // A sparse matmul makes the same rows of all slices together; the slices of a maximum along z, and what is spliced along z, have to come
  // together.
  const bool together = spec.selection || dim == netlist::Dim::z, single = spec.out.t == 1;
  const bool rows_only =
      spec.selection || spec.op.type == netlist::OpType::depthwise || (spec.op.type == netlist::OpType::reduce && together);
  auto add = [&](StreamDirection all, StreamDirection by_matrix, std::int64_t size) {
    for (std::int64_t parts : divisors(size)) {
      if (parts == 1) continue;
      out.push_back({all, static_cast<std::int32_t>(parts)});
      if (!single && !together) out.push_back({by_matrix, static_cast<std::int32_t>(parts)});
    }
  };
  if (dim != netlist::Dim::r) add(StreamDirection::r, StreamDirection::rz, spec.out.rt);
  if (dim != netlist::Dim::c && !rows_only) add(StreamDirection::c, StreamDirection::cz, spec.out.ct);
  return out;
}

StreamedOperand streamed_operand(const OpSpec& spec, std::size_t input) {
  const OpClass kind = netlist::op_class(spec.op.type);
  if (kind == OpClass::matmul || kind == OpClass::depthwise) {
    if (spec.selection) return StreamedOperand::whole;
    return input == 0 ? StreamedOperand::rows : input == 1 ? StreamedOperand::columns : StreamedOperand::rows_and_columns;
  }
  if (kind == OpClass::reduce && spec.op.attributes.reduce_dim == netlist::Dim::z && spec.op.attributes.z > 1)
    return StreamedOperand::slices;
  return StreamedOperand::rows_and_columns;
}

netlist::TileShape operand_shape(const OpSpec& spec, const OpModel& model, std::size_t input) {
  if (!spec.selection || input == 1) return spec.operands[input].shape;
  return {1, model.grid.rows, input == 0 ? model.sparse.tiles : model.sparse.index_tiles};
}

namespace {

void set_sparse_attributes(Op& op, const SelectionMatrix& matrix, const OpModel& model) {
  netlist::SparseEncoding& s = op.attributes.sparse;
  s.num_sparse_tiles = model.sparse.tiles;
  s.num_index_tiles = model.sparse.index_tiles;
  s.sparse_tile_ptr_bits = model.sparse.tile_bits;
  s.sparse_ublock_idx_bits = model.sparse.ublock_bits;
  s.act_t = matrix.act_matrices * model.sparse.passes;
  if (model.bands > 1)
    op.inputs[1].min_buffer_tiles = static_cast<std::int32_t>(std::min<std::int64_t>(
        std::int64_t{model.sparse.reach} * model.u_kt * model.block.mblock_n * model.block.ublock_ct, netlist::kMaxDimension));
  if (model.sparse.passes > 1) op.inputs[1].maps.tms.push_back(netlist::Tm::broadcast(netlist::Dim::z, model.sparse.passes));
  for (std::size_t i : {std::size_t{0}, std::size_t{2}})
    if (model.grid.cols > 1) op.inputs[i].maps.tms.push_back(netlist::Tm::broadcast(netlist::Dim::c, model.grid.cols));
}

}  // namespace

namespace {

// A larger operand is not asked of DRAM for every input if L1 can hold it for all matrices and inputs.
constexpr std::int64_t kMaxKeptForAllMatrices = 32;

// Tiles of a constant that a core reads again and again, so that its kernel keeps them and reads them as often as it needs
// (kernel_broadcast): a row of tiles that all rows of an elementwise op or of a product with bias take, a single tile, the right operand
// of a product that streams along its rows, or a small one that all matrices of a product take. 0 where there is no such repetition, or too
// little to be worth a second copy of them.
std::int64_t repeated_tiles(const OpSpec& spec, const Op& op, std::size_t input) {
  using netlist::TmKind;
  const Operand& operand = spec.operands[input];
  if (!operand.constant || spec.selection || spec.fused || spec.splice.dim != netlist::Dim::none || operand.shape.t != 1) return 0;
  const auto& tms = op.inputs[input].maps.tms;
  const bool grows = !tms.empty() && tms.front().kind == TmKind::broadcast;
  if (!grows || op.inputs[input].maps.pad || op.inputs[input].maps.unpad) return 0;
  const bool single = operand.shape.volume() == 1;
  const bool only = std::all_of(tms.begin(), tms.end(), [&](const netlist::Tm& tm) {
    // Turning the grid of tiles around leaves a single tile where it is; its elements are turned as it is read.
    return tm.kind == TmKind::broadcast || tm.kind == TmKind::vslice || tm.kind == TmKind::hslice ||
           (single && tm.kind == TmKind::transpose);
  });
  if (!only) return 0;
  const OpClass kind = netlist::op_class(op.type);
  const bool by_row = (kind == OpClass::matmul || kind == OpClass::depthwise) ? input > 1 : kind == OpClass::binary;
  const auto is_along = [](const netlist::Tm& tm, netlist::Dim d) { return tm.kind == TmKind::broadcast && tm.dim == d; };
  // Copies of a matrix come first; what follows cuts and broadcasts each of them alike.
  auto rest = std::find_if_not(tms.begin(), tms.end(), [&](const netlist::Tm& tm) { return is_along(tm, netlist::Dim::z); });
  const auto left = tms.end() - rest;
  const std::int64_t all = input_order(op, input).tiles();
  std::int64_t tiles = 0;
  if (single) {
    tiles = 1;
  } else if (by_row && operand.shape.rt == 1 && left > 0 && is_along(rest[0], netlist::Dim::r) &&
             (left == 1 || rest[1].kind == TmKind::vslice)) {
    tiles = std::int64_t{op.block.mblock_n} * op.block.ublock_tiles();
  } else if (kind == OpClass::matmul && input == 1 && left == 2 && is_along(rest[0], netlist::Dim::c) && rest[1].kind == TmKind::hslice &&
             rest[1].factor == rest[0].factor) {
    tiles = all / op.block.t;
  } else if (kind == OpClass::matmul && input == 1 && left == 0 && all / op.block.t <= kMaxKeptForAllMatrices) {
    tiles = all / op.block.t;
  }
  return 2 * tiles < all ? tiles : 0;
}

// Whole inputs that the buffer of an operand holds at least: what the user wants, or what the model has room for.
std::int64_t held_inputs(const OpSpec& spec, const OpModel& model, std::size_t input) {
  const Operand& operand = spec.operands[input];
  if (operand.buffered_inputs > 0) return operand.buffered_inputs;
  return operand.from.op.valid() && !operand.queued && !tiling::takes_rows(spec.op, input) ? model.held_inputs : 0;
}

// Of each input in turn what belongs to one row or column of ublocks, or all its matrices.
void set_splice(Op& op, const SpliceParts& splice) {
  const std::int64_t unit = splice.dim == netlist::Dim::c ? op.block.ublock_ct : splice.dim == netlist::Dim::r ? op.block.ublock_rt : 1;
  op.attributes.granularity = splice.dim == netlist::Dim::z ? netlist::Granularity::t : netlist::Granularity::ublock;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const auto length = static_cast<std::int32_t>(splice.sizes[i] / unit);
    op.inputs[i].splice = netlist::SpliceRange{0, length, length};
  }
}

}  // namespace

Op with_model(const OpSpec& spec, const OpModel& model) {
  Op op = spec.op;
  op.grid = model.grid;
  op.block = model.block;
  op.ublock_order = model.order;
  op.buf_size_mb = model.buf_size_mb;
  if (class_of(op).inner) {
    op.attributes.m_k = model.m_k;
    op.attributes.u_kt = model.u_kt;
    if (spec.l1_acc) op.attributes.l1_acc = model.m_k >= least_blocks_in_l1(op);
  }
  if (spec.selection) {
    set_sparse_attributes(op, *spec.selection, model);
  } else {
    if ((netlist::op_class(op.type) == OpClass::matmul || op.type == netlist::OpType::depthwise) && op.block.mblock_m > 1)
      op.attributes.min_buffer_input = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (auto maps = streamed_maps(held_by_source(spec, i), op.inputs[i].maps, model.stream, streamed_operand(spec, i));
          auto* made = std::get_if<0>(&maps))
        op.inputs[i].maps = std::move(*made);
  }
  if (spec.splice.dim != netlist::Dim::none) set_splice(op, spec.splice);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (const std::int64_t tiles = repeated_tiles(spec, op, i); tiles > 0) {
      op.inputs[i].kernel_broadcast.tiles = static_cast<std::int32_t>(tiles);
    } else if (model.is_resident(i)) {
      op.inputs[i].min_buffer_tiles = static_cast<std::int32_t>(input_order(op, i).tiles());
    } else if (const std::int64_t held = held_inputs(spec, model, i); held > 0) {
      op.inputs[i].min_buffer_tiles =
          std::max(op.inputs[i].min_buffer_tiles,
                   static_cast<std::int32_t>(std::min<std::int64_t>(held * input_order(op, i).tiles(), netlist::kMaxDimension)));
    }
  }
  return op;
}

std::variant<netlist::EdgeMaps, std::string> edge_maps(const Problem& problem, OpId op, const OpModel& model, std::size_t input,
                                                       const OpModel* producer) {
  const OpSpec& spec = problem.op(op);
  const OpId from = spec.operands[input].from.op;
  const HeldResult held = producer == nullptr ? held_by_source(spec, input) : held_result(problem.op(from), *producer);
  // A sparse matmul's own manipulations follow from its model, and it cuts nothing.
  if (spec.selection) return streamed_maps(held, with_model(spec, model).inputs[input].maps, {}, StreamedOperand::whole);
  return streamed_maps(held, spec.op.inputs[input].maps, model.stream, streamed_operand(spec, input));
}

Links links_alone(const OpSpec& spec, const OpModel& model) {
  Links links;
  links.tile_sizes = spec.tile_sizes;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    InputLink in;
    in.from_queue = spec.operands[i].from.source.valid();
    in.prologue = model.is_resident(i);
    links.inputs.push_back(in);
  }
  links.outputs.assign(spec.outputs, OutputLink{.to_queue = true});
  // Users may all stand in later epochs, and then read one queue.
  if (!spec.users.empty()) links.outputs.push_back({.to_queue = true});
  // And others read one that is demanded, beside it.
  if (spec.feeds_queued) links.outputs.push_back({.to_queue = true});
  return links;
}

namespace {

// So few models that one whose neighbours object may be missed.
constexpr std::size_t kSmallModelCount = 4;

// What neighbours need may be more than a model leaves that fills L1. Beside few models stand some with fewer parameters or smaller
// buffers.
void add_leaner(LegalModels& legal, const OpSpec& spec, const device::DeviceDescriptor& device, const ModelOptions& options,
                const OpOverride* overrides) {
  const auto fills = [&](const OpModel& model) { return model.l1_bytes + kRoomForNeighbours > device.l1.operand_bytes(); };
  if (legal.models.size() > kSmallModelCount || std::none_of(legal.models.begin(), legal.models.end(), fills)) return;
  LegalModels leaner;
  Candidates candidates(spec, device, options, overrides, {.shallow = true, .reserve = kRoomForNeighbours}, leaner);
  enumerate(candidates);
  for (const OpModel& model : leaner.models)
    if (std::find(legal.models.begin(), legal.models.end(), model) == legal.models.end()) legal.models.push_back(model);
}

}  // namespace

LegalModels legal_models(const OpSpec& spec, const device::DeviceDescriptor& device, const ModelOptions& options,
                         const OpOverride* overrides) {
  LegalModels out;
  // Readers in the same epoch are worth more cores; only where no grid has the room for them are they given up.
  for (bool shallow : {false, true}) {
    if (!out.models.empty()) break;
    out.rejections = {};
    Candidates candidates(spec, device, options, overrides, {.shallow = shallow}, out);
    enumerate(candidates);
  }
  add_leaner(out, spec, device, options, overrides);
  std::stable_sort(out.models.begin(), out.models.end(), [](const OpModel& a, const OpModel& b) {
    if (a.cores() != b.cores()) return a.cores() < b.cores();
    if (a.stream.parts != b.stream.parts) return a.stream.parts < b.stream.parts;
    if (a.grid.rows != b.grid.rows) return a.grid.rows < b.grid.rows;
    if (a.u_kt != b.u_kt) return a.u_kt > b.u_kt;
    return a.buf_size_mb > b.buf_size_mb;
  });
  return out;
}

Diagnostic no_legal_model(const Problem& problem, const OpSpec& spec, const LegalModels& legal, std::string hint) {
  const auto& device = *problem.device;
  const Rejections& r = legal.rejections;
  GridShape chip = device.grid();
  Diagnostic d;
  if (r.nearest) {
    d = misfit(spec.node_name, spec.label, r.nearest_usage, std::move(hint));
    d.code = "BL011";
    d.message = cat("op '", spec.label, "' (", netlist::op_type_name(spec.op.type), ", result ", spec.out.text(),
                    ") has no legal implementation on ", device.name, "; the nearest, ", r.nearest->text(), ", needs ",
                    r.nearest_usage.used, " of ", r.nearest_usage.available, ' ', resource_name(r.nearest_usage.resource));
  } else {
    d = does_not_fit("BL011", spec.node_name, std::string(resource_key(Resource::workers)), 0, static_cast<std::uint64_t>(chip.volume()),
                     cat("op '", spec.label, "' (", netlist::op_type_name(spec.op.type), ", result ", spec.out.text(),
                         ") has no legal implementation on ", device.name),
                     std::move(hint));
    d.data.clear();
  }
  d.notes.push_back({{}, cat("candidates rejected: ", r.text())});
  return d;
}

}  // namespace buda::balance
