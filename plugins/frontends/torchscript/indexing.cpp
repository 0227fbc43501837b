// SPDX-License-Identifier: Apache-2.0
// Elements by their places: lists of places, masks that are known, embeddings.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <numeric>

namespace buda::torchscript {
namespace {

// Negative places count from the end, which our op knows; they must be integers.
Result<Ref> places(Call& n, const Value& value) {
  Ref x = n.value_ref(value);
  const auto* type = n.state().builder.graph().type(x);
  if (type == nullptr) return n.refuse("a value that it uses has no type");
  if (is_integer(type->dtype)) return x;
  Diagnostic d = n.refuse(cat("its places are ", dtype_name(type->dtype), ", not integers"));
  d.hint = "inputs are F32 unless the option says otherwise: --input-shape NAME=1,128:I64";
  return d;
}

Result<Value> index_embedding(Call& n) {
  BUDA_ASSIGN(Ref indices, places(n, n["indices"]));
  Ref weight = n.ref("weight");
  return n.tensor(n.result().op("gather", {weight, indices}));
}

Result<Value> index_select(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, shape.rank()));
  BUDA_ASSIGN(Ref indices, places(n, n["index"]));
  Ref x = n.ref("self");
  ops::AttrMap attrs;
  if (axis != 0) attrs["dim"] = axis;
  return n.tensor(n.result().op("gather", {x, indices}, std::move(attrs)));
}

Result<Value> index_gather(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Shape index, n.shape("index"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, shape.rank()));
  BUDA_ASSIGN(Ref indices, places(n, n["index"]));
  Ref x = n.ref("self");
  // Where there are fewer places than elements along another axis, the first ones are meant.
  if (shape.rank() != index.rank()) return n.refuse(cat("its input is ", shape.text(), " and its index ", index.text()));
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (static_cast<std::int64_t>(i) != axis && index[i] < shape[i]) x = n.step("part").slice(x, static_cast<std::int64_t>(i), 0, index[i]);
  return n.tensor(n.result().op("gather_elements", {x, indices}, {{"dim", axis}}));
}

