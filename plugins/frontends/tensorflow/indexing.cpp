// SPDX-License-Identifier: Apache-2.0
// Elements by their places, and places of elements.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/indexing.hpp>
#include <buda/frontend/running_product.hpp>
#include <buda/frontend/scatter.hpp>
#include <buda/frontend/slices.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

constexpr std::int64_t kMaxStitched = std::int64_t{1} << 26;  // rows that a few bytes of the file ask for

Result<void> gather(NodeImport& n, const Operand& table, std::int64_t axis) {
  Ref value = n.ref(table), indices = n.input(1);
  BUDA_ASSIGN(Shape x, n.shape_of(value));
  BUDA_ASSIGN(Shape places, n.shape(1));
  BUDA_ASSIGN(Ref y, frontend::gathered(n, value, x, indices, places, axis, n.integer("batch_dims", 0)));
  n.output(y);
  return success();
}

Result<void> import_gather(NodeImport& n) {
  BUDA_ASSIGN(Operand table, n.read(0));
  return gather(n, table, 0);
}

Result<void> import_gather_v2(NodeImport& n) {
  BUDA_ASSIGN(auto axis, n.known_integer(2, "axis"));
  return gather(n, n.operand(0), axis);
}

Result<void> import_gather_nd(NodeImport& n) {
  Ref value = n.input(0), indices = n.input(1);
  n.output(n.result().op("gather_nd", {value, indices}, {{"batch_dims", n.integer("batch_dims", 0)}}));
  return success();
}

// Updates are added to zeros.
Result<void> import_scatter_nd(NodeImport& n) {
  BUDA_ASSIGN(Dims shape, n.known_integers(2, "shape"));
  BUDA_ASSIGN(auto type, n.type(1));
  Ref indices = n.input(0), updates = n.input(1);
  BUDA_ASSIGN(Ref result, frontend::scattered_onto_zeros(n, indices, updates, type.dtype, Shape(shape)));
  n.output(result);
  return success();
}

Result<void> import_tensor_scatter(NodeImport& n) {
  Ref value = n.input(0), indices = n.input(1), updates = n.input(2);
  n.output(n.result().op("scatter_nd", {value, indices, updates}, {{"reduction", std::string(n.importer().op)}}));
  return success();
}

// Inputs: indices, depth, the value at an index, and the one elsewhere.
Result<void> import_one_hot(NodeImport& n) {
  BUDA_ASSIGN(auto depth, n.known_integer(1, "depth"));
  BUDA_ASSIGN(double on, n.known_number(2, "value at an index"));
  BUDA_ASSIGN(double off, n.known_number(3, "value elsewhere"));
  BUDA_ASSIGN(auto type, n.type(2));
  Ref indices = n.input(0);
  n.output(frontend::one_hot(n, indices, depth, on, off, type.dtype, n.integer("axis", -1)));
  return success();
}

Result<void> import_arg(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  BUDA_ASSIGN(DType type, n.dtype("output_type", DType::i64));
  Ref value = n.input(0);
  Ref index = (type == DType::i64 ? n.result() : n.step("index")).op(n.importer().op, {value}, {{"dim", axis}, {"keep_dims", false}});
  n.output(type == DType::i64 ? index : n.result().op("cast", {index}, {{"dtype", std::string(dtype_name(type))}}));
  return success();
}

Result<void> top_k(NodeImport& n, std::int64_t k) {
  BUDA_ASSIGN(DType type, n.dtype("index_type", DType::i32));
  Ref value = n.input(0);
  Ref largest = n.result().op("topk", {value}, {{"k", k}});
  n.output(largest, 0);
  if (largest.valid()) n.output(n.step("indices").op("cast", {Ref(largest.node, 1)}, {{"dtype", std::string(dtype_name(type))}}), 1);
  return success();
}

Result<void> import_top_k(NodeImport& n) { return top_k(n, n.integer("k", 1)); }

Result<void> import_top_k_v2(NodeImport& n) {
  BUDA_ASSIGN(auto k, n.known_integer(1, "k"));
  return top_k(n, k);
}

Result<void> import_cumsum(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  Ref value = n.input(0);
  n.output(
      n.result().op("cumsum", {value}, {{"dim", axis}, {"exclusive", n.flag("exclusive", false)}, {"reverse", n.flag("reverse", false)}}));
  return success();
}

Result<void> import_reverse_sequence(NodeImport& n) {
  Ref value = n.input(0), lengths = n.input(1);
  n.output(n.result().op("reverse_sequence", {value, lengths},
                         {{"batch_dim", n.integer("batch_dim", 0)}, {"time_dim", n.integer("seq_dim", 0)}}));
  return success();
}

// What lies more than `lower` diagonals below the main one, or `upper` above it, becomes 0; a negative number keeps all.
Result<void> import_band(NodeImport& n) {
  BUDA_ASSIGN(auto lower, n.known_integer(1, "number of lower diagonals"));
  BUDA_ASSIGN(auto upper, n.known_integer(2, "number of upper diagonals"));
  Ref value = n.input(0);
  if (lower >= 0) value = n.step("lower").op("triangle", {value}, {{"upper", true}, {"diagonal", -lower}});
  if (upper >= 0) value = n.step("upper").op("triangle", {value}, {{"upper", false}, {"diagonal", upper}});
  n.output(n.result().identity(value));
  return success();
}

