// SPDX-License-Identifier: Apache-2.0
// Slices whose starts are computed at run time: gathers of neighbouring places.
#include "moving_slices.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>

#include <numeric>
#include <set>
#include <string_view>

namespace buda::onnx_frontend {
namespace {

using frontend::OpImport;
using frontend::ValueStore;

struct Offset {
  graph::ValueRef base;
  std::int64_t added = 0;
};

std::optional<std::int64_t> known_integer(ValueStore& store, graph::ValueRef value) {
  const Tensor* tensor = store.known.find(value);
  if (tensor == nullptr || tensor->size() != 1 || !is_integer(tensor->dtype())) return std::nullopt;
  return tensor->cast(DType::i64).as<std::int64_t>()[0];
}

// Through what only moves the one number, and sums with known numbers.
Offset offset_of(ValueStore& store, graph::ValueRef value) {
  static const std::set<std::string_view> moves = {"reshape", "unsqueeze", "squeeze", "nop", "concatenate", "cast", "exact_cast"};
  constexpr int kMaxSteps = 64;
  Offset out{value, 0};
  for (int i = 0; i < kMaxSteps; ++i) {
    const auto* type = store.graph->type(out.base);
    const auto& node = store.graph->node(out.base.node);
    if (type == nullptr || !is_integer(type->dtype)) break;
    if (moves.contains(node.op()) && node.inputs().size() == 1) {
      const auto* from = store.graph->type(node.inputs()[0].source);
      if (from == nullptr || !is_integer(from->dtype)) break;
      out.base = node.inputs()[0].source;
      continue;
    }
    const bool sum = node.op() == "add", difference = node.op() == "subtract";
    if (!sum && !difference) break;
    const auto first = known_integer(store, node.inputs()[0].source), second = known_integer(store, node.inputs()[1].source);
    if (second) {
      out.added += sum ? *second : -*second;
      out.base = node.inputs()[0].source;
    } else if (first && sum) {
      out.added += *first;
      out.base = node.inputs()[1].source;
    } else {
      break;
    }
  }
  return out;
}

}  // namespace

std::optional<std::int64_t> known_difference(ValueStore& store, graph::ValueRef a, graph::ValueRef b) {
  const Offset x = offset_of(store, a), y = offset_of(store, b);
  if (x.base.node != y.base.node || x.base.port != y.base.port) return std::nullopt;
  return x.added - y.added;
}

Result<graph::ValueRef> moving_slice(OpImport& op, ValueStore& store, graph::ValueRef x, std::int64_t axis, graph::ValueRef start,
                                     std::int64_t size) {
  const auto *type = store.graph->type(x), *from = store.graph->type(start);
  if (type == nullptr || from == nullptr) return op.refuse("a value that it uses has no type");
  const std::int64_t whole = type->shape[static_cast<std::size_t>(axis)];
  if (from->shape.volume() != 1 || !is_integer(from->dtype))
    return op.refuse(cat("its start is ", from->text(), "; a single integer is needed"));
  if (size < 0 || size > whole) return op.refuse(cat("it takes ", size, " of ", whole, " elements along axis ", axis));
  std::vector<std::int64_t> places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), 0);
  const DType dtype = from->dtype;
  graph::ValueRef steps = op.step("steps").constant(Shape{size}, std::move(places), dtype);
  graph::ValueRef first = op.step("start").reshape(start, Shape{1});
  graph::ValueRef at = op.step("places").add(first, steps);
  return op.result().op("gather", {x, at}, {{"dim", axis}});
}

}  // namespace buda::onnx_frontend
