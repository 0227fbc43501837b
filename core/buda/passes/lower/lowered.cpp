// SPDX-License-Identifier: Apache-2.0
// What operations do to the padding of values.
#include <buda/passes/lower/lowered.hpp>

#include <buda/ops/table/device_op.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace buda::passes {
namespace {

template <class F>
Lowered elementwise(const Lowered& a, const Lowered& b, F f) {
  Lowered out;
  out.shape = a.shape;
  out.shape[0] = std::max(a.shape[0], b.shape[0]);
  out.data = f(a.data, b.data);
  out.data.finite = true;  // by definition: padding is measured against it
  out.rows = f(a.rows, b.rows);
  out.cols = f(a.cols, b.cols);
  out.corner = f(a.corner, b.corner);
  out.rows_alike = a.rows_alike && b.rows_alike;
  out.cols_alike = a.cols_alike && b.cols_alike;
  // Copies of the data fare no worse than the data.
  if (out.rows_alike) out.rows = out.data;
  if (out.cols_alike) out.cols = out.data;
  if (out.rows_alike && out.cols_alike) out.corner = out.data;
  if (out.rows_alike && !out.cols_alike) out.corner = out.cols;
  if (out.cols_alike && !out.rows_alike) out.corner = out.rows;
  return out;
}

ValueRange sum(const ValueRange& a, const ValueRange& b) { return ops::range_after("add", {}, a, b); }

// A sum of n products.
ValueRange contraction(const ValueRange& a, const ValueRange& b, std::int64_t n) {
  return n == 0 ? ValueRange::exactly(0) : times(ops::range_after("multiply", {}, a, b), static_cast<double>(n));
}

}  // namespace

std::int64_t tiles(std::int64_t datums) { return graph::tile_count(datums); }

Shape padded(const Shape& four) { return {four[0], four[1], graph::tiled_side(four[2]), graph::tiled_side(four[3])}; }

bool has_transpose(const std::vector<graph::Tm>& tms) {
  return std::any_of(tms.begin(), tms.end(), [](const graph::Tm& tm) { return tm.kind == graph::TmKind::transpose; });
}

Lowered after_unary(std::string_view op, const graph::AttrMap& attrs, const Lowered& x) {
  Lowered out =
      elementwise(x, x, [&](const ValueRange& s, const ValueRange&) { return after_relu(attrs, ops::range_after(op, attrs, s)); });
  out.far_padding = x.far_padding && op == "nop" && attrs.empty();
  if (x.peak && attrs.empty() && (op == "nop" || op == "exp")) out.peak = op == "exp" ? std::exp(*x.peak) : *x.peak;
  return out;
}

Lowered after_binary(std::string_view op, const graph::AttrMap& attrs, const Lowered& a, const Lowered& b) {
  Lowered out =
      elementwise(a, b, [&](const ValueRange& s, const ValueRange& t) { return after_relu(attrs, ops::range_after(op, attrs, s, t)); });
  out.far_padding = (a.far_padding || b.far_padding) && !out.cols.is(0);
  return out;
}

Lowered after_matmul(const Lowered& a, const Lowered& b) {
  std::int64_t k = a.shape[3], filled = graph::tiled_side(k) - k;
  Lowered out;
  out.shape = {std::max(a.shape[0], b.shape[0]), a.shape[1], a.shape[2], b.shape[3]};
  out.data = contraction(a.data, b.data, k);
  out.data.finite = true;
  out.rows = sum(contraction(a.rows, b.data, k), contraction(a.corner, b.rows, filled));
  out.cols = sum(contraction(a.data, b.cols, k), contraction(a.cols, b.corner, filled));
  out.corner = sum(contraction(a.rows, b.cols, k), contraction(a.corner, b.corner, filled));
  out.rows_alike = a.rows_alike;
  out.cols_alike = b.cols_alike;
  return out;
}

Lowered after_bias(const Lowered& product, const Lowered& bias) {
  Lowered out = product;
  out.zero_cols = 0;
  out.data = sum(product.data, bias.data);
  out.rows = sum(product.rows, bias.data);
  out.cols = sum(product.cols, bias.cols);
  out.corner = sum(product.corner, bias.cols);
  out.cols_alike = product.cols_alike && bias.cols_alike;
  return out;
}

Lowered transposed(Lowered x) {
  std::swap(x.shape[2], x.shape[3]);
  std::swap(x.rows, x.cols);
  std::swap(x.rows_alike, x.cols_alike);
  x.zero_cols = 0;
  x.peak.reset();
  if (!x.tms.empty() && x.tms.back().kind == graph::TmKind::transpose) {
    x.tms.pop_back();
  } else {
    x.tms.push_back(graph::Tm::transpose());
  }
  return x;
}

bool adds_zeros(const Lowered& a, const Lowered& b) { return !a.pads_cols() || ops::range_after("multiply", {}, a.cols, b.rows).is(0); }

}  // namespace buda::passes
