// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform along an axis, in fp64.
//
// A transform of n = p m points is p transforms of every p-th point and a sum of p terms for each result (Cooley and Tukey, 1965), p being
// the smallest prime factor of n. So powers of two cost n log n, and primes n^2. The roots of unity are computed once, each by itself.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace buda::ops {
namespace {

using Complex = std::complex<double>;

class Transform {
 public:
  Transform(std::size_t n, bool inverse) : roots_(n), scratch_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      roots_[i] = {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
    }
  }

  void run(std::vector<Complex>& line) { run(line.data(), scratch_.data(), line.size()); }

 private:
  static std::size_t smallest_factor(std::size_t n) {
    for (std::size_t p = 2; p * p <= n; ++p)
      if (n % p == 0) return p;
    return n;
  }

  // `x` of n points in place; `room` has n as well.
  void run(Complex* x, Complex* room, std::size_t n) {
    if (n <= 1) return;
    std::size_t p = smallest_factor(n), m = n / p, step = roots_.size() / n;
    for (std::size_t i = 0; i < n; ++i) room[i % p * m + i / p] = x[i];
    for (std::size_t k = 0; k < p; ++k) run(room + k * m, x + k * m, m);
    for (std::size_t i = 0; i < n; ++i) {
      Complex sum = 0;
      for (std::size_t k = 0; k < p; ++k) sum += roots_[i * k % n * step] * room[k * m + i % m];
      x[i] = sum;
    }
  }

  std::vector<Complex> roots_, scratch_;
};

struct Spectrum {
  std::size_t axis = 0;
  std::int64_t in = 0, length = 0, out = 0;  // points of the input, of the transform, and of the result
  std::int64_t parts = 1;                    // 1: real, 2: complex
};

Result<Spectrum> spectrum_of(const Shape& x, const Attrs& attrs) {
  if (x.rank() < 2 || (x[x.rank() - 1] != 1 && x[x.rank() - 1] != 2))
    return shape_error(cat("x is ", x.text(), "; its last axis must hold one number (real) or two (real and imaginary part)"));
  BUDA_ASSIGN(std::size_t axis, resolved_axis(x, attrs.integer("dim")));
  if (axis + 1 == x.rank()) return shape_error("the last axis holds the parts of a number; there is nothing to transform along it");
  std::int64_t length = attrs.integer("length") == 0 ? x[axis] : attrs.integer("length");
  if (length < 1) return shape_error(cat("a transform of ", length, " points is impossible"));
  bool half = attrs.boolean("onesided");
  if (half && (x[x.rank() - 1] == 2 || attrs.boolean("inverse")))
    return shape_error("one side is enough for transforms of real numbers alone, and not for inverse ones");
  return Spectrum{axis, x[axis], length, half ? length / 2 + 1 : length, x[x.rank() - 1]};
}

Result<std::vector<ValueType>> infer_dft(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  Shape shape = call.inputs[0].shape;
  BUDA_ASSIGN(Spectrum s, spectrum_of(shape, call.attrs));
  shape[s.axis] = s.out;
  shape[shape.rank() - 1] = 2;
  return one(dtype, std::move(shape));
}

Result<std::vector<Tensor>> evaluate_dft(const EvaluateCall& call) {
  Tensor x = call.inputs[0].cast(DType::f64);
  const Shape& shape = x.shape();
  BUDA_ASSIGN(Spectrum s, spectrum_of(shape, call.attrs));
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f64, call.outputs[0].shape));
  BUDA_TRY(Buffer::make(DType::f64, Shape{s.length, 4}));  // what a line needs must be there
  std::int64_t inner = 1, outer = 1;                       // numbers beside the axis
  for (std::size_t i = 0; i < s.axis; ++i) outer *= shape[i];
  for (std::size_t i = s.axis + 1; i + 1 < shape.rank(); ++i) inner *= shape[i];
  bool inverse = call.attrs.boolean("inverse");
  const double* from = x.as<double>().data();
  double* to = out.as<double>().data();
  if (outer * inner == 0) return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype)};
  Transform prototype(static_cast<std::size_t>(s.length), inverse);
  parallel_for(call.threads, static_cast<std::size_t>(outer * inner), [&](std::size_t i) {
    std::int64_t o = static_cast<std::int64_t>(i) / inner, k = static_cast<std::int64_t>(i) % inner;
    std::vector<Complex> line(static_cast<std::size_t>(s.length));
    for (std::int64_t t = 0; t < std::min(s.in, s.length); ++t) {
      const double* number = from + ((o * s.in + t) * inner + k) * s.parts;
      line[static_cast<std::size_t>(t)] = {number[0], s.parts == 2 ? number[1] : 0};
    }
    Transform transform = prototype;
    transform.run(line);
    double scale = inverse ? 1 / static_cast<double>(s.length) : 1;
    for (std::int64_t t = 0; t < s.out; ++t) {
      double* number = to + ((o * s.out + t) * inner + k) * 2;
      number[0] = line[static_cast<std::size_t>(t)].real() * scale;
      number[1] = line[static_cast<std::size_t>(t)].imag() * scale;
    }
  });
  return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype)};
}

// The usual count for powers of two.
double dft_flops(std::span<const ValueType>, std::span<const ValueType> outputs, const Attrs& attrs) {
  const Shape& y = outputs[0].shape;
  auto points = static_cast<double>(y[y.axis(attrs.integer("dim")).value_or(0)]);
  return 2.5 * volume(y) * std::max(1.0, std::log2(points));
}

}  // namespace

std::vector<OpDef> spectral_ops() {
  return {
      {.name = "dft",
       .level = Level::tensor,
       .family = "spectral",
       .summary = "the discrete Fourier transform along an axis; the last axis holds real (and imaginary) parts",
       .inputs = {"x"},
       .least_inputs = 1,
       .most_inputs = 1,
       .attrs = {{"dim", AttrType::integer, std::int64_t{1}, "the axis, negative from the end", {}},
                 {"length",
                  AttrType::integer,
                  std::int64_t{0},
                  "points of the transform: x is cut or filled up with zeros; 0: the axis's size",
                  {}},
                 {"inverse", AttrType::boolean, false, "the inverse transform, divided by the number of points", {}},
                 {"onesided", AttrType::boolean, false, "of real numbers: the first length / 2 + 1 points, which the others mirror", {}}},
       .infer = infer_dft,
       .evaluate = evaluate_dft,
       .flops = dft_flops}};
}

}  // namespace buda::ops
