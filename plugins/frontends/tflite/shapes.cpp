// Operators that only give elements other places: shapes, orders of axes, joining and splitting.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

constexpr std::int64_t kLargestKnown = std::int64_t{1} << 26;  // elements of a value that a few bytes of the file ask for

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
  Dims order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_permutation(perm.begin(), perm.end(), order.begin(), order.end()))
    return n.refuse(cat("its permutation ", list_text(perm), " is not one of ", x.rank(), " axes"));
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
  constexpr std::int64_t kFirst[] = {0, 2, 3, 1};
  bool images = x.rank() == 4 && std::all_of(parts.begin(), parts.end(), [&](Ref p) { return n.layouts().channels_first(p).has_value(); });
  std::vector<graph::Edge> edges;
  for (Ref p : parts) edges.emplace_back(images ? *n.layouts().channels_first(p) : p);
  Ref joined = n.before(o.activation()).concatenate(std::move(edges), images ? kFirst[axis] : axis);
  if (o.activation() != format::Activation::NONE && n.is_exact()) return n.refuse("its activation of quantised numbers is not supported");
  BUDA_ASSIGN(joined, n.activated(joined, o.activation()));
  n.output_number(images ? n.channels_last(joined) : joined);
  return success();
}

Result<void> import_pack(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, n.options<format::PackOptions>().axis(), x.rank() + 1));
  std::vector<graph::Edge> parts;
  std::size_t i = 0;
  for (Ref part : parts_to_join(n)) parts.emplace_back(n.step(cat("part", i++)).unsqueeze(part, {axis}));
  n.output_number(n.result().concatenate(std::move(parts), axis));
  return success();
}

Result<void> import_unpack(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, n.options<format::UnpackOptions>().axis(), x.rank()));
  if (x[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(n.output_count()))
    return n.refuse(cat("axis ", axis, " of its input ", x.text(), " is not cut into ", n.output_count(), " results"));
  Ref value = n.moved(0);
  for (std::size_t i = 0; i < n.output_count(); ++i) {
    auto at = static_cast<std::int64_t>(i);
    Ref slice = n.step(cat("slice", i)).slice(value, axis, at, at + 1);
    n.output((i == 0 ? n.result() : n.step(cat(i))).squeeze(slice, {axis}), i);
  }
  return success();
}

Result<void> split(NodeImport& n, std::size_t input, std::int64_t given_axis, Dims sizes) {
  BUDA_ASSIGN(Shape x, n.shape(input));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given_axis, x.rank()));
  std::int64_t size = x[static_cast<std::size_t>(axis)];
  if (sizes.empty()) {
    auto count = static_cast<std::int64_t>(n.output_count());
    if (count == 0 || size % count != 0)
      return n.refuse(cat("axis ", axis, " of its input ", x.text(), " cannot be cut into ", count, " equal parts"));
    sizes.assign(n.output_count(), size / count);
  }
  if (sizes.size() != n.output_count()) return n.refuse(cat("it has ", n.output_count(), " results and the sizes ", list_text(sizes)));
  std::int64_t known = 0;
  for (auto s : sizes) known += std::clamp<std::int64_t>(s, 0, size + 1);
  for (auto& s : sizes)
    if (s == -1) s = size - known;
  Ref value = n.moved(input);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > size - start)
      return n.refuse(cat("the sizes ", list_text(sizes), " do not fit axis ", axis, " of ", x.text()));
    n.output((i == 0 ? n.result() : n.step(cat(i))).slice(value, axis, start, start + sizes[i]), i);
    start += sizes[i];
  }
  return success();
}

Result<void> import_split(NodeImport& n) {
  BUDA_ASSIGN(auto axis, n.known_integer(0, "axis"));
  return split(n, 1, axis, {});
}

