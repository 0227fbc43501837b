// SPDX-License-Identifier: Apache-2.0
// Operators that only give elements other places: shapes, orders of axes, joining and splitting.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/image_blocks.hpp>
#include <buda/frontend/joins.hpp>
#include <buda/frontend/sequences.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

constexpr std::int64_t kMaxKnown = std::int64_t{1} << 26;  // elements of a value that a few bytes of the file ask for

Result<void> import_reshape(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims wanted, n.known_integers(1, "shape"));
  BUDA_ASSIGN(Shape target, frontend::reshape_target(n, x, wanted, false));
  if (target == x) {
    n.output_input(0);
    return success();
  }
  Ref value = n.input(0);
  n.output(n.result().reshape(value, target));
  return success();
}

Result<void> import_squeeze(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  Dims given = n.integers("squeeze_dims");
  if (given.empty()) given = n.integers("axis");
  BUDA_ASSIGN(Dims dims, frontend::axes_of(n, given, x.rank()));
  Ref value = n.input(0);
  n.output(n.result().squeeze(value, dims));
  return success();
}

Result<void> import_expand_dims(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank() + 1));
  Ref value = n.input(0);
  n.output(n.result().unsqueeze(value, {axis}));
  return success();
}

Result<void> import_transpose(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims perm, n.known_integers(1, "permutation"));
  BUDA_ASSIGN(perm, frontend::permutation_of(n, perm, x.rank()));
  Ref value = n.input(0);
  if (auto first = n.layouts().channels_first(value); first && perm == Dims{0, 3, 1, 2}) {
    n.output(*first);
    return success();
  }
  n.output(n.result().transpose(value, perm));
  return success();
}

Tensor shape_tensor(const Shape& shape, DType type) {
  return Tensor(Shape{static_cast<std::int64_t>(shape.rank())}, Dims(shape.begin(), shape.end())).cast(type);
}

Result<void> import_shape(NodeImport& n) {
  BUDA_ASSIGN(DType type, n.dtype("out_type", DType::i32));
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    BUDA_ASSIGN(Shape x, n.shape(i));
    n.output_known(shape_tensor(x, type), i);
  }
  return success();
}

Result<void> import_rank(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  n.output_known(Tensor::scalar(static_cast<std::int32_t>(x.rank())));
  return success();
}

Result<void> import_size(NodeImport& n) {
  BUDA_ASSIGN(DType type, n.dtype("out_type", DType::i32));
  BUDA_ASSIGN(Shape x, n.shape(0));
  n.output_known(Tensor::scalar(x.volume().value_or(0)).cast(type));
  return success();
}

Result<void> join(NodeImport& n, std::size_t first, std::size_t count, std::int64_t given_axis) {
  if (count == 0) return n.refuse("it joins nothing");
  BUDA_ASSIGN(Shape x, n.shape(first));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given_axis, x.rank()));
  std::vector<Ref> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back(n.input(first + i));
  auto y = frontend::joined(n.result(), n.layouts(), parts, axis, x.rank());
  n.output(y.channels_first ? n.layouts().channels_last(n.step("last"), y.value) : y.value);
  return success();
}

Result<void> import_concat(NodeImport& n) {
  BUDA_ASSIGN(auto axis, n.known_integer(0, "axis"));
  return join(n, 1, n.input_count() - 1, axis);
}

Result<void> import_concat_v2(NodeImport& n) {
  if (n.input_count() == 0) return n.refuse("it has no inputs");
  BUDA_ASSIGN(auto axis, n.known_integer(n.input_count() - 1, "axis"));
  return join(n, 0, n.input_count() - 1, axis);
}

Result<void> import_pack(NodeImport& n) {
  if (n.input_count() == 0) return n.refuse("it has no inputs");
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, n.integer("axis", 0), x.rank() + 1));
  std::vector<Ref> parts;
  for (std::size_t i = 0; i < n.input_count(); ++i) parts.push_back(n.input(i));
  n.output(frontend::stacked(n, parts, axis));
  return success();
}