// The coordinates of what is not zero.
Result<void> import_where(NodeImport& n) {
  BUDA_ASSIGN(Tensor condition, n.known(0, "condition"));
  Tensor truths = condition.cast(DType::boolean);
  const Shape& shape = condition.shape();
  std::vector<std::int64_t> places;
  std::int64_t found = 0;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    if (!static_cast<bool>(truths.as<Boolean>()[i])) continue;
    ++found;
    auto rest = static_cast<std::int64_t>(i);
    Dims coordinates(shape.rank());
    for (std::size_t axis = shape.rank(); axis-- > 0; rest /= shape[axis]) coordinates[axis] = rest % shape[axis];
    places.insert(places.end(), coordinates.begin(), coordinates.end());
  }
  n.output_known(Tensor(Shape{found, static_cast<std::int64_t>(shape.rank())}, std::move(places)));
  return success();
}

// Products of the elements up to each place; `exclusive`: without its own, `reverse`: from the end.
Result<void> import_cumprod(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank()));
  const bool reverse = n.flag("reverse", false);
  Ref value = n.input(0);
  if (reverse) value = frontend::reversed(n, value, {axis});
  if (n.flag("exclusive", false)) {
    Dims before(x.rank(), 0);
    before[static_cast<std::size_t>(axis)] = 1;
    Ref begin = n.step("begin").slice(value, axis, 0, x[static_cast<std::size_t>(axis)] - 1);
    value = n.step("moved").pad(begin, before, Dims(x.rank(), 0), 1);
  }
  value = frontend::running_product(n, value, x, axis);
  n.output(reverse ? frontend::reversed(n, value, {axis}) : value);
  return success();
}

// Rows of several values, each at the place that its index says; of several for one place the last one counts. The number of rows is the
// largest index.
Result<void> import_stitch(NodeImport& n) {
  const std::size_t count = n.input_count() / 2;
  std::vector<graph::Edge> parts;
  std::vector<std::int64_t> from;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < count; ++i) {
    BUDA_ASSIGN(Dims places, n.known_integers(i, "indices"));
    BUDA_ASSIGN(Shape index, n.shape(i));
    BUDA_ASSIGN(Shape data, n.shape(count + i));
    if (data.rank() < index.rank() || !std::equal(index.begin(), index.end(), data.begin()))
      return n.refuse(cat("its indices ", index.text(), " do not fit the data ", data.text()));
    Dims flat{static_cast<std::int64_t>(places.size())};
    flat.insert(flat.end(), data.begin() + static_cast<std::ptrdiff_t>(index.rank()), data.end());
    Ref value = n.input(count + i);
    parts.emplace_back(n.step("rows").reshape(value, Shape(std::move(flat))));
    for (std::int64_t place : places) {
      if (place < 0 || place >= kMaxStitched) return n.refuse(cat("its index ", place, " does not lie between 0 and ", kMaxStitched - 1));
      if (static_cast<std::size_t>(place) >= from.size()) from.resize(static_cast<std::size_t>(place) + 1, -1);
      from[static_cast<std::size_t>(place)] = rows++;
    }
  }
  if (const auto gap = std::find(from.begin(), from.end(), -1); gap != from.end() || from.empty())
    return n.refuse(cat("its indices leave out row ", gap - from.begin()));
  Ref all = n.step("all").concatenate(std::move(parts), 0);
  Ref order = n.step("order").constant(Tensor(Shape{static_cast<std::int64_t>(from.size())}, from));
  n.output(n.result().op("gather", {all, order}, {{"dim", std::int64_t{0}}}));
  return success();
}

constexpr OpImporter kIndexingOps[] = {
    {"ArgMax", import_arg, "argmax", "axis known"},
    {"ArgMin", import_arg, "argmin", "axis known"},
    {"Cumsum", import_cumsum, {}, "axis known"},
    {"Cumprod", import_cumprod, {}, "axis known"},
    {"DynamicStitch", import_stitch, {}, "indices known"},
    {"Gather", import_gather},
    {"GatherNd", import_gather_nd},
    {"GatherV2", import_gather_v2, {}, "axis known"},
    {"MatrixBandPart", import_band, {}, "numbers of diagonals known"},
    {"OneHot", import_one_hot, {}, "all but the indices known"},
    {"ParallelDynamicStitch", import_stitch, {}, "indices known"},
    {"ResourceGather", import_gather},
    {"ReverseSequence", import_reverse_sequence},
    {"ScatterNd", import_scatter_nd, {}, "shape known"},
    {"TensorScatterAdd", import_tensor_scatter, "add"},
    {"TensorScatterMax", import_tensor_scatter, "max"},
    {"TensorScatterMin", import_tensor_scatter, "min"},
    {"TensorScatterUpdate", import_tensor_scatter, "none"},
    {"TopK", import_top_k, {}, {}, "values indices"},
    {"TopKV2", import_top_k_v2, {}, "k known", "values indices"},
    {"Where", import_where, {}, "condition known"},
};

}  // namespace

std::span<const OpImporter> indexing_ops() { return kIndexingOps; }

}  // namespace buda::tensorflow_frontend
