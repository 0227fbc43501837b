// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, as products with known matrices and convolutions with known kernels: they stay on the chip. Complex results are pairs
// (complex.cpp).
#include "call.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace buda::torchscript {
namespace {

constexpr std::int64_t kMaxPoints = 1 << 13;  // a matrix of their square is made
constexpr double kTwoPi = 6.283185307179586476925286766559;

double angle(std::int64_t k, std::int64_t t, std::int64_t points) {
  return kTwoPi * static_cast<double>(k * t % points) / static_cast<double>(points);
}

// ---- transforms of whole axes

struct Parts {
  Ref real, imaginary;  // the imaginary part may be missing
};

enum class Transform { forward, inverse };

// [from, to]: entry (k, t) is the cosine or sine of 2 pi k t / points, times `scale` (and `twice` for all k but the first and the middle
// one).
Tensor wave_matrix(std::int64_t from, std::int64_t to, std::int64_t points, bool cosine, double scale, bool twice) {
  std::vector<float> out(static_cast<std::size_t>(from * to));
  for (std::int64_t k = 0; k < from; ++k) {
    const double factor = twice && k != 0 && 2 * k != points ? 2 * scale : scale;
    for (std::int64_t t = 0; t < to; ++t) {
      const double a = angle(k, t, points);
      out[static_cast<std::size_t>(k * to + t)] = static_cast<float>(factor * (cosine ? std::cos(a) : std::sin(a)));
    }
  }
  return Tensor(Shape{from, to}, std::move(out));
}

// What "backward", "ortho" and "forward" divide by.
Result<double> scale_of_norm(const Call& n, const std::string& norm, std::int64_t points, Transform way) {
  const double whole = 1 / static_cast<double>(points);
  if (norm == "ortho") return std::sqrt(whole);
  if (norm != "backward" && norm != "forward") return n.refuse(cat("its norm is '", norm, "', not backward, ortho or forward"));
  return (norm == "backward") == (way == Transform::inverse) ? whole : 1.0;
}

class AxisTransform {
 public:
  AxisTransform(Call& n, std::string norm) : n_(n), norm_(std::move(norm)) {}

  // Of complex numbers, or of real ones with all points or (`half`) those up to the middle.
  Result<Parts> complex(Parts x, std::int64_t axis, std::optional<std::int64_t> points, Transform way, bool half) {
    BUDA_ASSIGN(std::int64_t count, prepare(x, axis, points, false));
    BUDA_ASSIGN(double scale, scale_of_norm(n_, norm_, count, way));
    const std::int64_t out = half ? count / 2 + 1 : count;
    Ref cosine = n_.constant(wave_matrix(count, out, count, true, scale, false));
    Ref sine = n_.constant(wave_matrix(count, out, count, false, way == Transform::forward ? -scale : scale, false));
    Parts y{n_.step("real").matmul(x.real, cosine), n_.step("imaginary").matmul(x.real, sine)};
    if (x.imaginary.valid()) {
      Ref ib = n_.step("real.other").matmul(x.imaginary, sine), ia = n_.step("imaginary.other").matmul(x.imaginary, cosine);
      y.real = n_.step("real.sum").subtract(y.real, ib);
      y.imaginary = n_.step("imaginary.sum").add(y.imaginary, ia);
    }
    return finish(y);
  }

  // Of the points up to the middle to real numbers.
  Result<Ref> to_real(Parts x, std::int64_t axis, std::optional<std::int64_t> points) {
    BUDA_ASSIGN(Shape shape, n_.shape_of(x.real));
    const std::int64_t given = shape[static_cast<std::size_t>(axis)];
    const std::int64_t count = points.value_or(2 * (given - 1));
    if (count < 1) return n_.refuse(cat("a transform to ", count, " points is impossible"));
    BUDA_ASSIGN(std::int64_t half, prepare(x, axis, count / 2 + 1, true));
    BUDA_ASSIGN(double scale, scale_of_norm(n_, norm_, count, Transform::inverse));
    Ref cosine = n_.constant(wave_matrix(half, count, count, true, scale, true));
    Ref y = n_.step("from_real").matmul(x.real, cosine);
    if (x.imaginary.valid()) {
      Ref sine = n_.constant(wave_matrix(half, count, count, false, scale, true));
      Ref other = n_.step("from_imaginary").matmul(x.imaginary, sine);
      y = n_.step("sum").subtract(y, other);
    }
    BUDA_ASSIGN(Parts out, finish({y, {}}));
    return out.real;
  }

