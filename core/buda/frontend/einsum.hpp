// SPDX-License-Identifier: Apache-2.0
// Einstein summation, which frameworks give as an equation: "bij,bjk->bik".
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/tensor/shape.hpp>

#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

struct EinsumOperand {
  graph::ValueRef value;
  Shape shape;
};

// The result as products of matrices and elementwise ones, with steps named 1, 2, …. Labels are letters; "..." stands for axes that
// broadcast; spaces do not count; without "->" the result has the labels that occur once, in alphabetical order, as in NumPy. An equation
// that does not fit its operands is refused.
//
//   einsum(op, "ij,jk->ik", {{a, {2, 3}}, {b, {3, 4}}})    one matmul and an identity, of shape [2, 4]
Result<graph::ValueRef> einsum(OpImport& op, std::string_view equation, const std::vector<EinsumOperand>& operands);

}  // namespace buda::frontend

#pragma GCC visibility pop
