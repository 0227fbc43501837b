// SPDX-License-Identifier: Apache-2.0
// What is asked of tensors, conversions, and operators that put tensors together from others.
#include "call.hpp"
#include "load.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <numeric>

namespace buda::torchscript {
namespace {

// ---- questions

Result<Value> shape_size(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  if (!n.has("dim")) return integers_value(shape.dims());
  if (shape.rank() == 0) return n.refuse("asks for the size of a number along an axis");
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, shape.rank()));
  return Value(shape[static_cast<std::size_t>(axis)]);
}

Result<Value> shape_length(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  if (shape.rank() == 0) return n.refuse("asks for the length of a number");
  return Value(shape[0]);
}

Result<Value> shape_rank(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  return Value(static_cast<std::int64_t>(shape.rank()));
}

Result<Value> shape_volume(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  return Value(shape.volume().value_or(0));
}

Result<Value> shape_dtype(Call& n) {
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  return Value(code_of_dtype(dtype));
}

Result<Value> shape_is_real(Call& n) {
  BUDA_ASSIGN(auto dtype, n.dtype("self"));
  return Value(is_float(dtype));
}

Result<Value> shape_yes(Call&) { return Value(true); }
Result<Value> shape_no(Call&) { return Value(false); }

// A number as a tensor.
Result<Value> shape_tensor(Call& n) {
  const Value& v = n["self"];
  if (v.is<Cell>()) return v;
  std::optional<Tensor> number;
  if (const auto* i = v.as<std::int64_t>()) number = Tensor::scalar(*i);
  if (const auto* b = v.as<bool>()) number = Tensor::scalar(Boolean{static_cast<std::uint8_t>(*b)});
  if (const auto* d = v.as<double>()) number = Tensor::scalar(static_cast<float>(*d));
  if (!number) return n.refuse(wrong_argument("self", v, "a number"));
  Value out = n.known_tensor(std::move(*number));
  (*out.as<Cell>())->number = true;
  return out;
}

// ---- conversions

Result<Value> converted(Call& n, DType to) {
  BUDA_ASSIGN(auto from, n.dtype("self"));
  if (from == to) return n["self"];
  Ref x = n.ref("self");
  return n.tensor(n.result().op("cast", {x}, {{"dtype", std::string(dtype_name(to))}}));
}

// to(dtype), to(device, dtype), to(other), prim's to(device, dtype, …): whatever the order, an integer (not a flag) is an element type.
Result<Value> shape_to(Call& n) {
  for (std::size_t i = 1; i < n.count(); ++i) {
    const Value& v = n.argument(i);
    if (const auto* code = v.as<std::int64_t>()) {
      auto to = dtype_of_code(*code);
      if (!to) return n.refuse(cat("its dtype is number ", *code, ", which is not supported"));
      return converted(n, *to);
    }
    if (v.is<Cell>()) {
      const auto* type = n.state().builder.graph().type(n.value_ref(v));
      if (type == nullptr) return Value(Failed{});
      return converted(n, type->dtype);
    }
  }
  return n["self"];
}

// A tensor of its own, which does not change with the other.
Result<Value> shape_copy(Call& n) {
  if (!n.is_tensor("self")) return n.refuse(wrong_argument("self", n["self"], "a tensor"));
  const Cell& cell = *n["self"].as<Cell>();
  if (cell->base == nullptr && cell->value->tensor) return Value(new_cell(std::make_shared<frontend::ModelValue>(*cell->value)));
  return n.tensor(n.ref("self"));
}

// ---- putting together

Result<Value> shape_cat(Call& n) {
  const auto* list = n["tensors"].as<SequenceRef>();
  if (list == nullptr || (*list)->items.empty()) return n.refuse("puts no tensors together");
  BUDA_ASSIGN(auto dtype, promoted_type(n, (*list)->items));
  std::vector<graph::Edge> parts;
  Shape shape;
  for (const Value& item : (*list)->items) {
    BUDA_ASSIGN(Ref part, value_operand(n, item, dtype));
    BUDA_ASSIGN(Shape s, n.shape_of(part));
    if (s == Shape{0}) continue;  // an empty tensor without a shape, as PyTorch allows
    shape = s;
    parts.emplace_back(part);
  }
  if (parts.empty()) return n.refuse("puts empty tensors together");
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, shape.rank()));
  if (parts.size() == 1) return n.tensor(parts[0].source);
  return n.tensor(n.result().concatenate(std::move(parts), axis));
}