Result<void> import_split_v(NodeImport& n) {
  BUDA_ASSIGN(Dims sizes, n.known_integers(1, "sizes"));
  BUDA_ASSIGN(auto axis, n.known_integer(2, "axis"));
  return split(n, 0, axis, std::move(sizes));
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
  BUDA_ASSIGN(Tensor from, n.known(0, "start"));
  BUDA_ASSIGN(Tensor to, n.known(1, "limit"));
  BUDA_ASSIGN(Tensor by, n.known(2, "step"));
  if (from.size() != 1 || to.size() != 1 || by.size() != 1) return n.refuse("its start, limit and step must be single numbers");
  double start = from.cast(DType::f64).as<double>()[0], limit = to.cast(DType::f64).as<double>()[0],
         step = by.cast(DType::f64).as<double>()[0];
  double count = step != 0 ? std::max(0.0, std::ceil((limit - start) / step)) : -1;
  if (!(count >= 0 && count <= static_cast<double>(kLargestKnown)))
    return n.refuse(cat("its range from ", to_text(start), " to ", to_text(limit), " by ", to_text(step), " is not supported"));
  std::vector<double> values;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) values.push_back(start + static_cast<double>(i) * step);
  auto size = static_cast<std::int64_t>(values.size());
  n.output_known(Tensor(Shape{size}, std::move(values)).cast(from.dtype()));
  return success();
}

// [n, r, c, d] as [n, r / b, b, c / b, b, d], of which the two b move before d.
Result<void> import_space_to_depth(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  std::int64_t b = n.options<format::SpaceToDepthOptions>().block_size();
  if (x.rank() != 4 || b < 1 || x[1] % b != 0 || x[2] % b != 0)
    return n.refuse(cat("its input ", x.text(), " cannot be cut into blocks of ", b));
  Ref value = n.moved(0);
  Ref cut = n.step("cut").reshape(value, Shape{x[0], x[1] / b, b, x[2] / b, b, x[3]});
  Ref moved = n.step("moved").transpose(cut, {0, 1, 3, 2, 4, 5});
  n.output(n.result().reshape(moved, Shape{x[0], x[1] / b, x[2] / b, b * b * x[3]}));
  return success();
}

Result<void> import_depth_to_space(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  std::int64_t b = n.options<format::DepthToSpaceOptions>().block_size();
  if (x.rank() != 4 || b < 1 || b > (1 << 15) || x[3] % (b * b) != 0)
    return n.refuse(cat("its input ", x.text(), " cannot be cut into blocks of ", b));
  Ref value = n.moved(0);
  Ref cut = n.step("cut").reshape(value, Shape{x[0], x[1], x[2], b, b, x[3] / (b * b)});
  Ref moved = n.step("moved").transpose(cut, {0, 1, 3, 2, 4, 5});
  n.output(n.result().reshape(moved, Shape{x[0], x[1] * b, x[2] * b, x[3] / (b * b)}));
  return success();
}

struct Blocks {
  Dims sizes;
  Dims before, after;  // padding or crops, for each axis of a block
};

Result<Blocks> blocks_of(NodeImport& n, std::size_t rank, std::string_view what) {
  Blocks out;
  BUDA_ASSIGN(out.sizes, n.known_integers(1, "block"));
  BUDA_ASSIGN(Dims pairs, n.known_integers(2, what));
  bool fits = rank >= out.sizes.size() + 1 && pairs.size() == 2 * out.sizes.size();
  for (auto b : out.sizes) fits = fits && b >= 1 && b < kLargestKnown;
  for (auto p : pairs) fits = fits && p >= 0 && p < kLargestKnown;
  if (!fits)
    return n.refuse(
        cat("its block ", list_text(out.sizes), " and ", what, ' ', list_text(pairs), " do not fit an input of ", rank, " axes"));
  for (std::size_t i = 0; i < out.sizes.size(); ++i) {
    out.before.push_back(pairs[2 * i]);
    out.after.push_back(pairs[2 * i + 1]);
  }
  return out;
}

