// SPDX-License-Identifier: Apache-2.0
// Operators that only give elements other places: shapes, orders of axes, joining and splitting.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/image_blocks.hpp>
#include <buda/frontend/joins.hpp>
#include <buda/frontend/sequences.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<void> import_reshape(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  Dims wanted;
  if (n.has_input(1)) {
    BUDA_ASSIGN(wanted, n.result_shape(1));
  } else if (const auto* given = n.options<format::ReshapeOptions>().new_shape()) {
    wanted.assign(given->begin(), given->end());
  }
  BUDA_ASSIGN(Shape target, frontend::reshape_target(n, x, wanted, false));
  if (target == x) {
    n.output(n.moved(0));
    return success();
  }
  Ref value = n.moved(0);
  n.output(n.result().reshape(value, target));
  return success();
}

Result<void> import_squeeze(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  Dims dims;
  if (const auto* given = n.options<format::SqueezeOptions>().squeeze_dims()) dims.assign(given->begin(), given->end());
  BUDA_ASSIGN(dims, frontend::axes_of(n, dims, x.rank()));
  Ref value = n.moved(0);
  n.output(n.result().squeeze(value, dims));
  return success();
}

Result<void> import_expand_dims(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank() + 1));
  Ref value = n.moved(0);
  n.output(n.result().unsqueeze(value, {axis}));
  return success();
}

Result<void> import_transpose(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims perm, n.known_integers(1, "permutation"));
  BUDA_ASSIGN(perm, frontend::permutation_of(n, perm, x.rank()));
  Ref value = n.moved(0);
  n.output(n.result().transpose(value, perm));
  return success();
}

Result<void> import_shape(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  auto rank = static_cast<std::int64_t>(x.rank());
  n.output_known(Tensor(Shape{rank}, Dims(x.begin(), x.end())).cast(n.output_info(0).dtype.value_or(DType::i32)));
  return success();
}

Result<void> import_rank(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  n.output_known(Tensor::scalar(static_cast<std::int32_t>(x.rank())));
  return success();
}

// Are inputs from `first` on stored as the result is, so that their integers need no other scale?
bool one_scale(const NodeImport& n, std::size_t first) {
  for (std::size_t i = first; i < n.input_count(); ++i)
    if (n.has_input(i) && n.input_info(i).quantization != n.output_info(0).quantization) return false;
  return true;
}

std::vector<Ref> parts_to_join(NodeImport& n) {
  bool stored = one_scale(n, 0);
  std::vector<Ref> parts;
  for (std::size_t i = 0; i < n.input_count(); ++i) parts.push_back(stored ? n.moved(i) : n.number(i));
  return parts;
}

Result<void> import_concatenation(NodeImport& n) {
  const auto& o = n.options<format::ConcatenationOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, o.axis(), x.rank()));
  std::vector<Ref> parts = parts_to_join(n);
  auto y = frontend::joined(n.before(o.activation()), n.layouts(), parts, axis, x.rank());
  if (o.activation() != format::Activation::NONE && n.is_exact()) return n.refuse("its activation of quantised numbers is not supported");
  BUDA_ASSIGN(Ref value, n.activated(y.value, o.activation()));
  n.output_number(y.channels_first ? n.channels_last(value) : value);
  return success();
}

Result<void> import_pack(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, n.options<format::PackOptions>().axis(), x.rank() + 1));
  n.output_number(frontend::stacked(n, parts_to_join(n), axis));
  return success();
}

void output_parts(NodeImport& n, const std::vector<Ref>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) n.output(values[i], i);
}

Result<void> import_unpack(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, n.options<format::UnpackOptions>().axis(), x.rank()));
  if (x[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(n.output_count()))
    return n.refuse(cat("axis ", axis, " of its input ", x.text(), " is not cut into ", n.output_count(), " results"));
  Ref value = n.moved(0);
  output_parts(n, frontend::unstacked(n, value, axis, static_cast<std::int64_t>(n.output_count())));
  return success();
}

Result<void> split(NodeImport& n, std::size_t input, std::int64_t axis, const Dims& sizes) {
  Ref value = n.moved(input);
  output_parts(n, frontend::parts_of(n, value, axis, sizes));
  return success();
}

Result<void> import_split(NodeImport& n) {
  BUDA_ASSIGN(auto given, n.known_integer(0, "axis"));
  BUDA_ASSIGN(Shape x, n.shape(1));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  BUDA_ASSIGN(Dims sizes, frontend::equal_sizes(n, x, axis, static_cast<std::int64_t>(n.output_count())));
  return split(n, 1, axis, sizes);
}

Result<void> import_split_v(NodeImport& n) {
  BUDA_ASSIGN(Dims sizes, n.known_integers(1, "sizes"));
  BUDA_ASSIGN(auto given, n.known_integer(2, "axis"));
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  if (sizes.size() != n.output_count()) return n.refuse(cat("it has ", n.output_count(), " results and the sizes ", list_text(sizes)));
  BUDA_ASSIGN(sizes, frontend::part_sizes(n, x, axis, std::move(sizes)));
  return split(n, 0, axis, sizes);
}