// Beside each other, one above another, behind each other, or as columns: with axes first where the parts have too few.
Result<Value> shape_joined(Call& n) {
  const std::string_view name = n.importer().name;
  const auto* list = n["tensors"].as<SequenceRef>();
  if (list == nullptr || (*list)->items.empty()) return n.refuse("puts no tensors together");
  BUDA_ASSIGN(auto dtype, promoted_type(n, (*list)->items));
  std::vector<graph::Edge> parts;
  std::int64_t axis = name == "vstack" ? 0 : name == "dstack" ? 2 : 1;
  for (const Value& item : (*list)->items) {
    BUDA_ASSIGN(Ref part, value_operand(n, item, dtype));
    BUDA_ASSIGN(const Shape s, n.shape_of(part));
    Dims sizes(s.begin(), s.end());
    if (sizes.empty()) sizes = {1};
    if (sizes.size() == 1 && name == "hstack") axis = 0;
    if (sizes.size() == 1 && name == "column_stack") sizes.push_back(1);
    if (sizes.size() == 1 && name != "hstack") sizes.insert(sizes.begin(), 1);
    if (sizes.size() == 2 && name == "dstack") sizes.push_back(1);
    parts.emplace_back(Shape(sizes) == s ? part : n.step("part").reshape(part, Shape(sizes)));
  }
  if (parts.size() == 1) return n.tensor(parts[0].source);
  return n.tensor(n.result().concatenate(std::move(parts), axis));
}

Result<Value> shape_stack(Call& n) {
  const auto* list = n["tensors"].as<SequenceRef>();
  if (list == nullptr || (*list)->items.empty()) return n.refuse("puts no tensors together");
  BUDA_ASSIGN(auto dtype, promoted_type(n, (*list)->items));
  std::vector<graph::Edge> parts;
  std::int64_t axis = 0;
  for (const Value& item : (*list)->items) {
    BUDA_ASSIGN(Ref part, value_operand(n, item, dtype));
    BUDA_ASSIGN(Shape s, n.shape_of(part));
    BUDA_ASSIGN(axis, n.axis_or("dim", 0, s.rank() + 1));
    parts.emplace_back(n.step("part").unsqueeze(part, {axis}));
  }
  if (parts.size() == 1) return n.tensor(parts[0].source);
  return n.tensor(n.result().concatenate(std::move(parts), axis));
}

Result<Value> shape_repeat(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Dims repeats, n.integers("repeats"));
  Ref x = n.ref("self");
  const std::size_t rank = std::max(shape.rank(), repeats.size());
  if (repeats.size() < shape.rank() && n.importer().name == "repeat")
    return n.refuse(cat("repeats ", shape.text(), ' ', list_text(repeats), " times"));
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  if (rank > shape.rank()) {
    Dims sizes(rank - shape.rank(), 1);
    sizes.insert(sizes.end(), shape.begin(), shape.end());
    x = n.step("axes").reshape(x, Shape(std::move(sizes)));
  }
  return n.tensor(n.result().op("tile", {x}, {{"repeats", repeats}}));
}

// Each element several times in a row.
// With a number for each element, all of them known: a selection.
Result<Value> repeat_each(Call& n) {
  constexpr std::int64_t kMaxRepeated = 1 << 24;
  BUDA_ASSIGN(Tensor given, n.known("repeats"));
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  Ref x = n.ref("self");
  std::int64_t axis = 0;
  if (n.has("dim")) {
    BUDA_ASSIGN(axis, n.axis_or("dim", 0, shape.rank()));
  } else {
    shape = Shape{shape.volume().value_or(0)};
    x = n.step("flat").reshape(x, shape);
  }
  const Tensor wide = given.cast(DType::i64);
  const auto times = wide.as<std::int64_t>();
  if (shape.rank() == 0) return n.refuse("repeats a number");
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  if (static_cast<std::int64_t>(times.size()) != size && times.size() != 1)
    return n.refuse(cat("its repeats are ", given.describe(), " for ", size, " elements"));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t count = times[times.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    if (count < 0 || count > kMaxRepeated - static_cast<std::int64_t>(places.size()))
      return n.refuse(cat("repeats an element ", count, " times"));
    places.insert(places.end(), static_cast<std::size_t>(count), i);
  }
  const Shape taken{static_cast<std::int64_t>(places.size())};
  Ref at = n.constant(Tensor(taken, std::move(places)));
  return n.tensor(n.result().op("gather", {x, at}, {{"dim", axis}}));
}

