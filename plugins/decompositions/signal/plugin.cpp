// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `signal`: Fourier transforms as products with a constant matrix.
//
//   dft(x)   [..., n, parts] × [n parts, m 2], the cosines and sines of a transform; of real numbers one row for each, of complex ones
//            two. Inputs shorter than the transform lack rows, onesided results lack columns, the inverse divides by its length.
//
// n^2 products where a fast transform has n log n: for frames of up to some thousand points, for which a matrix engine is made.
#include <buda/graph/graph.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/rule.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace {

using namespace buda::plugin;
using buda::Shape;
using buda::graph::Graph;
using buda::graph::Node;
using Dims = std::vector<std::int64_t>;

// Numbers of the matrix, at most.
constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 24;

// A row for each real (and imaginary) part of the input, a column for each part of the result.
std::vector<double> matrix(std::int64_t n, std::int64_t parts, std::int64_t length, std::int64_t results, bool inverse) {
  std::vector<double> m(static_cast<std::size_t>(n * parts * results * 2), 0.0);
  double scale = inverse ? 1 / static_cast<double>(length) : 1;
  for (std::int64_t t = 0; t < std::min(n, length); ++t)
    for (std::int64_t f = 0; f < results; ++f) {
      // The angle within one turn, so that it is exact for large t f.
      double angle = 2 * std::numbers::pi * static_cast<double>(t * f % length) / static_cast<double>(length);
      double c = std::cos(angle) * scale, s = (inverse ? 1 : -1) * std::sin(angle) * scale;
      auto at = [&](std::int64_t part, std::int64_t result) -> double& {
        return m[static_cast<std::size_t>(((t * parts + part) * results + f) * 2 + result)];
      };
      at(0, 0) = c;
      at(0, 1) = s;
      if (parts == 1) continue;
      at(1, 0) = -s;
      at(1, 1) = c;
    }
  return m;
}

Term dft(Rewrite& r) {
  Term x = r.in(0);
  Shape shape = r.shape(x), result = r.result().shape;
  auto axis = static_cast<std::size_t>(r.axis("dim")), last = shape.rank() - 1;
  std::int64_t n = shape[axis], parts = shape[last], results = result[axis];
  std::int64_t length = r.integer("length") == 0 ? n : r.integer("length");
  // The axis beside the parts.
  Dims order(shape.rank()), back;
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis));
  order.insert(order.end() - 1, static_cast<std::int64_t>(axis));
  for (std::size_t i = 0; i < order.size(); ++i)
    back.push_back(std::find(order.begin(), order.end(), static_cast<std::int64_t>(i)) - order.begin());
  bool in_order = axis + 1 == last;
  Term lines = in_order ? x : r.op("transpose", {x}, {{"perm", order}});
  Dims moved = r.shape(lines).dims();
  std::int64_t count = *shape.volume() / (n * parts);
  Term flat = r.reshape(lines, Shape{count, n * parts});
  Term spectrum = r.op("matmul", {flat, r.constant(Shape{n * parts, results * 2}, matrix(n, parts, length, results, r.flag("inverse")))});
  moved[last - 1] = results;
  moved[last] = 2;
  Term y = r.reshape(spectrum, Shape(moved));
  return in_order ? y : r.op("transpose", {y}, {{"perm", back}});
}

bool has_small_matrix(const Graph& graph, const Node& n) {
  const Shape &x = graph.type(n.inputs()[0].source)->shape, &y = n.outputs[0].shape;
  auto it = n.attrs.find("dim");
  auto axis = x.axis(it == n.attrs.end() ? 1 : std::get<std::int64_t>(it->second));
  if (!axis || x.volume() == 0) return false;
  return x[*axis] * x[x.rank() - 1] <= kMaxNumbers / (2 * y[*axis]);
}

}  // namespace

BUDA_PLUGIN(.name = "signal", .version = "1.0", .description = "Fourier transforms as products with a constant matrix",
            .license = "Apache-2.0") {
  registrar.add_decomposition(rule({.name = "dft",
                                    .summary = "a product with cosines and sines",
                                    .consumes = {"dft"},
                                    .produces = {"transpose", "reshape", "matmul"},
                                    .build = dft,
                                    .matches = has_small_matrix}));
}
