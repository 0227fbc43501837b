// SPDX-License-Identifier: Apache-2.0
// Formulas with errors: each result carries how far it may be off, given the errors of its operands and the roundings on the way.
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace buda::judge {

using netlist::Dim;
using netlist::OpAttributes;
using netlist::OpType;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// What a source register of 19 bits cuts off a Float32.
constexpr double kSourceUnit = 0x1p-10;

double function(OpType type, const OpAttributes& a, double x) {
  switch (type) {
    case OpType::exp:
      return std::exp(x);
    case OpType::log:
      return std::log(x);
    case OpType::sqrt:
      return std::sqrt(x);
    case OpType::gelu:
      return x < -14 ? 0 : x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
    case OpType::gelu_derivative:
      return x < -14  ? 0
             : x > 14 ? 1
                      : 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    case OpType::reciprocal:
      return 1 / x;
    case OpType::sigmoid:
      return 1 / (1 + std::exp(-x));
    case OpType::tanh:
      return std::tanh(x);
    case OpType::sine:
      return std::sin(x);
    case OpType::cosine:
      return std::cos(x);
    case OpType::square:
      return x * x;
    case OpType::abs:
      return std::fabs(x);
    case OpType::lrelu:
      return x < 0 ? x * a.slope : x;
    case OpType::power:
      return std::pow(x, a.exp);
    default:
      return x;  // copies; golden then differs from this for an SFPU op without a formula
  }
}

// Where a function turns, so that its ends do not tell what happens in between.
std::initializer_list<double> turns(OpType type) {
  static constexpr std::initializer_list<double> gelu = {-0.7517916}, derivative = {-std::numbers::sqrt2, std::numbers::sqrt2}, none = {};
  return type == OpType::gelu ? gelu : type == OpType::gelu_derivative ? derivative : none;
}

double source_unit(Precision p) { return p == Precision::fp32 ? 0x1p-23 : kSourceUnit; }

}  // namespace

Array unary(OpType type, const OpAttributes& attributes, const Array& x, const Registers& r) {
  Array out(x.t, x.rows, x.cols, x.tile);
  out.error.resize(out.size());
  const double unit = dest_unit(r.precision, r.acc, r.out), least = dest_smallest(r.precision, r.acc, r.out);
  const auto h = static_cast<std::size_t>(x.tile.rows), w = static_cast<std::size_t>(x.tile.cols);
  if (type == OpType::nop) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = x.value[i], e = 1.25 * (x.error_at(i) + std::fabs(v) * unit + least);
      out.value[i] = v;
      out.error[i] = std::isfinite(v + e) && std::isfinite(v - e) ? e + (std::fabs(v) + e) * unit + least : kInfinity;
    }
    return out;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / x.cols % h, col = i % x.cols % w;
    const bool processed =
        attributes.vector == netlist::VectorMode::rc || (attributes.vector == netlist::VectorMode::r ? row < 16 : col < 16);
    const double d = x.error_at(i) + std::fabs(x.value[i]) * unit + least;
    if (type == OpType::dropout && processed) {
      // Which numbers are kept is the generator's affair: 0 and the scaled number are both right.
      const double scale = attributes.p >= 1 ? 1 : 1 / (1 - attributes.p), scaled = x.value[i] * scale;
      out.value[i] = scaled / 2;
      out.error[i] = std::fabs(scaled) / 2 * (1 + 4 * unit) + d * scale;
      continue;
    }
    const OpType f = processed ? type : OpType::nop;
    const double v = function(f, attributes, x.value[i]), up = function(f, attributes, x.value[i] + d),
                 down = function(f, attributes, x.value[i] - d);
    // What may be anything, even a NaN, stays so where the function has bounds.
    const bool open = !std::isfinite(d) || (f == OpType::reciprocal && std::fabs(x.value[i]) <= d);
    out.value[i] = v;
    out.error[i] = open || !std::isfinite(up) || !std::isfinite(down) ? kInfinity : 1.25 * std::max(std::fabs(up - v), std::fabs(down - v));
    for (const double turn : turns(f))
      if (std::fabs(turn - x.value[i]) < d) out.error[i] = std::max(out.error[i], 1.25 * std::fabs(function(f, attributes, turn) - v));
    // Waves, and rounding of the result.
    if (f == OpType::sine || f == OpType::cosine) out.error[i] = std::max(out.error[i], d);
    out.error[i] += (std::fabs(v) + out.error[i]) * unit + least;
  }
  return out;
}

Array binary(OpType type, const Array& a, const Array& b, const Registers& r) {
  Array out = a;
  out.error.assign(out.size(), 0);
  const double unit = dest_unit(r.precision, r.acc, r.out), least = dest_smallest(r.precision, r.acc, r.out),
               cut = source_unit(r.precision);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a.value[i], y = b.value[i], ex = a.error_at(i), ey = b.error_at(i);
    double v = 0, e = 0;
    switch (type) {
      case OpType::add:
      case OpType::subtract:
        v = type == OpType::add ? x + y : x - y;
        e = ex + ey + (std::fabs(x) + std::fabs(y)) * cut;
        break;
      case OpType::multiply:
        v = x * y;
        e = std::fabs(x) * ey + std::fabs(y) * ex + ex * ey + std::fabs(v) * product_unit(r.precision, r.fidelity);
        break;
      default:
        v = std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y);
        e = std::max(ex, ey) + std::fabs(v) * cut;
        break;
    }
    out.value[i] = v;
    out.error[i] = e + (std::fabs(v) + e) * unit + least;
  }
  return out;
}

