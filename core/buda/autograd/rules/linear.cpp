// SPDX-License-Identifier: Apache-2.0
// Gradients of products of matrices: g times the other factor, transposed.
#include <buda/autograd/rules/rules.hpp>

#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

#include <map>
#include <utility>
#include <vector>

namespace buda::autograd {
namespace {

// A vector that counts as a matrix of one row (or column) has that axis again.
Term as_matrices(const Term& x, bool is_row) {
  const Shape shape = x.shape();
  if (shape.rank() != 1) return x;
  return x.reshape(is_row ? Shape{1, shape[0]} : Shape{shape[0], 1});
}

// Weights of two axes meet all leading axes of x as rows: one product instead of a sum of many.
bool is_layer(const Shape& a, const Shape& b) { return b.rank() == 2 && a.rank() > 2; }

Term as_rows(const Term& x) {
  const Shape shape = x.shape();
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
  return x.reshape(Shape{rows, shape[shape.rank() - 1]});
}

void matmul(Backward& b) {
  const Term a = as_matrices(b.in(0), true), w = as_matrices(b.in(1), false);
  const bool row = b.in(0).shape().rank() == 1, column = b.in(1).shape().rank() == 1;
  Term g = b.g();
  if (row || column) {
    Dims dims = g.shape().dims();
    if (column) dims.push_back(1);
    if (row) dims.insert(dims.end() - 1, 1);
    g = g.reshape(Shape(std::move(dims)));
  }
  b.give(2, b.g());
  if (b.wants(0)) {
    const Term turned = w.transposed_matrices();
    const Term gradient = g.matmul(turned);
    b.give(0, row ? summed_to(gradient, a.shape()).reshape(b.in(0).shape()) : gradient);
  }
  if (!b.wants(1)) return;
  if (is_layer(a.shape(), w.shape())) {
    const Term rows = as_rows(a);
    const Term turned = rows.transposed_matrices();
    b.give(1, turned.matmul(as_rows(g)).reshape(b.in(1).shape()));
    return;
  }
  const Term turned = a.transposed_matrices();
  const Term gradient = turned.matmul(g);
  b.give(1, column ? summed_to(gradient, w.shape()).reshape(b.in(1).shape()) : gradient);
}

// alpha op(a) op(b) + beta c.
void gemm(Backward& b) {
  const bool trans_a = b.attrs().boolean("trans_a"), trans_b = b.attrs().boolean("trans_b");
  const double alpha = b.attrs().real("alpha"), beta = b.attrs().real("beta");
  const Term a = b.in(0), w = b.in(1);
  const auto scaled = [](const Term& x, double factor) { return factor == 1 ? x : x * factor; };
  const auto turned = [](const Term& x, bool is) { return is ? x.transposed_matrices() : x; };
  if (b.wants(2)) b.give(2, scaled(b.g(), beta));
  if (!b.wants(0) && !b.wants(1)) return;
  const Term g = scaled(b.g(), alpha);
  if (b.wants(0)) {
    const Term left = trans_a ? turned(w, trans_b) : g;
    const Term right = trans_a ? turned(g, true) : turned(w, !trans_b);
    b.give(0, left.matmul(right));
  }
  if (b.wants(1)) {
    const Term left = trans_b ? turned(g, true) : turned(a, !trans_a);
    const Term right = trans_b ? turned(a, trans_a) : g;
    b.give(1, left.matmul(right));
  }
}

// Column c of the result sees the columns of its block alone: with blocks as an axis it is a product for each block.
//   x [rows, taps, blocks, width], weights [taps, width, blocks, width], g [rows, blocks, width]
void depthwise(Backward& b) {
  const Shape x = b.in(0).shape(), w = b.in(1).shape(), result = b.g().shape();
  const std::int64_t width = b.attrs().integer("width"), columns = w[w.rank() - 1], blocks = columns / width;
  const std::int64_t taps = w[w.rank() - 2] / width, rows = result.volume().value_or(0) / columns;
  const Term g = b.g().reshape(Shape{rows, blocks, width}).transpose({1, 0, 2});  // [blocks, rows, width]
  if (b.wants(0)) {
    const Term factors = b.in(1).reshape(Shape{taps * width, blocks, width}).transpose({1, 2, 0});  // [blocks, width, taps width]
    const Term product = g.matmul(factors).reshape(Shape{blocks, rows, taps, width});
    b.give(0, product.transpose({1, 2, 0, 3}).reshape(x));
  }
  if (!b.wants(1)) return;
  const Term lines = b.in(0).reshape(Shape{rows, taps, blocks, width}).transpose({2, 1, 3, 0}).reshape(Shape{blocks, taps * width, rows});
  b.give(1, lines.matmul(g).transpose({1, 0, 2}).reshape(w));
}

// ---- products with selection matrices [terms, slices, rows]

// For each row of x the rows of the result that it is part of, by slice, counted from 1, and the entry of the matrix that says so.
struct Uses {
  std::int64_t terms = 1, slices = 1, rows = 0;
  std::vector<std::int32_t> picks;
  std::vector<std::int32_t> entries;  // from 1; 0: none
};

Uses uses_of(const Tensor& picks, std::int64_t rows) {
  const Shape& shape = picks.shape();
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int32_t, std::int32_t>>> by_row;
  const auto all = picks.as<std::int32_t>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (all[i] == 0) continue;
    by_row[{at / shape[2] % shape[1], all[i] - 1}].emplace_back(static_cast<std::int32_t>(at % shape[2] + 1),
                                                                static_cast<std::int32_t>(at + 1));
  }
  Uses out{1, shape[1], rows, {}, {}};
  for (const auto& [row, uses] : by_row) out.terms = std::max(out.terms, static_cast<std::int64_t>(uses.size()));
  out.picks.resize(static_cast<std::size_t>(out.terms * out.slices * rows));
  out.entries.resize(out.picks.size());
  for (const auto& [row, uses] : by_row)
    for (std::size_t k = 0; k < uses.size(); ++k) {
      const auto at = static_cast<std::size_t>((static_cast<std::int64_t>(k) * out.slices + row.first) * rows + row.second);
      out.picks[at] = uses[k].first;
      out.entries[at] = uses[k].second;
    }
  return out;
}

// Of rows that a constant matrix picks: back to where they come from.
void sparse_matmul(Backward& b) {
  const graph::Node& source = b.builder().graph().node(b.in(0).value().node);
  if (!source.has_value()) return b.refuse(input_error("AG003", {}, "its selection matrix is not a constant"));
  const Tensor picks = source.value->tensor.cast(DType::i32);
  const Shape x = b.in(1).shape();
  const bool is_weighted = b.count() > 2;
  ops::Builder& builder = b.builder();
  if (b.wants(1)) {
    Uses uses = uses_of(picks, x[x.rank() - 2]);
    const Shape matrix{uses.terms, uses.slices, uses.rows};
    std::vector<graph::Edge> inputs{builder.constant(Tensor(matrix, std::move(uses.picks))), b.g().value()};
    if (is_weighted) {
      // Entry 0 of the weights' list stands for none.
      const std::int64_t count = picks.shape().volume().value_or(0);
      const Term list = b.in(2).reshape(Shape{count}).op("pad", {{"before", Dims{1}}, {"after", Dims{0}}});
      const Term places(builder, builder.constant(Tensor(matrix, std::move(uses.entries)).cast(DType::i64)));
      inputs.emplace_back(list.op("gather", places).value());
    }
    Term gradient(builder, builder.op("sparse_matmul", std::move(inputs)));
    // The slices that share one matrix of x.
    const std::size_t axis = gradient.shape().rank() < 3 ? 0 : gradient.shape().rank() - 3;
    const std::int64_t given = x.rank() > 2 ? x[x.rank() - 3] : 1;
    if (gradient.shape()[axis] != given) gradient = gradient.sum({static_cast<std::int64_t>(axis)});
    b.give(1, gradient.reshape(x));
  }
  if (!is_weighted || !b.wants(2)) return;
  // Each entry's row, times that of g.
  const Shape& p = picks.shape();
  std::vector<Term> terms;
  for (std::int64_t k = 0; k < p[0]; ++k) {
    const Term one(builder, builder.slice(b.in(0).value(), 0, k, k + 1));
    const Term row = one.op("sparse_matmul", b.in(1));
    const Term products = row * b.g();
    const auto rank = static_cast<std::int64_t>(products.shape().rank());
    const Term sums = products.sum({rank - 1}, false);
    terms.push_back(summed_to(sums, Shape{p[1], p[2]}).reshape(Shape{1, p[1], p[2]}));
  }
  std::vector<graph::Edge> parts;
  for (const Term& t : terms) parts.emplace_back(t.value());
  b.give(2, terms.size() == 1 ? terms[0] : Term(builder, builder.op("concatenate", std::move(parts), {{"dim", std::int64_t{0}}})));
}

constexpr GradientRule kLinearRules[] = {{"depthwise", depthwise}, {"gemm", gemm}, {"matmul", matmul}, {"sparse_matmul", sparse_matmul}};

}  // namespace

std::span<const GradientRule> linear_rules() { return kLinearRules; }

}  // namespace buda::autograd
