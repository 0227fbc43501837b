// Gradients of products of matrices: g times the other factor, transposed.
#include <buda/autograd/rules/rules.hpp>

#include <utility>

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

constexpr GradientRule kLinearRules[] = {{"gemm", gemm}, {"matmul", matmul}};

}  // namespace

std::span<const GradientRule> linear_rules() { return kLinearRules; }

}  // namespace buda::autograd