Array quantized(OpType type, double zero_point, const Array& x, const Array& scale) {
  Array out = x;
  out.error.assign(out.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double before = type == OpType::dequantization ? x.value[i] - zero_point : x.value[i];
    out.value[i] = before * scale.value[i] + (type == OpType::dequantization ? 0 : zero_point);
    out.error[i] =
        x.error_at(i) * std::fabs(scale.value[i]) + (std::fabs(before * scale.value[i]) + std::fabs(zero_point)) * 0x1p-21 + 1e-30;
  }
  return out;
}

namespace {

// A block of a product that is worked out at once, in registers.
constexpr std::size_t kRows = 4, kCols = 8;
using Vector = double __attribute__((vector_size(kCols * sizeof(double))));

// Adds to kRows x kCols sums, and sums of magnitudes, the products of kRows rows and a panel of kCols columns, k long.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void add_products(const double* const* left, const double* panel, std::size_t k, double* const* sums, double* const* sizes) {
  Vector sum[kRows], size[kRows];
  for (std::size_t i = 0; i < kRows; ++i) {
    std::memcpy(&sum[i], sums[i], sizeof(Vector));
    std::memcpy(&size[i], sizes[i], sizeof(Vector));
  }
  for (std::size_t p = 0; p < k; ++p) {
    Vector right;
    std::memcpy(&right, panel + p * kCols, sizeof(Vector));
    for (std::size_t i = 0; i < kRows; ++i) {
      const Vector product = right * left[i][p];
      sum[i] += product;
      size[i] += product < 0 ? -product : product;
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    std::memcpy(sums[i], &sum[i], sizeof(Vector));
    std::memcpy(sizes[i], &size[i], sizeof(Vector));
  }
}

// Rows `rows` of matrix t of a * b into `sums`, and the sums of magnitudes into `sizes`: one line of b.cols numbers for each; of z
// products.
void multiply(const Array& a, const Array& b, std::size_t t, std::size_t z, const std::vector<std::size_t>& rows, std::vector<double>& sums,
              std::vector<double>& sizes) {
  const std::size_t K = a.cols, N = b.cols;
  sums.assign(rows.size() * N, 0);
  sizes.assign(rows.size() * N, 0);
  std::vector<double> panel(K * kCols);
  double spare[2 * kCols];  // for rows and columns beyond the end
  for (std::size_t s = t * z; s < (t + 1) * z; ++s)
    for (std::size_t j = 0; j < N; j += kCols) {
      const std::size_t n = std::min(kCols, N - j);
      for (std::size_t p = 0; p < K; ++p) std::copy_n(b.value.data() + b.at(s, p, j), n, panel.data() + p * kCols);
      for (std::size_t i = 0; i < rows.size(); i += kRows) {
        const double* left[kRows];
        double *sum[kRows], *size[kRows];
        double edge[2][kRows][kCols] = {};
        for (std::size_t y = 0; y < kRows; ++y) {
          const bool there = i + y < rows.size();
          left[y] = a.value.data() + a.at(s, rows[there ? i + y : i], 0);
          const bool whole = there && n == kCols;
          if (there && !whole) {
            std::copy_n(sums.data() + (i + y) * N + j, n, edge[0][y]);
            std::copy_n(sizes.data() + (i + y) * N + j, n, edge[1][y]);
          }
          sum[y] = whole ? sums.data() + (i + y) * N + j : there ? edge[0][y] : spare;
          size[y] = whole ? sizes.data() + (i + y) * N + j : there ? edge[1][y] : spare + kCols;
        }
        std::fill_n(spare, 2 * kCols, 0.0);
        add_products(left, panel.data(), K, sum, size);
        for (std::size_t y = 0; y < kRows && i + y < rows.size() && n < kCols; ++y) {
          std::copy_n(edge[0][y], n, sums.data() + (i + y) * N + j);
          std::copy_n(edge[1][y], n, sizes.data() + (i + y) * N + j);
        }
      }
    }
}

// What errors of the operands make of row i of a product, added to `error`.
void add_operand_errors(const Array& a, const Array& b, std::size_t t, std::size_t i, double* error) {
  for (std::size_t k = 0; k < a.cols; ++k) {
    const std::size_t ai = a.at(t, i, k), bi = b.at(t, k, 0);
    const double x = std::fabs(a.value[ai]);
    for (std::size_t j = 0; j < b.cols; ++j)
      error[j] += x * b.error_at(bi + j) + a.error_at(ai) * (std::fabs(b.value[bi + j]) + b.error_at(bi + j));
  }
}

}  // namespace

