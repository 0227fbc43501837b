// SPDX-License-Identifier: Apache-2.0
// Movements that TMs of a device have no word for, on any element type: repetition, borders that continue the value, triangles.
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/copy.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cstring>

namespace buda::ops {
namespace {

// out[place] = in[from(axis, place[axis]) for each axis]: one table of source places per axis.
Result<std::vector<Tensor>> by_tables(const EvaluateCall& call, const std::vector<std::vector<std::int64_t>>& tables) {
  const Tensor& in = call.inputs[0];
  const Shape& shape = call.outputs[0].shape;
  BUDA_ASSIGN(Buffer out, Buffer::make(in.dtype(), shape));
  std::int64_t count = shape.volume().value_or(0);
  std::vector<std::int64_t> strides = in.shape().strides();
  std::vector<std::size_t> at(shape.rank(), 0);
  std::size_t size = dtype_size(in.dtype());
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < at.size() && count != 0; ++axis) offset += tables[axis][0] * strides[axis];
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(out.bytes() + static_cast<std::size_t>(i) * size, in.bytes().data() + static_cast<std::size_t>(offset) * size, size);
    for (std::size_t axis = at.size(); axis-- > 0;) {
      std::int64_t before = tables[axis][at[axis]];
      at[axis] = at[axis] + 1 == tables[axis].size() ? 0 : at[axis] + 1;
      offset += (tables[axis][at[axis]] - before) * strides[axis];
      if (at[axis] != 0) break;
    }
  }
  return std::vector<Tensor>{std::move(out).take()};
}

Result<std::vector<ValueType>> infer_tile(const InferCall& call) {
  Shape out = call.inputs[0].shape;
  const auto& repeats = call.attrs.integers("repeats");
  if (repeats.size() != out.rank())
    return shape_error(cat("'repeats' needs one number for each axis of ", out.text(), ", not ", repeats.size()));
  for (std::size_t i = 0; i < out.rank(); ++i) {
    auto size = repeats[i] < 0 ? std::nullopt : checked_mul(out[i], repeats[i]);
    if (!size) return shape_error(cat("axis ", i, " of size ", out[i], " cannot be repeated ", repeats[i], " times"));
    out[i] = *size;
  }
  return one(call.inputs[0].dtype, std::move(out));
}

Result<std::vector<Tensor>> evaluate_tile(const EvaluateCall& call) {
  std::vector<std::vector<std::int64_t>> tables;
  if (call.outputs[0].shape.volume() == 0) tables.resize(call.outputs[0].shape.rank());
  for (std::size_t axis = 0; axis < call.outputs[0].shape.rank() && tables.size() <= axis; ++axis) {
    std::int64_t size = call.inputs[0].shape()[axis];
    tables.emplace_back();
    for (std::int64_t i = 0; i < call.outputs[0].shape[axis]; ++i) tables.back().push_back(i % size);
  }
  return by_tables(call, tables);
}

Result<std::vector<ValueType>> infer_continue(const InferCall& call) {
  Shape out = call.inputs[0].shape;
  const auto &before = call.attrs.integers("before"), &after = call.attrs.integers("after");
  if (before.size() != out.rank() || after.size() != out.rank())
    return shape_error(
        cat("'before' and 'after' need one number for each axis of ", out.text(), ", not ", before.size(), " and ", after.size()));
  bool reflect = call.attrs.text("mode") == "reflect";
  for (std::size_t i = 0; i < out.rank(); ++i) {
    if (before[i] < 0 || after[i] < 0) return shape_error("padding must not be negative; a slice removes elements");
    bool any = before[i] != 0 || after[i] != 0;
    if (any && (out[i] == 0 || (reflect && out[i] == 1)))
      return shape_error(cat("axis ", i, " of size ", out[i], " has no elements from which its border can be padded"));
    auto sum = checked_add(before[i], after[i]);
    if (sum) sum = checked_add(*sum, out[i]);
    if (!sum) return shape_error("the result is too large");
    out[i] = *sum;
  }
  return one(call.inputs[0].dtype, std::move(out));
}