Result<Value> shape_repeat_interleave(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  if (n.is_tensor("repeats")) return repeat_each(n);
  BUDA_ASSIGN(auto times, n.integer("repeats"));
  Ref x = n.ref("self");
  std::int64_t axis = 0;
  if (n.has("dim")) {
    BUDA_ASSIGN(axis, n.axis_or("dim", 0, shape.rank()));
  } else {
    x = n.step("flat").reshape(x, Shape{shape.volume().value_or(0)});
    BUDA_ASSIGN(shape, n.shape_of(x));
  }
  if (shape.rank() == 0 || times < 1) return n.refuse(cat("repeats each element of ", shape.text(), ' ', times, " times"));
  Dims wide(shape.begin(), shape.end()), sizes = wide;
  wide.insert(wide.begin() + axis + 1, times);
  sizes[static_cast<std::size_t>(axis)] *= times;
  Ref column = n.step("column").unsqueeze(x, {axis + 1});
  Ref repeated = n.step("repeated").broadcast(column, Shape(std::move(wide)));
  return n.tensor(n.result().reshape(repeated, Shape(std::move(sizes))));
}

Result<Value> shape_flip(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Dims given, n.integers("dims"));
  BUDA_ASSIGN(Dims axes, frontend::axes_of(n, given, shape.rank()));
  Ref x = n.ref("self");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto size = shape[static_cast<std::size_t>(axes[i])];
    x = (i + 1 == axes.size() ? n.result() : n.step("axis")).slice(x, axes[i], size - 1, -size - 1, -1);
  }
  return n.tensor(x);
}

// Along each axis the last elements come first.
Result<Value> shape_roll(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Dims shifts, n.integers("shifts"));
  BUDA_ASSIGN(Dims axes, n.integers_or("dims", {}));
  Ref x = n.ref("self");
  const Shape whole = shape;
  const bool flat = axes.empty() && shape.rank() != 1;
  if (flat) {
    shape = Shape{shape.volume().value_or(0)};
    x = n.step("flat").reshape(x, shape);
  }
  if (axes.empty()) axes = {0};
  if (axes.size() != shifts.size()) return n.refuse("has another number of shifts than of axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    BUDA_ASSIGN(auto axis, frontend::axis_of(n, axes[i], shape.rank()));
    const auto size = shape[static_cast<std::size_t>(axis)];
    if (size == 0) continue;
    const auto first = ((-shifts[i] % size) + size) % size;
    if (first == 0) continue;
    Ref end = n.step("end").slice(x, axis, first, size), begin = n.step("begin").slice(x, axis, 0, first);
    x = n.step("rolled").concatenate({end, begin}, axis);
  }
  if (flat) x = n.result().reshape(x, whole);
  return n.tensor(x);
}

// Blocks of channels become squares of pixels, or the way back.
Result<Value> shape_pixels(Call& n) {
  const bool unshuffle = n.importer().name == "pixel_unshuffle";
  BUDA_ASSIGN(Shape s, n.shape("self"));
  BUDA_ASSIGN(auto r, n.integer("factor"));
  if (s.rank() != 4 || r < 1 || r > 1024 || (unshuffle ? s[2] % r != 0 || s[3] % r != 0 : s[1] % (r * r) != 0))
    return n.refuse(cat("its input is ", s.text(), " and its factor ", r));
  Ref x = n.ref("self");
  if (unshuffle) {
    Ref blocks = n.step("blocks").reshape(x, Shape{s[0], s[1], s[2] / r, r, s[3] / r, r});
    Ref order = n.step("order").transpose(blocks, {0, 1, 3, 5, 2, 4});
    return n.tensor(n.result().reshape(order, Shape{s[0], s[1] * r * r, s[2] / r, s[3] / r}));
  }
  Ref blocks = n.step("blocks").reshape(x, Shape{s[0], s[1] / (r * r), r, r, s[2], s[3]});
  Ref order = n.step("order").transpose(blocks, {0, 1, 4, 2, 5, 3});
  return n.tensor(n.result().reshape(order, Shape{s[0], s[1] / (r * r), s[2] * r, s[3] * r}));
}

Result<Value> shape_channel_shuffle(Call& n) {
  BUDA_ASSIGN(Shape s, n.shape("self"));
  BUDA_ASSIGN(auto groups, n.integer("groups"));
  if (s.rank() < 3 || groups < 1 || s[1] % groups != 0)
    return n.refuse(cat("its input is ", s.text(), ", in ", groups, " groups of channels"));
  Dims sizes(s.begin(), s.end());
  sizes[1] = s[1] / groups;
  sizes.insert(sizes.begin() + 1, groups);
  Dims order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[1], order[2]);
  Ref x = n.ref("self");
  Ref apart = n.step("groups").reshape(x, Shape(std::move(sizes)));
  Ref turned = n.step("turned").transpose(apart, std::move(order));
  return n.tensor(n.result().reshape(turned, s));
}

Result<Value> shape_triangle(Call& n) {
  BUDA_ASSIGN(auto diagonal, n.integer_or("diagonal", 0));
  Ref x = n.ref("self");
  ops::AttrMap attrs{{"upper", n.importer().name == "triu"}};
  if (diagonal != 0) attrs["diagonal"] = diagonal;
  return n.tensor(n.result().op("triangle", {x}, std::move(attrs)));
}

