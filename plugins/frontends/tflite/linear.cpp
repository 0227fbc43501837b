// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "hybrid.hpp"
#include "node_import.hpp"
#include "quantized.hpp"

#include <buda/base/text.hpp>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// Rows of as many elements as the weights' rows have: all axes of x count, unless it is to keep its number of axes.
struct FullyConnectedShapes {
  Shape rows, result;
  bool as_rows = true, as_result = true;  // does the shape change?
};

Result<FullyConnectedShapes> fully_connected_shapes(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape weights, n.shape(1));
  if (weights.rank() != 2) return n.refuse(cat("its weights are ", weights.text(), "; a matrix is needed"));
  std::int64_t volume = x.volume().value_or(0), k = weights[1];
  if (k < 1 || volume % k != 0) return n.refuse(cat("its input ", x.text(), " cannot be cut into rows of ", k, " elements"));
  FullyConnectedShapes out{{volume / k, k}, {volume / k, weights[0]}};
  if (n.options<format::FullyConnectedOptions>().keep_num_dims() && x.rank() > 0) {
    if (x[x.rank() - 1] != k) return n.refuse(cat("its input ", x.text(), " has no rows of ", k, " elements"));
    out.result = x;
    out.result[x.rank() - 1] = weights[0];
  }
  out.as_rows = x != out.rows;
  out.as_result = out.result.rank() != 2;
  return out;
}

Result<void> fully_connected_integers(NodeImport& n, const FullyConnectedShapes& shapes, format::Activation activation) {
  DType sum_in = sum_type(n);
  Ref x = n.input(0);
  if (shapes.as_rows) x = n.step("rows").reshape(x, shapes.rows);
  x = centred(n, 0, x, sum_in, "x");
  Ref w = centred(n, 1, n.input(1), sum_in, "weights");
  Ref columns = n.step("columns").transpose(w, {1, 0});
  Ref sum = n.step("product").matmul(x, columns);
  if (n.has_input(2)) {
    Ref bias = n.cast(n.input(2), sum_in, "bias");
    sum = n.step("sum").add(sum, bias);
  }
  if (!shapes.as_result) {
    n.output(rescaled_products(n, sum, 1, activation, [](NodeImport& m) -> ops::Builder& { return m.result(); }));
    return success();
  }
  Ref y = rescaled_products(n, sum, 1, activation, [](NodeImport& m) -> ops::Builder& { return m.step("matrix"); });
  n.output(n.result().reshape(y, shapes.result));
  return success();
}

ops::Builder& linear_builder(NodeImport& n) { return n.before(n.options<format::FullyConnectedOptions>().activation()); }

Result<void> fully_connected_hybrid(NodeImport& n, const FullyConnectedShapes& shapes) {
  const auto& options = n.options<format::FullyConnectedOptions>();
  Ref rows = n.input(0);
  if (shapes.as_rows) rows = n.step("rows").reshape(rows, shapes.rows);
  HybridNumbers x = hybrid_numbers(n, rows, !options.asymmetric_quantize_inputs());
  Ref w = n.cast(n.input(1), DType::i32, "weights.wide");
  Ref columns = n.step("columns").transpose(w, {1, 0});
  Ref sum = n.step("product").matmul(x.integers, columns);
  auto* matrix = +[](NodeImport& m) -> ops::Builder& { return m.step("matrix"); };
  Ref y = hybrid_result(n, sum, x, HybridOrder::scales_first, shapes.as_result ? matrix : linear_builder);
  if (shapes.as_result) y = linear_builder(n).reshape(y, shapes.result);
  BUDA_ASSIGN(y, n.activated(y, options.activation()));
  n.output(y);
  return success();
}

Result<void> import_fully_connected(NodeImport& n) {
  const auto& options = n.options<format::FullyConnectedOptions>();
  if (options.weights_format() != 0) return n.refuse("its weights are shuffled in blocks of 4 x 16, which is not supported");
  BUDA_ASSIGN(auto shapes, fully_connected_shapes(n));
  auto activation = options.activation();
  if (n.is_exact() && has_integer_products(n)) return fully_connected_integers(n, shapes, activation);
  if (has_hybrid_products(n)) return fully_connected_hybrid(n, shapes);
  Ref x = n.number(0), w = n.number(1);
  if (shapes.as_rows) x = n.step("rows").reshape(x, shapes.rows);
  Ref columns = n.step("columns").transpose(w, {1, 0});
  Ref bias = n.has_input(2) ? n.number(2) : Ref();
  bool plain = activation == format::Activation::NONE && !shapes.as_result;
  ops::Builder& b = plain ? n.result() : n.step("linear");
  Ref y = bias.valid() ? b.matmul(x, columns, bias) : b.matmul(x, columns);
  if (shapes.as_result) y = n.before(activation).reshape(y, shapes.result);
  BUDA_ASSIGN(y, n.activated(y, activation));
  n.output_number(y);
  return success();
}

Result<Ref> adjoint(NodeImport& n, Ref value, std::size_t i, bool needed, std::string_view step) {
  if (!needed) return value;
  BUDA_ASSIGN(Shape shape, n.shape(i));
  if (shape.rank() < 2) return n.refuse(cat("its input ", i, " is ", shape.text(), "; matrices are needed"));
  Dims perm;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) perm.push_back(static_cast<std::int64_t>(axis));
  std::swap(perm[shape.rank() - 1], perm[shape.rank() - 2]);
  return n.step(step).transpose(value, perm);
}

Result<void> import_batch_matmul(NodeImport& n) {
  const auto& options = n.options<format::BatchMatMulOptions>();
  if (n.is_exact() && has_integer_products(n)) {
    DType sum_in = sum_type(n);
    BUDA_ASSIGN(Ref a, adjoint(n, centred(n, 0, n.input(0), sum_in, "a"), 0, options.adj_x(), "a.adjoint"));
    BUDA_ASSIGN(Ref b, adjoint(n, centred(n, 1, n.input(1), sum_in, "b"), 1, options.adj_y(), "b.adjoint"));
    Ref sum = n.step("product").matmul(a, b);
    n.output(rescaled_products(n, sum, 1, format::Activation::NONE, [](NodeImport& m) -> ops::Builder& { return m.result(); }));
    return success();
  }
  BUDA_ASSIGN(Ref a, adjoint(n, n.number(0), 0, options.adj_x(), "a.adjoint"));
  BUDA_ASSIGN(Ref b, adjoint(n, n.number(1), 1, options.adj_y(), "b.adjoint"));
  n.output_number(n.result().matmul(a, b));
  return success();
}

constexpr OpImporter kLinearOps[] = {
    {Code::BATCH_MATMUL, import_batch_matmul, {}, Exactness::exact},
    {Code::FULLY_CONNECTED, import_fully_connected, {}, Exactness::exact},
};

}  // namespace

std::span<const OpImporter> linear_ops() { return kLinearOps; }

}  // namespace buda::tflite_frontend