// Reflection: …2 1 | 0 1 2 3 | 2 1 0 1…, to and fro with the period 2 (size - 1).
std::int64_t reflected(std::int64_t i, std::int64_t size) {
  if (size == 1) return 0;
  std::int64_t period = 2 * (size - 1);
  std::int64_t at = ((i % period) + period) % period;
  return at < size ? at : period - at;
}

Result<std::vector<Tensor>> evaluate_continue(const EvaluateCall& call) {
  bool reflect = call.attrs.text("mode") == "reflect", wrap = call.attrs.text("mode") == "wrap";
  std::vector<std::vector<std::int64_t>> tables(call.outputs[0].shape.rank());
  if (call.outputs[0].shape.volume() != 0)
    for (std::size_t axis = 0; axis < tables.size(); ++axis) {
      std::int64_t size = call.inputs[0].shape()[axis], before = call.attrs.integers("before")[axis];
      for (std::int64_t i = 0; i < call.outputs[0].shape[axis]; ++i) {
        std::int64_t at = i - before;
        tables[axis].push_back(reflect ? reflected(at, size)
                               : wrap  ? ((at % size) + size) % size
                                       : std::clamp<std::int64_t>(at, 0, size - 1));
      }
    }
  return by_tables(call, tables);
}

Result<std::vector<ValueType>> infer_triangle(const InferCall& call) {
  if (call.inputs[0].shape.rank() < 2) return shape_error(cat("a value of shape ", call.inputs[0].shape.text(), " holds no matrices"));
  return like_first(call);
}

Result<std::vector<Tensor>> evaluate_triangle(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  const Shape& shape = in.shape();
  bool upper = call.attrs.boolean("upper");
  std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  // Beyond the matrix all diagonals are alike; this keeps sums within 64 bits.
  std::int64_t k = std::clamp<std::int64_t>(call.attrs.integer("diagonal"), -rows, columns);
  BUDA_ASSIGN(Buffer out, Buffer::make(in.dtype(), shape));
  std::copy(in.bytes().begin(), in.bytes().end(), out.bytes());
  std::size_t size = dtype_size(in.dtype());
  std::int64_t all_rows = columns == 0 ? 0 : static_cast<std::int64_t>(in.size()) / columns;
  for (std::int64_t row = 0; row < all_rows; ++row) {
    std::int64_t diagonal = row % rows + k;  // the column of the diagonal in this row
    std::int64_t begin = upper ? 0 : std::clamp<std::int64_t>(diagonal + 1, 0, columns);
    std::int64_t end = upper ? std::clamp<std::int64_t>(diagonal, 0, columns) : columns;
    if (begin < end)
      std::memset(out.bytes() + static_cast<std::size_t>(row * columns + begin) * size, 0, static_cast<std::size_t>(end - begin) * size);
  }
  return std::vector<Tensor>{std::move(out).take()};
}

OpDef rearrange_op(std::string name, std::string summary, std::vector<AttrDef> attrs, decltype(OpDef::infer) infer,
                   decltype(OpDef::evaluate) evaluate) {
  return tensor_level_op("rearrange", std::move(name), std::move(summary), {"x"}, std::move(attrs), infer, evaluate);
}

}  // namespace

std::vector<OpDef> rearrange_ops() {
  auto needed = [](std::string name, std::string doc) {
    return AttrDef{std::move(name), AttrType::integers, std::nullopt, std::move(doc), {}};
  };
  return {
      rearrange_op("tile", "repeated along each axis", {needed("repeats", "how often, for each axis")}, infer_tile, evaluate_tile),
      rearrange_op("pad_continued", "with a border that continues the value",
                   {needed("before", "elements added before the first, for each axis"),
                    needed("after", "and after the last"),
                    {"mode",
                     AttrType::text,
                     std::nullopt,
                     "reflect: mirrored at the first and last element; edge: these repeated; wrap: from the other end",
                     {"reflect", "edge", "wrap"}}},
                   infer_continue, evaluate_continue),
      rearrange_op(
          "triangle", "one triangle of each matrix in the last two axes, zeros in the other",
          {{"upper", AttrType::boolean, true, "the upper triangle, not the lower one", {}},
           {"diagonal", AttrType::integer, std::int64_t{0}, "the last diagonal that belongs to it; above the main one where positive", {}}},
          infer_triangle, evaluate_triangle)};
}

}  // namespace buda::ops