Result<Value> index_scatter(Call& n) {
  BUDA_ASSIGN(auto type, n.type("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, type.shape.rank()));
  BUDA_ASSIGN(Ref indices, places(n, n["index"]));
  BUDA_ASSIGN(Shape at, n.shape_of(indices));
  BUDA_ASSIGN(Ref updates, operand(n, "src", type.dtype));
  BUDA_ASSIGN(Shape given, n.shape_of(updates));
  if (given.rank() == 0) updates = n.step("updates").broadcast(updates, at);
  if (given.rank() != 0 && given != at)
    return n.refuse(cat("its source is ", given.text(), " and its index ", at.text(), "; they must be the same"));
  Ref x = n.ref("self");
  ops::AttrMap attrs{{"dim", axis}};
  if (n.importer().name == "scatter_add") attrs["reduction"] = std::string("add");
  if (n.has("reduce")) {
    // The words of scatter, and of scatter_reduce.
    constexpr std::pair<std::string_view, std::string_view> kReductions[] = {
        {"add", "add"}, {"multiply", "mul"}, {"prod", "mul"}, {"amax", "max"}, {"amin", "min"}};
    BUDA_ASSIGN(const std::string reduce, n.text_or("reduce", ""));
    for (const auto& [theirs, ours] : kReductions)
      if (reduce == theirs) attrs["reduction"] = std::string(ours);
    if (!attrs.contains("reduction")) return n.refuse(cat("its reduce is '", reduce, '\''));
  }
  return n.tensor(n.result().op("scatter_elements", {x, indices, updates}, std::move(attrs)));
}

// Whole slices, or one number for all, at places along one axis. An op of ours wants a place for each element.
Result<Value> index_along_axis(Call& n) {
  const bool fills = n.importer().name == "index_fill";
  BUDA_ASSIGN(auto type, n.type("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", 0, type.shape.rank()));
  BUDA_ASSIGN(double alpha, n.real_or("alpha", 1));
  BUDA_ASSIGN(Ref indices, places(n, n["index"]));
  BUDA_ASSIGN(Shape at, n.shape_of(indices));
  BUDA_ASSIGN(Ref updates, operand(n, fills ? "value" : "source", type.dtype));
  BUDA_ASSIGN(Shape given, n.shape_of(updates));
  const auto along = static_cast<std::size_t>(axis);
  if (fills && given.rank() == 0 && at.rank() == 1 && type.shape.rank() > 0) {
    given = type.shape;
    given[along] = at[0];
    updates = n.step("updates").broadcast(updates, given);
  }
  if (at.rank() != 1 || given.rank() != type.shape.rank() || given.rank() == 0 || given[along] != at[0])
    return n.refuse(cat("its source is ", given.text(), " and its index ", at.text(), "; a slice for each place is needed"));
  if (alpha != 1) {
    Ref factor = n.number(alpha, type.dtype);
    updates = n.step("updates").multiply(updates, factor);
  }
  Dims sizes(given.rank(), 1);
  sizes[along] = at[0];
  indices = n.step("index").reshape(indices, Shape(std::move(sizes)));
  indices = n.step("places").broadcast(indices, given);
  Ref x = n.ref("self");
  ops::AttrMap attrs{{"dim", axis}};
  if (n.importer().name == "index_add") attrs["reduction"] = std::string("add");
  return n.tensor(n.result().op("scatter_elements", {x, indices, updates}, std::move(attrs)));
}

// ---- x[a, :, b, …]

struct Indices {
  std::vector<std::size_t> axes;  // that are indexed
  std::vector<Ref> places;
};

// The places where a known mask holds, for each of its axes.
std::vector<Tensor> places_of_mask(const Tensor& mask) {
  const auto rank = mask.shape().rank();
  std::vector<std::vector<std::int64_t>> found(rank);
  const auto strides = mask.shape().strides();
  auto elements = mask.as<Boolean>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i]) continue;
    auto left = static_cast<std::int64_t>(i);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      found[axis].push_back(left / strides[axis]);
      left %= strides[axis];
    }
  }
  std::vector<Tensor> out;
  for (auto& list : found) {
    const auto size = static_cast<std::int64_t>(list.size());
    out.emplace_back(Shape{size}, std::move(list));
  }
  return out;
}

Result<Indices> indices_of(Call& n) {
  const auto* list = n["indices"].as<SequenceRef>();
  if (list == nullptr) return n.refuse(wrong_argument("indices", n["indices"], "a list"));
  Indices out;
  std::size_t axis = 0;
  for (const Value& item : (*list)->items) {
    if (item.none()) {
      ++axis;
      continue;
    }
    const auto* type = n.state().builder.graph().type(n.value_ref(item));
    if (type != nullptr && (type->dtype == DType::boolean || type->dtype == DType::u8)) {
      const Tensor* mask = n.known_or_null(item);
      if (mask == nullptr) return n.refuse("takes the elements where a mask holds; how many these are depends on values");
      for (Tensor& t : places_of_mask(mask->cast(DType::boolean))) {
        out.axes.push_back(axis++);
        out.places.push_back(n.constant(std::move(t)));
      }
      continue;
    }
    BUDA_ASSIGN(Ref where, places(n, item));
    out.axes.push_back(axis++);
    out.places.push_back(where);
  }
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  if (axis > shape.rank()) return n.refuse(cat("has indices for ", axis, " axes of an input of shape ", shape.text()));
  if (out.axes.empty()) return n.refuse("has no indices");
  return out;
}