 private:
  // Brings the axis to the end, and cuts it or fills it up to so many points.
  Result<std::int64_t> prepare(Parts& x, std::int64_t axis, std::optional<std::int64_t> points, bool halves) {
    BUDA_ASSIGN(Shape shape, n_.shape_of(x.real));
    const std::int64_t size = shape[static_cast<std::size_t>(axis)], count = points.value_or(size);
    if (count < 1 || count > kMaxPoints)
      return n_.refuse(cat("a transform of ", count, halves ? " halves of" : "", " points is not supported; 1 to ", kMaxPoints, " are"));
    const auto last = static_cast<std::int64_t>(shape.rank()) - 1;
    order_.resize(shape.rank());
    std::iota(order_.begin(), order_.end(), 0);
    std::swap(order_[static_cast<std::size_t>(axis)], order_[static_cast<std::size_t>(last)]);
    auto one = [&](Ref value, std::string_view name) {
      if (!value.valid()) return value;
      if (axis != last) value = n_.step(cat(name, ".order")).transpose(value, order_);
      if (count < size) value = n_.step(cat(name, ".part")).slice(value, last, 0, count);
      if (count <= size) return value;
      Dims before(shape.rank(), 0), after(shape.rank(), 0);
      after.back() = count - size;
      return n_.step(cat(name, ".filled")).pad(value, before, after);
    };
    x.real = one(x.real, "x.real");
    x.imaginary = one(x.imaginary, "x.imaginary");
    return count;
  }

  Result<Parts> finish(Parts y) {
    if (std::is_sorted(order_.begin(), order_.end())) return y;
    y.real = n_.step("real.back").transpose(y.real, order_);
    if (y.imaginary.valid()) y.imaginary = n_.step("imaginary.back").transpose(y.imaginary, order_);
    return y;
  }

  Call& n_;
  std::string norm_;
  Dims order_;
};

Result<Parts> parts_of(Call& n) {
  const Value& value = n["self"];
  if (const auto* pair = value.as<ComplexRef>()) return Parts{n.value_ref((*pair)->real), n.value_ref((*pair)->imaginary)};
  BUDA_ASSIGN(DType dtype, n.dtype("self"));
  Ref x = n.ref("self");
  return Parts{dtype == DType::f32 ? x : n.cast(x, DType::f32), {}};
}

Value complex_value(Call& n, Parts parts) { return complex_of(n.tensor(parts.real), n.tensor(parts.imaginary)); }

// The axes of a transform and how many points each has.
struct TransformAxes {
  Dims axes;
  std::vector<std::optional<std::int64_t>> points;
};

Result<TransformAxes> axes_of(Call& n, std::size_t rank, bool several) {
  TransformAxes out;
  Dims sizes;
  BUDA_ASSIGN(sizes, n.integers_or(several ? "s" : "n", {}));
  Dims dims;
  BUDA_ASSIGN(dims, n.integers_or("dim", several ? Dims{} : Dims{-1}));
  const auto count = static_cast<std::int64_t>(sizes.empty() ? rank : sizes.size());
  if (dims.empty())
    for (std::int64_t i = 0; i < count; ++i) dims.push_back(i - count);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    BUDA_ASSIGN(auto axis, frontend::axis_of(n, dims[i], rank));
    out.axes.push_back(axis);
    out.points.emplace_back(i < sizes.size() && sizes[i] > 0 ? std::optional<std::int64_t>(sizes[i]) : std::nullopt);
  }
  return out;
}