// Each with the axes of all.
Result<Value> shape_meshgrid(Call& n) {
  BUDA_ASSIGN(auto refs, n.refs("tensors"));
  BUDA_ASSIGN(std::string indexing, n.text_or("indexing", "ij"));
  Dims sizes;
  for (Ref r : refs) {
    BUDA_ASSIGN(Shape s, n.shape_of(r));
    if (s.rank() > 1) return n.refuse(cat("has an operand of shape ", s.text(), "; lists are supported"));
    sizes.push_back(s.rank() == 0 ? 1 : s[0]);
  }
  const bool swap = indexing == "xy" && sizes.size() > 1;
  Dims wide = sizes;
  if (swap) std::swap(wide[0], wide[1]);
  std::vector<Value> out;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    Dims alone(sizes.size(), 1);
    alone[swap && i < 2 ? 1 - i : i] = sizes[i];
    Ref axis = n.step("axis").reshape(refs[i], Shape(std::move(alone)));
    out.push_back(n.tensor(n.result().broadcast(axis, Shape(wide))));
  }
  return list_of(std::move(out));
}

Result<Value> shape_broadcast_all(Call& n) {
  BUDA_ASSIGN(auto refs, n.refs("tensors"));
  Shape all;
  for (Ref r : refs) {
    BUDA_ASSIGN(Shape s, n.shape_of(r));
    auto wider = broadcast(all, s);
    if (!wider) return n.refuse(cat("has shapes ", all.text(), " and ", s.text(), ", which are incompatible"));
    all = *wider;
  }
  std::vector<Value> out;
  for (Ref r : refs) out.push_back(n.tensor(n.result().broadcast(r, all)));
  return list_of(std::move(out));
}

// ---- contents, which call.hpp's write puts in place

// The source in the shape of the target.
Result<Value> shape_copy_into(Call& n) {
  BUDA_ASSIGN(auto type, n.type("self"));
  BUDA_ASSIGN(Ref source, operand(n, "src", type.dtype));
  BUDA_ASSIGN(Shape shape, n.shape_of(source));
  return n.tensor(shape == type.shape ? source : n.result().broadcast(source, type.shape));
}

Result<Value> shape_fill(Call& n) {
  BUDA_ASSIGN(auto type, n.type("self"));
  const Value zero = std::int64_t{0};
  BUDA_ASSIGN(Ref value, value_operand(n, n.importer().name == "zero" ? zero : n["value"], type.dtype));
  return n.tensor(n.result().broadcast(value, type.shape));
}

constexpr OpImporter kShapeOps[] = {
    {"NumToTensor", "self", shape_tensor},
    {"broadcast_tensors", "tensors", shape_broadcast_all},
    {"cat", "tensors dim", shape_cat},
    {"channel_shuffle", "self groups", shape_channel_shuffle},
    {"clone", "self memory_format", shape_copy},
    {"column_stack", "tensors", shape_joined},
    {"concat", "tensors dim", shape_cat},
    {"concatenate", "tensors dim", shape_cat},
    {"contiguous", "self memory_format", shape_copy},
    {"copy", "self src non_blocking", shape_copy_into, "", "as copy_"},
    {"cpu", "self", shape_copy},
    {"dim", "self", shape_rank},
    {"dtype", "self", shape_dtype},
    {"dstack", "tensors", shape_joined},
    {"fill", "self value", shape_fill},
    {"flip", "self dims", shape_flip},
    {"hstack", "tensors", shape_joined},
    {"is_complex", "self", shape_no},
    {"is_contiguous", "self memory_format", shape_yes},
    {"is_floating_point", "self", shape_is_real},
    {"len", "self", shape_length},
    {"meshgrid", "tensors indexing", shape_meshgrid},
    {"numel", "self", shape_volume},
    {"pixel_shuffle", "self factor", shape_pixels},
    {"pixel_unshuffle", "self factor", shape_pixels},
    {"repeat", "self repeats", shape_repeat},
    {"repeat_interleave", "self repeats dim output_size", shape_repeat_interleave, "", "repeats known"},
    {"roll", "self shifts dims", shape_roll},
    {"size", "self dim", shape_size},
    {"stack", "tensors dim", shape_stack},
    {"tile", "self repeats", shape_repeat},
    {"to", "self dtype other non_blocking copy memory_format layout device", shape_to},
    {"tril", "self diagonal", shape_triangle},
    {"triu", "self diagonal", shape_triangle},
    {"type_as", "self other", shape_to},
    {"vstack", "tensors", shape_joined},
    {"zero", "self", shape_fill},
};

}  // namespace

std::span<const OpImporter> shape_ops() { return kShapeOps; }

}  // namespace buda::torchscript