Array product(const Array& a, const Array& b, std::size_t z, std::size_t blocks, bool kept, const Registers& r) {
  const std::size_t M = a.rows, K = a.cols, N = b.cols;
  Array out(a.t / z, M, N, {a.tile.rows, b.tile.cols});
  const double work = static_cast<double>(a.t) * static_cast<double>(M) * static_cast<double>(K) * static_cast<double>(N);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(work / r.most_work)));
  out.error.assign(out.size(), every == 1 ? 0 : kInfinity);
  const double unit = dest_unit(r.precision, r.acc, r.out), least = dest_smallest(r.precision, r.acc, r.out);
  const double largest = dest_largest(r.precision, r.acc, r.out);
  const double steps = r.precision == Precision::fp32 ? static_cast<double>(K * z) : static_cast<double>((K + 31) / 32 * z);
  const bool spills = r.precision == Precision::exact && (blocks > 1 || z > 1 || kept);
  const double relative = product_unit(r.precision, r.fidelity) + (steps + 1) * unit + static_cast<double>(K) * 0x1p-23;
  std::vector<std::size_t> rows;
  std::vector<double> sums, sizes;
  Array line(1, 1, N, out.tile);
  for (std::size_t t = 0; t < out.t; ++t) {
    rows.clear();
    for (std::size_t i = t % every; i < M; i += every) rows.push_back(i);
    multiply(a, b, t, z, rows, sums, sizes);
    for (std::size_t y = 0; y < rows.size(); ++y) {
      std::copy_n(sums.data() + y * N, N, out.value.data() + out.at(t, rows[y], 0));
      double* error = out.error.data() + out.at(t, rows[y], 0);
      const double* size = sizes.data() + y * N;
      std::fill_n(error, N, 0.0);
      if (!a.error.empty() || !b.error.empty())
        for (std::size_t s = 0; s < z; ++s) add_operand_errors(a, b, t * z + s, rows[y], error);
      // Partial sums of very large numbers may leave the range of the register on the way, in an order that is left open.
      for (std::size_t j = 0; j < N; ++j) {
        error[j] += (size[j] + error[j]) * relative + least * steps;
        if (size[j] + error[j] > largest) error[j] = kInfinity;
      }
      if (!spills) continue;
      // Each time the sums wait, they may change as much as the largest of them does.
      line.value.assign(size, size + N);
      line.error.assign(error, error + N);
      pack(r.precision, r.intermed == DataFormat::invalid || is_integer(r.intermed) ? DataFormat::float32 : r.intermed, line);
      for (std::size_t j = 0; j < N; ++j) error[j] += (line.error[j] - error[j]) * static_cast<double>(blocks * z);
    }
  }
  return out;
}

Array reduced(Dim dim, std::size_t groups, const Array& x, const Registers& r) {
  const auto h = static_cast<std::size_t>(x.tile.rows), w = static_cast<std::size_t>(x.tile.cols);
  // `groups` results along the dimension, in row or column 0 of a tile each.
  Array out(dim == Dim::z ? groups : x.t, dim == Dim::r ? groups * h : x.rows, dim == Dim::c ? groups * w : x.cols, x.tile);
  out.error.assign(out.size(), 0);
  const std::size_t span = (dim == Dim::z ? x.t : dim == Dim::r ? x.rows : x.cols) / groups;
  const double unit = dest_unit(r.precision, r.acc, r.out) + source_unit(r.precision), least = dest_smallest(r.precision, r.acc, r.out);
  for (std::size_t t = 0; t < out.t; ++t)
    for (std::size_t i = 0; i < out.rows; ++i)
      for (std::size_t j = 0; j < out.cols; ++j) {
        if ((dim == Dim::r && i % h != 0) || (dim == Dim::c && j % w != 0)) continue;
        double most = -kInfinity, error = 0;
        for (std::size_t k = 0; k < span; ++k) {
          const std::size_t at = dim == Dim::z   ? x.at(t * span + k, i, j)
                                 : dim == Dim::r ? x.at(t, i / h * span + k, j)
                                                 : x.at(t, i, j / w * span + k);
          most = std::max(most, x.value[at]);
          // Whether a NaN is a maximum is left open.
          error = std::isnan(x.value[at]) ? kInfinity : std::max(error, x.error_at(at));
        }
        const std::size_t to = out.at(t, i, j);
        out.value[to] = most;
        out.error[to] = error + (std::fabs(most) + error) * unit + least;
      }
  return out;
}

void relu(const netlist::Relu& relu, Array& a) {
  if (!relu.enabled) return;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double& v = a.value[i];
    const double e = a.error_at(i), t = relu.threshold;
    const double before = v;
    if (relu.mode == netlist::ReluMode::min) v = v > t ? v : 0;
    if (relu.mode == netlist::ReluMode::max) v = std::clamp(v, 0.0, t);
    // At the threshold both sides are possible.
    if (relu.mode == netlist::ReluMode::min && t > 0 && std::fabs(before - t) <= e && !a.error.empty()) a.error[i] = t + 2 * e;
  }
}

}  // namespace buda::judge
