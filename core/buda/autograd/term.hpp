// SPDX-License-Identifier: Apache-2.0
// Values of a graph in formulas: `g * y * (1 - y)` builds the three ops, in the element type of the values.
//
// C++ does not say which side of an operator is computed first, and the order of nodes should be the same with every compiler: of the two
// sides of an operator, and of the arguments of a call, at most one makes new nodes. Give the other one a name before.
#pragma once

#include <buda/graph/node.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace buda::autograd {

using Dims = std::vector<std::int64_t>;

// Errors are the builder's: after one, terms are invalid and formulas go on with them.
class Term {
 public:
  Term() = default;
  Term(ops::Builder& builder, graph::ValueRef value) : builder_(&builder), value_(value) {}

  bool valid() const { return builder_ != nullptr && value_.valid(); }
  graph::ValueRef value() const { return value_; }
  ops::Builder& builder() const { return *builder_; }
  // [] and F32 of an invalid term.
  Shape shape() const;
  DType dtype() const;

  Term op(std::string_view name, graph::AttrMap attrs = {}) const;
  Term op(std::string_view name, const Term& other, graph::AttrMap attrs = {}) const;
  // A constant of the same element type.
  Term number(double value) const;

  Term reshape(const Shape& shape) const;
  Term transpose(Dims perm) const;
  Term broadcast(const Shape& shape) const;
  Term sum(Dims dims, bool keep_dims = true) const;
  // The last two axes exchanged.
  Term transposed_matrices() const;
  Term matmul(const Term& other) const { return op("matmul", other); }
  // 1 where this is greater, as a condition for `where`.
  Term above(const Term& other) const { return op("greater", other); }

 private:
  ops::Builder* builder_ = nullptr;
  graph::ValueRef value_;
};

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator+(const Term& a, double b);
Term operator-(double a, const Term& b);
Term operator*(const Term& a, double b);
Term operator-(const Term& a);
// a where the condition holds, else b.
Term where(const Term& condition, const Term& a, const Term& b);

// A sum of what has been broadcast to a larger shape: the inverse movement of NumPy's broadcasting.
Term summed_to(const Term& x, const Shape& shape);

}  // namespace buda::autograd