// fft, ifft, rfft, irfft, of one axis or (2, n) of several: real numbers become complex, or the other way round, along the last of them.
Result<Value> import_fft(Call& n) {
  std::string_view kind = n.importer().name.substr(4);
  const bool several = kind.ends_with('n') || kind.ends_with('2');
  if (several) kind.remove_suffix(1);
  BUDA_ASSIGN(std::string norm, n.text_or("norm", "backward"));
  BUDA_ASSIGN(Parts x, parts_of(n));
  BUDA_ASSIGN(Shape shape, n.shape_of(x.real));
  if (shape.rank() == 0) return n.refuse("its input is a single number");
  BUDA_ASSIGN(TransformAxes axes, axes_of(n, shape.rank(), several));
  const bool inverse = kind.starts_with('i'), of_real = kind == "rfft", to_real = kind == "irfft";
  if (of_real && x.imaginary.valid()) return n.refuse("its input is complex");
  const std::size_t last = axes.axes.size() - 1;
  const Transform way = inverse ? Transform::inverse : Transform::forward;
  if (of_real) {
    BUDA_ASSIGN(x, AxisTransform(n, norm).complex(x, axes.axes[last], axes.points[last], way, true));
  }
  for (std::size_t i = 0; i < axes.axes.size(); ++i) {
    if (i == last && (of_real || to_real)) break;
    BUDA_ASSIGN(x, AxisTransform(n, norm).complex(x, axes.axes[i], axes.points[i], way, false));
  }
  if (!to_real) return complex_value(n, x);
  BUDA_ASSIGN(Ref y, AxisTransform(n, norm).to_real(x, axes.axes[last], axes.points[last]));
  return n.tensor(y);
}

// ---- short-time transforms

struct Frames {
  std::int64_t points = 0, hop = 0, bins = 0;
  std::vector<double> window;  // of all points
  double scale = 1;            // of the forward transform
};

Result<Frames> frames_of(Call& n) {
  Frames f;
  BUDA_ASSIGN(f.points, n.integer("n_fft"));
  BUDA_ASSIGN(f.hop, n.integer_or("hop_length", f.points / 4));
  BUDA_ASSIGN(std::int64_t length, n.integer_or("win_length", f.points));
  BUDA_ASSIGN(bool normalized, n.flag_or("normalized", false));
  BUDA_ASSIGN(bool onesided, n.flag_or("onesided", true));
  if (f.points < 1 || f.points > kMaxPoints || f.hop < 1 || length < 1 || length > f.points)
    return n.refuse(cat("its n_fft ", f.points, ", hop_length ", f.hop, " and win_length ", length, " are not supported; n_fft is at most ",
                        kMaxPoints));
  f.bins = onesided ? f.points / 2 + 1 : f.points;
  f.scale = normalized ? 1 / std::sqrt(static_cast<double>(f.points)) : 1;
  f.window.assign(static_cast<std::size_t>(f.points), 0.0);
  const auto first = static_cast<std::size_t>((f.points - length) / 2);
  if (!n.has("window")) {
    std::fill_n(f.window.begin() + static_cast<std::ptrdiff_t>(first), length, 1.0);
    return f;
  }
  BUDA_ASSIGN(Tensor window, n.known("window"));
  if (window.shape() != Shape{length}) return n.refuse(cat("its window is ", window.describe(), "; ", length, " numbers are needed"));
  const Tensor wide = window.cast(DType::f64);
  for (std::int64_t i = 0; i < length; ++i) f.window[first + static_cast<std::size_t>(i)] = wide.as<double>()[static_cast<std::size_t>(i)];
  return f;
}