// Several lists of places as one of coordinates [..., axes], broadcast to each other.
Result<Ref> coordinates(Call& n, const Indices& indices) {
  Shape shape;
  for (Ref r : indices.places) {
    BUDA_ASSIGN(Shape s, n.shape_of(r));
    auto wider = broadcast(shape, s);
    if (!wider) return n.refuse(cat("its indices have shapes ", shape.text(), " and ", s.text(), ", which are incompatible"));
    shape = *wider;
  }
  std::vector<graph::Edge> columns;
  const auto last = static_cast<std::int64_t>(shape.rank());
  for (Ref r : indices.places) {
    Ref number = n.cast(r, DType::i64);
    Ref wide = n.step("wide").broadcast(number, shape);
    columns.emplace_back(n.step("column").unsqueeze(wide, {last}));
  }
  return columns.size() == 1 ? columns[0].source : n.step("coordinates").concatenate(std::move(columns), last);
}

bool are_neighbours(const std::vector<std::size_t>& axes) {
  for (std::size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[i - 1] + 1) return false;
  return true;
}

// The axes that are indexed in front, then the others.
Dims indexed_first(const std::vector<std::size_t>& axes, std::size_t rank) {
  Dims order(axes.begin(), axes.end());
  for (std::size_t i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

Result<Value> index_index(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Indices indices, indices_of(n));
  Ref x = n.ref("self");
  if (indices.axes.size() == 1) {
    ops::AttrMap attrs;
    if (indices.axes[0] != 0) attrs["dim"] = static_cast<std::int64_t>(indices.axes[0]);
    return n.tensor(n.result().op("gather", {x, indices.places[0]}, std::move(attrs)));
  }
  BUDA_ASSIGN(Ref at, coordinates(n, indices));
  Dims order = indexed_first(indices.axes, shape.rank());
  if (!std::is_sorted(order.begin(), order.end())) x = n.step("order").transpose(x, order);
  const std::size_t first = indices.axes[0];
  if (first == 0 || !are_neighbours(indices.axes)) return n.tensor(n.result().op("gather_nd", {x, at}));
  // The axes of the indices take the place of those that they index.
  Ref y = n.step("elements").op("gather_nd", {x, at});
  BUDA_ASSIGN(Shape found, n.shape_of(y));
  BUDA_ASSIGN(Shape where, n.shape_of(at));
  const std::size_t inner = where.rank() - 1;
  Dims back;
  for (std::size_t i = 0; i < first; ++i) back.push_back(static_cast<std::int64_t>(inner + i));
  for (std::size_t i = 0; i < inner; ++i) back.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = inner + first; i < found.rank(); ++i) back.push_back(static_cast<std::int64_t>(i));
  return n.tensor(n.result().transpose(y, std::move(back)));
}

// x[mask] = v with a mask of the first axes that is not known, where v has no elements of its own for each place: a choice between v and x.
// Nothing for other indices.
Result<std::optional<Value>> put_by_mask(Call& n, const graph::ValueType& type) {
  const auto* list = n["indices"].as<SequenceRef>();
  if (list == nullptr || (*list)->items.size() != 1 || (*list)->items[0].none() || n.known_or_null((*list)->items[0]) != nullptr)
    return std::optional<Value>();
  Ref mask = n.value_ref((*list)->items[0]);
  const auto* of = n.state().builder.graph().type(mask);
  if (of == nullptr || of->dtype != DType::boolean) return std::optional<Value>();
  BUDA_ASSIGN(bool accumulate, n.flag_or("accumulate", false));
  BUDA_ASSIGN(Ref values, operand(n, "values", type.dtype));
  BUDA_ASSIGN(Shape given, n.shape_of(values));
  const Shape where = n.state().builder.graph().type(mask)->shape;
  const bool fits = where.rank() <= type.shape.rank() && std::equal(where.begin(), where.end(), type.shape.begin());
  if (accumulate || !fits) return std::optional<Value>();
  const std::size_t inner = type.shape.rank() - where.rank();
  if (given.rank() > inner + 1 || (given.rank() == inner + 1 && given[0] != 1)) return std::optional<Value>();
  if (given.rank() == inner + 1) values = n.step("values").reshape(values, Shape(Dims(given.begin() + 1, given.end())));
  Dims sizes(where.begin(), where.end());
  sizes.resize(type.shape.rank(), 1);
  if (inner > 0) mask = n.step("mask").reshape(mask, Shape(std::move(sizes)));
  Ref x = n.ref("self");
  return std::optional<Value>(n.tensor(n.result().op("where", {mask, values, x})));
}