void output_all(NodeImport& n, const std::vector<Ref>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) n.output(values[i], i);
}

Result<void> import_unpack(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, n.integer("axis", 0), x.rank()));
  std::int64_t count = x[static_cast<std::size_t>(axis)];
  if (count != n.integer("num", count) || count > (1 << 16))
    return n.refuse(cat("axis ", axis, " of its input ", x.text(), " is not cut into ", n.integer("num", count)));
  Ref value = n.input(0);
  output_all(n, frontend::unstacked(n, value, axis, count));
  return success();
}

Result<void> split(NodeImport& n, std::size_t input, std::int64_t given_axis, Dims sizes) {
  BUDA_ASSIGN(Shape x, n.shape(input));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given_axis, x.rank()));
  BUDA_ASSIGN(sizes, frontend::part_sizes(n, x, axis, std::move(sizes)));
  Ref value = n.input(input);
  output_all(n, frontend::parts_of(n, value, axis, sizes));
  return success();
}

Result<void> import_split(NodeImport& n) {
  BUDA_ASSIGN(auto given, n.known_integer(0, "axis"));
  BUDA_ASSIGN(Shape x, n.shape(1));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  BUDA_ASSIGN(Dims sizes, frontend::equal_sizes(n, x, axis, n.integer("num_split", 1)));
  return split(n, 1, axis, std::move(sizes));
}

Result<void> import_split_v(NodeImport& n) {
  BUDA_ASSIGN(Dims sizes, n.known_integers(1, "sizes"));
  BUDA_ASSIGN(auto axis, n.known_integer(2, "axis"));
  return split(n, 0, axis, std::move(sizes));
}

Result<void> import_tile(NodeImport& n) {
  BUDA_ASSIGN(Dims repeats, n.known_integers(1, "repeats"));
  Ref value = n.input(0);
  n.output(n.result().op("tile", {value}, {{"repeats", repeats}}));
  return success();
}

Result<void> import_broadcast_to(NodeImport& n) {
  BUDA_ASSIGN(Dims shape, n.known_integers(1, "shape"));
  Ref value = n.input(0);
  n.output(n.result().broadcast(value, Shape(shape)));
  return success();
}

Result<void> import_fill(NodeImport& n) {
  BUDA_ASSIGN(Dims shape, n.known_integers(0, "shape"));
  Ref value = n.input(1);
  n.output(n.result().broadcast(value, Shape(shape)));
  return success();
}

// The shape to which two shapes broadcast.
Result<void> import_broadcast_args(NodeImport& n) {
  BUDA_ASSIGN(Dims a, n.known_integers(0, "first shape"));
  BUDA_ASSIGN(Dims b, n.known_integers(1, "second shape"));
  BUDA_ASSIGN(auto type, n.type(0));
  if (a.size() < b.size()) std::swap(a, b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1)
      return n.refuse(cat("its shapes ", list_text(a), " and ", list_text(b), " are incompatible"));
    a[i] = a[i] == 1 ? b[i] : a[i];
  }
  auto rank = static_cast<std::int64_t>(a.size());
  n.output_known(Tensor(Shape{rank}, std::move(a)).cast(type.dtype));
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

Result<void> import_lin_space(NodeImport& n) {
  BUDA_ASSIGN(double start, n.known_number(0, "start"));
  BUDA_ASSIGN(double stop, n.known_number(1, "stop"));
  BUDA_ASSIGN(std::int64_t count, n.known_integer(2, "number of values"));
  BUDA_ASSIGN(auto type, n.type(0));
  if (count < 1 || count > kMaxKnown) return n.refuse(cat("it has ", count, " values, which is not supported"));
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(count == 1 ? start : start + (stop - start) * static_cast<double>(i) / static_cast<double>(count - 1));
  n.output_known(Tensor(Shape{count}, std::move(values)).cast(type.dtype));
  return success();
}