// A convolution whose channels are the real parts of all bins, and then the imaginary ones.
Result<Value> import_stft(Call& n) {
  BUDA_ASSIGN(auto type, n.type("self"));
  BUDA_ASSIGN(Frames f, frames_of(n));
  BUDA_ASSIGN(bool complex, n.flag_or("return_complex", false));
  const Shape& x = type.shape;
  if ((x.rank() != 1 && x.rank() != 2) || x[x.rank() - 1] < f.points)
    return n.refuse(cat("its input is ", x.text(), "; one or two axes, the last one of at least ", f.points, " samples, are needed"));
  std::vector<float> kernel;
  for (bool cosine : {true, false})
    for (std::int64_t k = 0; k < f.bins; ++k)
      for (std::int64_t t = 0; t < f.points; ++t) {
        const double wave = cosine ? std::cos(angle(k, t, f.points)) : -std::sin(angle(k, t, f.points));
        kernel.push_back(static_cast<float>(f.scale * f.window[static_cast<std::size_t>(t)] * wave));
      }
  const std::int64_t samples = x.rank() == 2 ? x[0] : 1;
  Ref signal = n.ref("self");
  signal = n.step("signal").reshape(signal, Shape{samples, 1, x[x.rank() - 1]});
  Ref weights = n.constant(Tensor(Shape{2 * f.bins, 1, f.points}, std::move(kernel)));
  Ref bins = n.step("bins").op("conv1d", {signal, weights}, {{"stride", Dims{f.hop}}});
  BUDA_ASSIGN(Shape made, n.shape_of(bins));
  const Shape part = x.rank() == 2 ? Shape{samples, f.bins, made[2]} : Shape{f.bins, made[2]};
  Parts parts;
  for (bool real : {true, false}) {
    const std::int64_t from = real ? 0 : f.bins;
    const std::string name = real ? "real" : "imaginary";
    Ref half = n.step(name + ".bins").slice(bins, 1, from, from + f.bins);
    (real ? parts.real : parts.imaginary) = x.rank() == 2 ? half : n.step(name).reshape(half, part);
  }
  if (complex) return complex_value(n, parts);
  const auto axis = static_cast<std::int64_t>(part.rank());
  Ref a = n.step("real.column").unsqueeze(parts.real, {axis}), b = n.step("imaginary.column").unsqueeze(parts.imaginary, {axis});
  return n.tensor(n.result().concatenate({a, b}, axis));
}

// The real (imaginary) parts of [samples, bins, frames] numbers, from a pair or from a last axis of two.
Result<Parts> bins_of(Call& n) {
  if (n["self"].is<ComplexRef>()) return parts_of(n);
  BUDA_ASSIGN(Shape x, n.shape("self"));
  if (x.rank() < 3 || x[x.rank() - 1] != 2) return n.refuse(cat("its input is ", x.text(), "; complex numbers are needed"));
  const auto last = static_cast<std::int64_t>(x.rank()) - 1;
  Ref whole = n.ref("self");
  Ref a = n.step("real.slice").slice(whole, last, 0, 1), b = n.step("imaginary.slice").slice(whole, last, 1, 2);
  return Parts{n.step("real").squeeze(a, {last}), n.step("imaginary").squeeze(b, {last})};
}

