// SPDX-License-Identifier: Apache-2.0
// Rows of places and columns of channels.
#include <buda/passes/decompose/channels_last.hpp>

#include <buda/graph/graph.hpp>

namespace buda::passes {

using graph::Edge;
using graph::ValueRef;
using ops::Builder;

namespace {

// Shapes of values that were built without an error; after one it does not matter.
Shape shape_of(Builder& b, const Edge& x) {
  const graph::ValueType* type = x.source.valid() ? b.graph().type(x.source) : nullptr;
  return type == nullptr ? Shape{1, 1, 1, 1} : type->shape;
}

std::int64_t places(const Shape& shape) {
  std::int64_t n = 1;
  for (std::size_t i = 2; i < shape.rank(); ++i) n *= shape[i];
  return n;
}

}  // namespace

Edge to_rows(Builder& b, const Edge& x) {
  Shape shape = shape_of(b, x);
  ValueRef flat = b.named("in.flat").reshape(x, {shape[0], 1, shape[1], places(shape)});
  return b.named("in.rows").transpose(flat, {0, 1, 3, 2});
}

ValueRef from_rows(Builder& b, const Edge& rows, const Shape& shape) {
  ValueRef flat = b.named("out.flat").transpose(rows, {0, 1, 3, 2});
  return b.reshape(flat, shape);
}

Edge padded_to(Builder& b, const Edge& x, std::size_t axis, std::int64_t size) {
  Shape shape = shape_of(b, x);
  if (shape[axis] >= size) return x;
  std::vector<std::int64_t> before(shape.rank(), 0), after(shape.rank(), 0);
  after[axis] = size - shape[axis];
  return b.named("padded").pad(x, before, after);
}

Edge narrowed_to(Builder& b, const Edge& x, std::size_t axis, std::int64_t size) {
  if (shape_of(b, x)[axis] <= size) return x;
  return b.named("narrow").slice(x, static_cast<std::int64_t>(axis), 0, size);
}

Edge taps_to_columns(Builder& b, const Edge& x) {
  Shape shape = shape_of(b, x);
  if (shape[1] == 1) return x;
  ValueRef beside = b.named("taps").transpose(x, {0, 2, 1, 3});
  return b.named("columns").reshape(beside, {shape[0], 1, shape[2], shape[1] * shape[3]});
}

}  // namespace buda::passes