// The places inside a block become samples: [n, s1 / b1, b1, …, rest] with all b before n.
Result<void> import_space_to_batch(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Blocks blocks, blocks_of(n, x.rank(), "paddings"));
  std::size_t count = blocks.sizes.size();
  Dims before(x.rank(), 0), after(x.rank(), 0), cut{x[0]}, order, result{x[0]};
  for (std::size_t i = 0; i < count; ++i) {
    before[i + 1] = blocks.before[i];
    after[i + 1] = blocks.after[i];
    std::int64_t size = x[i + 1] + before[i + 1] + after[i + 1], b = blocks.sizes[i];
    if (size % b != 0) return n.refuse(cat("axis ", i + 1, " of its input ", x.text(), " cannot be cut into blocks of ", b));
    cut.insert(cut.end(), {size / b, b});
    order.push_back(static_cast<std::int64_t>(2 * i + 2));
    result[0] *= b;
    if (result[0] > (std::int64_t{1} << 31)) return n.refuse(cat("its block ", list_text(blocks.sizes), " is too large"));
    result.push_back(size / b);
  }
  order.push_back(0);
  for (std::size_t i = 0; i < count; ++i) order.push_back(static_cast<std::int64_t>(2 * i + 1));
  for (std::size_t axis = count + 1; axis < x.rank(); ++axis) {
    cut.push_back(x[axis]);
    order.push_back(static_cast<std::int64_t>(axis + count));
    result.push_back(x[axis]);
  }
  double border = n.is_exact() && n.input_info(0).is_quantized() ? static_cast<double>(n.input_info(0).quantization->zero_points[0]) : 0;
  Ref value = n.moved(0);
  value = n.step("padded").pad(value, before, after, border);
  value = n.step("cut").reshape(value, Shape(cut));
  value = n.step("moved").transpose(value, order);
  n.output(n.result().reshape(value, Shape(result)));
  return success();
}

Result<void> import_batch_to_space(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Blocks blocks, blocks_of(n, x.rank(), "crops"));
  std::size_t count = blocks.sizes.size();
  std::int64_t places = 1;
  Dims cut, order{static_cast<std::int64_t>(count)}, joined;
  for (auto b : blocks.sizes) {
    places *= b;
    cut.push_back(b);
    if (places > kLargestKnown) return n.refuse(cat("its block ", list_text(blocks.sizes), " is too large"));
  }
  if (x[0] % places != 0) return n.refuse(cat("its input ", x.text(), " has no blocks of ", list_text(blocks.sizes)));
  cut.push_back(x[0] / places);
  joined.push_back(x[0] / places);
  for (std::size_t i = 0; i < count; ++i) {
    order.insert(order.end(), {static_cast<std::int64_t>(count + 1 + i), static_cast<std::int64_t>(i)});
    joined.push_back(x[i + 1] * blocks.sizes[i]);
  }
  for (std::size_t axis = 1; axis < x.rank(); ++axis) {
    cut.push_back(x[axis]);
    if (axis <= count) continue;
    order.push_back(static_cast<std::int64_t>(axis + count));
    joined.push_back(x[axis]);
  }
  Ref value = n.moved(0);
  value = n.step("cut").reshape(value, Shape(cut));
  value = n.step("moved").transpose(value, order);
  value = n.step("joined").reshape(value, Shape(joined));
  for (std::size_t i = 0; i < count; ++i) {
    auto axis = static_cast<std::int64_t>(i + 1);
    value = n.step(cat("cropped", axis)).slice(value, axis, blocks.before[i], joined[i + 1] - blocks.after[i]);
  }
  n.output(n.result().identity(value));
  return success();
}

constexpr OpImporter kShapeOps[] = {
    {Code::BATCH_TO_SPACE_ND, import_batch_to_space, {}, Exactness::exact, "block and crops known"},
    {Code::BROADCAST_TO, import_broadcast_to, {}, Exactness::exact, "shape known"},
    {Code::CONCATENATION, import_concatenation, {}, Exactness::exact, "quantised with one scale: exact"},
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