Result<void> import_tile(NodeImport& n) {
  BUDA_ASSIGN(Dims repeats, n.known_integers(1, "repeats"));
  Ref value = n.moved(0);
  n.output(n.result().op("tile", {value}, {{"repeats", repeats}}));
  return success();
}

Result<void> import_broadcast_to(NodeImport& n) {
  BUDA_ASSIGN(Dims shape, n.known_integers(1, "shape"));
  Ref value = n.moved(0);
  n.output(n.result().broadcast(value, Shape(shape)));
  return success();
}

Result<void> import_fill(NodeImport& n) {
  BUDA_ASSIGN(Dims shape, n.known_integers(0, "shape"));
  Ref value = n.moved(1);
  n.output(n.result().broadcast(value, Shape(shape)));
  return success();
}

Result<void> import_range(NodeImport& n) {
  BUDA_ASSIGN(double start, n.known_number(0, "start"));
  BUDA_ASSIGN(double limit, n.known_number(1, "limit"));
  BUDA_ASSIGN(double step, n.known_number(2, "step"));
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(Tensor values, frontend::sequence(n, start, limit, step, type.dtype));
  n.output_known(std::move(values));
  return success();
}

Result<void> import_space_to_depth(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  Ref value = n.moved(0);
  BUDA_ASSIGN(Ref y, frontend::space_to_depth(n, value, x, n.options<format::SpaceToDepthOptions>().block_size()));
  n.output(y);
  return success();
}

Result<void> import_depth_to_space(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  Ref value = n.moved(0);
  BUDA_ASSIGN(Ref y, frontend::depth_to_space(n, value, x, n.options<format::DepthToSpaceOptions>().block_size()));
  n.output(y);
  return success();
}

Result<void> import_space_to_batch(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims block, n.known_integers(1, "block"));
  BUDA_ASSIGN(Dims paddings, n.known_integers(2, "paddings"));
  double border = n.is_exact() && n.input_info(0).is_quantized() ? static_cast<double>(n.input_info(0).quantization->zero_points[0]) : 0;
  Ref value = n.moved(0);
  BUDA_ASSIGN(Ref y, frontend::space_to_batch(n, value, x, block, paddings, border));
  n.output(y);
  return success();
}

Result<void> import_batch_to_space(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims block, n.known_integers(1, "block"));
  BUDA_ASSIGN(Dims crops, n.known_integers(2, "crops"));
  Ref value = n.moved(0);
  BUDA_ASSIGN(Ref y, frontend::batch_to_space(n, value, x, block, crops));
  n.output(y);
  return success();
}

// What is stored sparsely was filled up with zeros when the file was read.
Result<void> import_densify(NodeImport& n) {
  n.output_input(0);
  return success();
}

constexpr OpImporter kShapeOps[] = {
    {Code::BATCH_TO_SPACE_ND, import_batch_to_space, {}, Exactness::exact, "block and crops known"},
    {Code::BROADCAST_TO, import_broadcast_to, {}, Exactness::exact, "shape known"},
    {Code::CONCATENATION, import_concatenation, {}, Exactness::exact, "quantised with one scale: exact"},
    {Code::DENSIFY, import_densify, {}, Exactness::exact},
    {Code::DEPTH_TO_SPACE, import_depth_to_space, {}, Exactness::exact},
    {Code::EXPAND_DIMS, import_expand_dims, {}, Exactness::exact, "axis known"},
    {Code::FILL, import_fill, {}, Exactness::exact, "shape known"},
    {Code::PACK, import_pack, {}, Exactness::exact},
    {Code::RANGE, import_range, {}, Exactness::exact, "all inputs known"},
    {Code::RANK, import_rank, {}, Exactness::exact},
    {Code::RESHAPE, import_reshape, {}, Exactness::exact, "shape known"},
    {Code::SHAPE, import_shape, {}, Exactness::exact},
    {Code::SPACE_TO_BATCH_ND, import_space_to_batch, {}, Exactness::exact, "block and paddings known"},
    {Code::SPACE_TO_DEPTH, import_space_to_depth, {}, Exactness::exact},
    {Code::SPLIT, import_split, {}, Exactness::exact, "axis known"},
    {Code::SPLIT_V, import_split_v, {}, Exactness::exact, "sizes and axis known"},
    {Code::SQUEEZE, import_squeeze, {}, Exactness::exact},
    {Code::TILE, import_tile, {}, Exactness::exact, "repeats known"},
    {Code::TRANSPOSE, import_transpose, {}, Exactness::exact, "permutation known"},
    {Code::UNPACK, import_unpack, {}, Exactness::exact},
};

}  // namespace

std::span<const OpImporter> shape_ops() { return kShapeOps; }

}  // namespace buda::tflite_frontend
