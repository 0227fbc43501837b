// Formulas with errors: each result carries how far it may be off, given the errors of its operands and the roundings on the way.
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
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
      return x;
  }
}

double source_unit(Precision p) { return p == Precision::fp32 ? 0x1p-23 : kSourceUnit; }

}  // namespace

Array unary(OpType type, const OpAttributes& attributes, const Array& x, const Registers& r) {
  Array out = x;
  out.error.assign(out.size(), 0);
  const double unit = dest_unit(r.precision, r.acc, r.out), least = dest_smallest(r.precision, r.acc, r.out);
  const auto h = static_cast<std::size_t>(x.tile.rows), w = static_cast<std::size_t>(x.tile.cols);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / x.cols % h, col = i % x.cols % w;
    const bool processed =
        attributes.vector == netlist::VectorMode::rc || (attributes.vector == netlist::VectorMode::r ? row < 16 : col < 16);
    const double d = x.error_at(i) + std::fabs(x.value[i]) * unit + least;
    if (type == OpType::dropout && processed) {
      // Which numbers are kept is the generator's affair: 0 and the scaled number are both right.
      const double scaled = x.value[i] * (attributes.p >= 1 ? 1 : 1 / (1 - attributes.p));
      out.value[i] = scaled / 2;
      out.error[i] = std::fabs(scaled) / 2 * (1 + 4 * unit) + d;
      continue;
    }
    const OpType f = processed ? type : OpType::nop;
    const double v = function(f, attributes, x.value[i]), up = function(f, attributes, x.value[i] + d),
                 down = function(f, attributes, x.value[i] - d);
    const bool pole = f == OpType::reciprocal && std::fabs(x.value[i]) <= d;
    out.value[i] = v;
    out.error[i] = pole || !std::isfinite(up) || !std::isfinite(down) ? kInfinity : 1.25 * std::max(std::fabs(up - v), std::fabs(down - v));
    // Functions with a bend in between, and rounding of the result.
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

// Rows of a product that are worked out together, and columns.
constexpr std::size_t kRows = 8, kCols = 128;

// Sums, and sums of magnitudes, of `rows` rows of left * right, n columns; k long.
struct Strip {
  double sums[kRows][kCols], sizes[kRows][kCols];
};
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void add_products(Strip& strip, const double* const* left, std::size_t rows, const double* right, std::size_t stride, std::size_t n,
                  std::size_t k) {
  for (std::size_t p = 0; p < k; ++p, right += stride)
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = left[i][p];
      double* sums = strip.sums[i];
      double* sizes = strip.sizes[i];
      for (std::size_t j = 0; j < n; ++j) {
        const double product = x * right[j];
        sums[j] += product;
        sizes[j] += std::fabs(product);
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

Array product(const Array& a, const Array& b, std::size_t z, std::size_t blocks, const Registers& r) {
  const std::size_t M = a.rows, K = a.cols, N = b.cols;
  Array out(a.t / z, M, N, {a.tile.rows, b.tile.cols});
  const double work = static_cast<double>(a.t) * static_cast<double>(M) * static_cast<double>(K) * static_cast<double>(N);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(work / r.most_work)));
  out.error.assign(out.size(), every == 1 ? 0 : kInfinity);
  const double unit = dest_unit(r.precision, r.acc, r.out), least = dest_smallest(r.precision, r.acc, r.out);
  const double steps = r.precision == Precision::fp32 ? static_cast<double>(K * z) : static_cast<double>((K + 31) / 32 * z);
  const bool spills = r.precision == Precision::exact && (blocks > 1 || z > 1);
  const double relative = product_unit(r.precision, r.fidelity) + (steps + 1) * unit + static_cast<double>(K) * 0x1p-23;
  std::vector<std::size_t> rows;
  Array sizes(1, 1, N, out.tile);
  std::vector<double> magnitudes(kRows * N);
  Strip strip;
  for (std::size_t t = 0; t < out.t; ++t)
    for (std::size_t i = t % every; i < M;) {
      rows.clear();
      for (; i < M && rows.size() < kRows; i += every) rows.push_back(i);
      for (std::size_t j = 0; j < N; j += kCols) {
        const std::size_t n = std::min(kCols, N - j);
        for (std::size_t y = 0; y < rows.size(); ++y) {
          std::fill_n(strip.sums[y], n, 0.0);
          std::fill_n(strip.sizes[y], n, 0.0);
        }
        for (std::size_t s = 0; s < z; ++s) {
          const double* left[kRows];
          for (std::size_t y = 0; y < rows.size(); ++y) left[y] = a.value.data() + a.at(t * z + s, rows[y], 0);
          add_products(strip, left, rows.size(), b.value.data() + b.at(t * z + s, 0, j), N, n, K);
        }
        for (std::size_t y = 0; y < rows.size(); ++y) {
          std::copy_n(strip.sums[y], n, out.value.data() + out.at(t, rows[y], j));
          std::copy_n(strip.sizes[y], n, magnitudes.data() + y * N + j);
        }
      }
      for (std::size_t y = 0; y < rows.size(); ++y) {
        double* error = out.error.data() + out.at(t, rows[y], 0);
        const double* size = magnitudes.data() + y * N;
        std::fill_n(error, N, 0.0);
        if (!a.error.empty() || !b.error.empty())
          for (std::size_t s = 0; s < z; ++s) add_operand_errors(a, b, t * z + s, rows[y], error);
        for (std::size_t j = 0; j < N; ++j) error[j] += (size[j] + error[j]) * relative + least * steps;
        if (!spills) continue;
        // Each time the sums wait, they may change as much as the largest of them does.
        sizes.value.assign(size, size + N);
        sizes.error.assign(error, error + N);
        pack(r.precision, r.intermed == DataFormat::invalid || is_integer(r.intermed) ? DataFormat::float32 : r.intermed, sizes);
        for (std::size_t j = 0; j < N; ++j) error[j] += (sizes.error[j] - error[j]) * static_cast<double>(blocks * z);
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
