// SPDX-License-Identifier: Apache-2.0
// Operators as ops.
#include <buda/autograd/term.hpp>

#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>

namespace buda::autograd {

Shape Term::shape() const {
  const graph::ValueType* type = valid() ? builder_->graph().type(value_) : nullptr;
  return type == nullptr ? Shape{} : type->shape;
}

DType Term::dtype() const {
  const graph::ValueType* type = valid() ? builder_->graph().type(value_) : nullptr;
  return type == nullptr ? DType::f32 : type->dtype;
}

Term Term::op(std::string_view name, graph::AttrMap attrs) const {
  if (!valid()) return {};
  return {*builder_, builder_->op(name, {value_}, std::move(attrs))};
}

Term Term::op(std::string_view name, const Term& other, graph::AttrMap attrs) const {
  if (!valid() || !other.valid()) return {};
  return {*builder_, builder_->op(name, {value_, other.value_}, std::move(attrs))};
}

Term Term::number(double value) const {
  if (!valid()) return {};
  return {*builder_, builder_->constant(value, dtype())};
}

Term Term::reshape(const Shape& to) const { return to == shape() ? *this : op("reshape", {{"shape", to.dims()}}); }
Term Term::transpose(Dims perm) const { return op("transpose", {{"perm", std::move(perm)}}); }
Term Term::broadcast(const Shape& to) const { return to == shape() ? *this : op("broadcast", {{"shape", to.dims()}}); }

Term Term::sum(Dims dims, bool keep_dims) const {
  if (dims.empty()) return *this;
  return op("reduce_sum", {{"dims", std::move(dims)}, {"keep_dims", keep_dims}});
}

Term Term::transposed_matrices() const {
  Dims perm;
  const std::size_t rank = shape().rank();
  for (std::size_t i = 0; i < rank; ++i) perm.push_back(static_cast<std::int64_t>(i));
  if (rank >= 2) std::swap(perm[rank - 1], perm[rank - 2]);
  return transpose(std::move(perm));
}

Term operator+(const Term& a, const Term& b) { return a.op("add", b); }
Term operator-(const Term& a, const Term& b) { return a.op("subtract", b); }
Term operator*(const Term& a, const Term& b) { return a.op("multiply", b); }
Term operator/(const Term& a, const Term& b) { return a.op("divide", b); }
Term operator+(const Term& a, double b) { return a + a.number(b); }
Term operator-(double a, const Term& b) { return b.number(a) - b; }
Term operator*(const Term& a, double b) { return a * a.number(b); }
Term operator-(const Term& a) { return a.op("negative"); }

Term where(const Term& condition, const Term& a, const Term& b) {
  if (!condition.valid() || !a.valid() || !b.valid()) return {};
  return {a.builder(), a.builder().op("where", {condition.value(), a.value(), b.value()})};
}

Term summed_to(const Term& x, const Shape& shape) {
  const Shape from = x.shape();
  if (!x.valid() || from == shape || from.rank() < shape.rank()) return x;
  const std::size_t added = from.rank() - shape.rank();
  Dims leading, repeated;
  for (std::size_t i = 0; i < added; ++i) leading.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (shape[i] == 1 && from[added + i] != 1) repeated.push_back(static_cast<std::int64_t>(added + i));
  Dims all = leading;
  all.insert(all.end(), repeated.begin(), repeated.end());
  return x.sum(std::move(all)).reshape(shape);
}

}  // namespace buda::autograd