Result<void> import_invert_permutation(NodeImport& n) {
  BUDA_ASSIGN(Dims perm, n.known_integers(0, "permutation"));
  BUDA_ASSIGN(auto type, n.type(0));
  Dims out(perm.size(), -1);
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<std::int64_t>(perm.size()) || out[static_cast<std::size_t>(perm[i])] != -1)
      return n.refuse(cat("its input ", list_text(perm), " is no permutation"));
    out[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  }
  auto size = static_cast<std::int64_t>(out.size());
  n.output_known(Tensor(Shape{size}, std::move(out)).cast(type.dtype));
  return success();
}

Result<void> import_space_to_depth(NodeImport& n) {
  if (!n.channels_last()) return n.refuse("it has channels first, which is not supported");
  BUDA_ASSIGN(Shape x, n.shape(0));
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::space_to_depth(n, value, x, n.integer("block_size", 0)));
  n.output(y);
  return success();
}

Result<void> import_depth_to_space(NodeImport& n) {
  if (!n.channels_last()) return n.refuse("it has channels first, which is not supported");
  BUDA_ASSIGN(Shape x, n.shape(0));
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::depth_to_space(n, value, x, n.integer("block_size", 0)));
  n.output(y);
  return success();
}

// The sizes of a block and what is added or cut off at its borders. The older operators have one size for rows and columns, as an
// attribute.
struct Blocks {
  Dims sizes, borders;
};

Result<Blocks> blocks_of(NodeImport& n, std::string_view borders) {
  Blocks out;
  if (n.type_of_op().ends_with("ND")) {
    BUDA_ASSIGN(out.sizes, n.known_integers(1, "block"));
    BUDA_ASSIGN(out.borders, n.known_integers(2, borders));
  } else {
    out.sizes.assign(2, n.integer("block_size", 0));
    BUDA_ASSIGN(out.borders, n.known_integers(1, borders));
  }
  return out;
}

Result<void> import_space_to_batch(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Blocks blocks, blocks_of(n, "paddings"));
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::space_to_batch(n, value, x, blocks.sizes, blocks.borders, 0));
  n.output(y);
  return success();
}

Result<void> import_batch_to_space(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Blocks blocks, blocks_of(n, "crops"));
  Ref value = n.input(0);
  BUDA_ASSIGN(Ref y, frontend::batch_to_space(n, value, x, blocks.sizes, blocks.borders));
  n.output(y);
  return success();
}

constexpr OpImporter kShapeOps[] = {
    {"BatchToSpace", import_batch_to_space, {}, "crops known"},
    {"BatchToSpaceND", import_batch_to_space, {}, "block and crops known"},
    {"BroadcastArgs", import_broadcast_args, {}, "both shapes known"},
    {"BroadcastTo", import_broadcast_to, {}, "shape known"},
    {"Concat", import_concat, {}, "axis known"},
    {"ConcatV2", import_concat_v2, {}, "axis known"},
    {"DepthToSpace", import_depth_to_space, {}, "channels last"},
    {"ExpandDims", import_expand_dims, {}, "axis known"},
    {"Fill", import_fill, {}, "shape known"},
    {"InvertPermutation", import_invert_permutation, {}, "permutation known"},
    {"LinSpace", import_lin_space, {}, "all inputs known"},
    {"Pack", import_pack},
    {"Range", import_range, {}, "all inputs known"},
    {"Rank", import_rank},
    {"Reshape", import_reshape, {}, "shape known"},
    {"Shape", import_shape},
    {"ShapeN", import_shape},
    {"Size", import_size},
    {"SpaceToBatch", import_space_to_batch, {}, "paddings known"},
    {"SpaceToBatchND", import_space_to_batch, {}, "block and paddings known"},
    {"SpaceToDepth", import_space_to_depth, {}, "channels last"},
    {"Split", import_split, {}, "axis known"},
    {"SplitV", import_split_v, {}, "sizes and axis known"},
    {"Squeeze", import_squeeze},
    {"Tile", import_tile, {}, "repeats known"},
    {"Transpose", import_transpose, {}, "permutation known"},
    {"Unpack", import_unpack},
};

}  // namespace

std::span<const OpImporter> shape_ops() { return kShapeOps; }

}  // namespace buda::tensorflow_frontend