Result<Value> index_put(Call& n) {
  BUDA_ASSIGN(auto type, n.type("self"));
  BUDA_ASSIGN(auto chosen, put_by_mask(n, type));
  if (chosen) return std::move(*chosen);
  BUDA_ASSIGN(Indices indices, indices_of(n));
  BUDA_ASSIGN(bool accumulate, n.flag_or("accumulate", false));
  Ref x = n.ref("self");
  const Dims order = indexed_first(indices.axes, type.shape.rank());
  const bool turned = !std::is_sorted(order.begin(), order.end());
  BUDA_ASSIGN(Ref at, coordinates(n, indices));
  BUDA_ASSIGN(Shape where, n.shape_of(at));
  const std::size_t inner = where.rank() - 1, rest = order.size() - indices.axes.size();
  // Of the values the axes of the indices come first, too; where those that are indexed are neighbours, they stand in their place.
  const std::size_t before = are_neighbours(indices.axes) ? indices.axes[0] : 0;
  Dims wanted, to_front;
  for (std::size_t i = 0; i < before; ++i) wanted.push_back(type.shape[static_cast<std::size_t>(order[indices.axes.size() + i])]);
  wanted.insert(wanted.end(), where.begin(), where.end() - 1);
  for (std::size_t i = before; i < rest; ++i) wanted.push_back(type.shape[static_cast<std::size_t>(order[indices.axes.size() + i])]);
  for (std::size_t i = 0; i < inner; ++i) to_front.push_back(static_cast<std::int64_t>(before + i));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (i < before || i >= before + inner) to_front.push_back(static_cast<std::int64_t>(i));
  BUDA_ASSIGN(Ref values, operand(n, "values", type.dtype));
  BUDA_ASSIGN(Shape given, n.shape_of(values));
  if (given != Shape(wanted)) values = n.step("values").broadcast(values, Shape(wanted));
  if (before != 0) values = n.step("values.order").transpose(values, to_front);
  ops::AttrMap attrs;
  if (accumulate) attrs["reduction"] = std::string("add");
  if (!turned) return n.tensor(n.result().op("scatter_nd", {x, at, values}, std::move(attrs)));
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  x = n.step("order").transpose(x, order);
  Ref y = n.step("elements").op("scatter_nd", {x, at, values}, std::move(attrs));
  return n.tensor(n.result().transpose(y, std::move(back)));
}

Result<Value> index_one_hot(Call& n) {
  BUDA_ASSIGN(Ref indices, places(n, n["self"]));
  BUDA_ASSIGN(auto classes, n.integer_or("num_classes", -1));
  if (classes < 1) return n.refuse("takes the number of classes from the values; give it num_classes");
  Ref values = n.constant(Tensor(Shape{2}, std::vector<std::int64_t>{0, 1}));
  return n.tensor(n.result().op("one_hot", {indices, values}, {{"depth", classes}}));
}

constexpr OpImporter kIndexingOps[] = {
    {"_scatter_with", "self dim index src reduce", index_scatter, "", kPartOfOthers},
    {"embedding", "weight indices padding_idx scale_grad_by_freq sparse", index_embedding},
    {"gather", "self dim index sparse_grad", index_gather},
    {"index", "self indices", index_index, "", "masks must be known"},
    {"index_add", "self dim index source alpha", index_along_axis},
    {"index_copy", "self dim index source", index_along_axis},
    {"index_fill", "self dim index value", index_along_axis},
    {"index_put", "self indices values accumulate", index_put, "", "masks must be known, but for one value at all places"},
    {"index_select", "self dim index", index_select},
    {"one_hot", "self num_classes", index_one_hot},
    {"scatter", "self dim index src reduce", index_scatter},
    {"scatter_add", "self dim index src", index_scatter},
};

}  // namespace

std::span<const OpImporter> indexing_ops() { return kIndexingOps; }

}  // namespace buda::torchscript