// The sum of frames, each the inverse transform times the window (a transposed convolution), divided by what the windows add up to.
Result<Value> import_istft(Call& n) {
  BUDA_ASSIGN(Frames f, frames_of(n));
  BUDA_ASSIGN(bool center, n.flag_or("center", true));
  BUDA_ASSIGN(bool complex, n.flag_or("return_complex", false));
  BUDA_ASSIGN(std::int64_t wanted, n.integer_or("length", -1));
  if (complex) return n.refuse("its result is complex, which is not supported");
  BUDA_ASSIGN(Parts x, bins_of(n));
  BUDA_ASSIGN(Shape shape, n.shape_of(x.real));
  const std::size_t rank = shape.rank();
  if ((rank != 2 && rank != 3) || shape[rank - 2] != f.bins)
    return n.refuse(cat("its input is ", shape.text(), "; ", f.bins, " bins and an axis of frames are needed"));
  const std::int64_t samples = rank == 3 ? shape[0] : 1, frames = shape[rank - 1], whole = f.points + f.hop * (frames - 1);
  const bool twice = f.bins != f.points;
  std::vector<float> kernel;
  for (bool cosine : {true, false})
    for (std::int64_t k = 0; k < f.bins; ++k)
      for (std::int64_t t = 0; t < f.points; ++t) {
        const double count = twice && k != 0 && 2 * k != f.points ? 2 : 1;
        const double wave = cosine ? std::cos(angle(k, t, f.points)) : -std::sin(angle(k, t, f.points));
        kernel.push_back(
            static_cast<float>(count * wave * f.window[static_cast<std::size_t>(t)] / (static_cast<double>(f.points) * f.scale)));
      }
  std::vector<double> sums(static_cast<std::size_t>(whole), 0.0);
  for (std::int64_t m = 0; m < frames; ++m)
    for (std::int64_t t = 0; t < f.points; ++t)
      sums[static_cast<std::size_t>(m * f.hop + t)] += f.window[static_cast<std::size_t>(t)] * f.window[static_cast<std::size_t>(t)];
  const std::int64_t begin = center ? f.points / 2 : 0;
  const std::int64_t end = wanted >= 0 ? begin + wanted : whole - begin;
  const std::int64_t stop = std::min(end, whole);
  if (begin >= stop) return n.refuse("its result is empty");
  std::vector<float> factors;
  for (std::int64_t i = begin; i < stop; ++i) {
    if (std::abs(sums[static_cast<std::size_t>(i)]) < 1e-11)
      return n.refuse("its windows leave samples that no frame tells of (their sum is 0)");
    factors.push_back(static_cast<float>(1 / sums[static_cast<std::size_t>(i)]));
  }
  const Shape bins{samples, f.bins, frames};
  if (rank == 2) {
    x.real = n.step("real.batch").reshape(x.real, bins);
    x.imaginary = n.step("imaginary.batch").reshape(x.imaginary, bins);
  }
  Ref both = n.step("bins").concatenate({x.real, x.imaginary}, 1);
  Ref weights = n.constant(Tensor(Shape{2 * f.bins, 1, f.points}, std::move(kernel)));
  Ref sum = n.step("frames").op("conv1d_transpose", {both, weights}, {{"stride", Dims{f.hop}}});
  Ref part = n.step("part").slice(sum, 2, begin, stop);
  Ref factor = n.constant(Tensor(Shape{stop - begin}, std::move(factors)));
  Ref y = n.step("samples").multiply(part, factor);
  if (end > stop) y = n.step("filled").pad(y, {0, 0, 0}, {0, 0, end - stop});
  return n.tensor(n.result().reshape(y, rank == 3 ? Shape{samples, end - begin} : Shape{end - begin}));
}

constexpr std::string_view kOneAxis = "self n dim norm", kSeveralAxes = "self s dim norm";

constexpr OpImporter kSpectralOps[] = {
    {"fft_fft", kOneAxis, import_fft},
    {"fft_fft2", kSeveralAxes, import_fft},
    {"fft_fftn", kSeveralAxes, import_fft},
    {"fft_ifft", kOneAxis, import_fft},
    {"fft_ifft2", kSeveralAxes, import_fft},
    {"fft_ifftn", kSeveralAxes, import_fft},
    {"fft_irfft", kOneAxis, import_fft},
    {"fft_irfft2", kSeveralAxes, import_fft},
    {"fft_irfftn", kSeveralAxes, import_fft},
    {"fft_rfft", kOneAxis, import_fft},
    {"fft_rfft2", kSeveralAxes, import_fft},
    {"fft_rfftn", kSeveralAxes, import_fft},
    {"istft", "self n_fft hop_length win_length window center normalized onesided length return_complex", import_istft, "", "window known"},
    {"stft", "self n_fft hop_length win_length window normalized onesided return_complex", import_stft, "", "window known; a convolution"},
};

}  // namespace

std::span<const OpImporter> spectral_ops() { return kSpectralOps; }

}  // namespace buda::torchscript
