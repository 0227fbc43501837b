// SPDX-License-Identifier: Apache-2.0
// Determinants by Leibniz's formula: the sum over all permutations p of sign(p) x[0, p(0)] x[1, p(1)] … x[n-1, p(n-1)].
//
//   x [matrices, n n]  ->  F_i = x × the columns that hold x[i, p(i)] for each p, [matrices, n!];  y = (F_0 F_1 …) × signs
//
// All permutations at once by products with constant matrices of ones and zeros. Up to n = 6, which has 720 of them; larger matrices
// would have to be eliminated, which needs the largest pivot of each column.
#include <buda/graph/graph.hpp>

#include "rules.hpp"

#include <algorithm>
#include <numeric>

namespace buda::linear {
namespace {

using namespace plugin;

constexpr std::int64_t kLargest = 6;

int sign_of_permutation(const std::vector<std::int64_t>& p) {
  int sign = 1;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (p[j] > p[i]) sign = -sign;
  return sign;
}

Term determinant(Rewrite& r) {
  Shape shape = r.type(0).shape;
  std::int64_t n = shape[shape.rank() - 1], count = 1, matrices = *shape.volume() / (n * n);
  for (std::int64_t i = 2; i <= n; ++i) count *= i;
  std::vector<std::vector<float>> chosen(static_cast<std::size_t>(n), std::vector<float>(static_cast<std::size_t>(n * n * count), 0.0f));
  std::vector<float> signs;
  std::vector<std::int64_t> p(static_cast<std::size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  for (std::int64_t k = 0; k < count; ++k, std::next_permutation(p.begin(), p.end())) {
    signs.push_back(static_cast<float>(sign_of_permutation(p)));
    for (std::int64_t i = 0; i < n; ++i)
      chosen[static_cast<std::size_t>(i)][static_cast<std::size_t>((i * n + p[static_cast<std::size_t>(i)]) * count + k)] = 1;
  }
  Term x = r.reshape(r.in(0), Shape{matrices, n * n});
  Term product;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Term factors = r.op("matmul", {x, r.constant(Shape{n * n, count}, std::move(chosen[i]))});
    product = i == 0 ? factors : product * factors;
  }
  Term y = r.op("matmul", {product, r.constant(Shape{count, 1}, std::move(signs))});
  return r.reshape(y, r.result().shape);
}

bool is_small(const graph::Graph& graph, const graph::Node& n) {
  const Shape& x = graph.type(n.inputs()[0].source)->shape;
  return x.volume() != 0 && x[x.rank() - 1] <= kLargest;
}

}  // namespace

RuleSpec determinant_rule() {
  return {.name = "determinant",
          .summary = "the sum over all permutations of products of elements",
          .consumes = {"determinant"},
          .produces = {"reshape", "matmul", "multiply"},
          .build = determinant,
          .matches = is_small};
}

}  // namespace buda::linear
