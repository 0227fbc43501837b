// SPDX-License-Identifier: Apache-2.0
// DFT, STFT, MelWeightMatrix, and Det.
#include "node_import.hpp"

#include "tensor_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

// Points of a transform whose indices are written out.
constexpr std::int64_t kLongestTransform = std::int64_t{1} << 24;

Result<void> import_det(NodeImport& n) {
  n.output(n.result().op("determinant", {n.input(0)}));
  return success();
}

Result<std::int64_t> known_size(const NodeImport& n, std::size_t i, std::string_view what, std::int64_t least) {
  BUDA_ASSIGN(auto given, n.known_integers(i, what));
  if (given.size() != 1 || given[0] < least)
    return n.refuse(cat("its ", what, " is ", list_text(given), "; one number, at least ", least, ", is needed"));
  return given[0];
}

// An attribute before opset 20, with 1 as its default; an input from then on, with the last axis but the one of the parts.
Result<std::int64_t> dft_axis(const NodeImport& n, std::size_t rank) {
  if (n.opset() < 20) return n.axis(n.integer("axis", 1), rank);
  if (!n.has_input(2)) return n.axis(-2, rank);
  BUDA_ASSIGN(auto given, known_size(n, 2, "axis", std::numeric_limits<std::int64_t>::min()));
  return n.axis(given, rank);
}

// The real signal of a one-sided spectrum: its other side, which is the conjugate in reverse, is put behind it.
Result<void> import_real_inverse(NodeImport& n, const Shape& shape, std::int64_t axis) {
  auto at = static_cast<std::size_t>(axis);
  if (shape.rank() < 2 || at + 1 == shape.rank() || shape[shape.rank() - 1] != 2)
    return n.refuse(cat("its input is ", shape.text(), "; a one-sided spectrum of complex numbers is needed"));
  std::int64_t length = 2 * (shape[at] - 1);
  if (n.has_input(1)) {
    BUDA_ASSIGN(length, known_size(n, 1, "dft_length", 1));
  }
  if (length < 1 || length > kLongestTransform) return n.refuse(cat("a transform of ", length, " points is impossible"));
  std::int64_t half = length / 2 + 1;
  Ref x = n.input(0);
  if (shape[at] > half) x = n.step("cut").slice(x, axis, 0, half);
  if (shape[at] < half) {
    NodeImport::Dims before(shape.rank(), 0), after(shape.rank(), 0);
    after[at] = half - shape[at];
    x = n.step("padded").pad(x, std::move(before), std::move(after));
  }
  if (half < length) {
    BUDA_ASSIGN(auto type, n.type(0));
    std::vector<std::int64_t> reverse(static_cast<std::size_t>(length - half));
    for (std::size_t i = 0; i < reverse.size(); ++i) reverse[i] = length - half - static_cast<std::int64_t>(i);
    Ref places = n.step("mirrored").constant(Tensor(Shape{length - half}, std::move(reverse)));
    Ref mirrored = n.step("other_side").op("gather", {x, places}, {{"dim", axis}});
    Ref signs = n.step("signs").constant(Tensor(Shape{2}, std::vector<double>{1, -1}).cast(type.dtype));
    Ref conjugate = n.step("conjugate").multiply(mirrored, signs);
    x = n.step("spectrum").concatenate({x, conjugate}, axis);
  }
  Ref signal = n.step("signal").op("dft", {x}, {{"dim", axis}, {"inverse", true}});
  n.output(n.result().slice(signal, static_cast<std::int64_t>(shape.rank()) - 1, 0, 1));
  return success();
}

Result<void> import_dft(NodeImport& n) {
  ops::AttrMap attrs;
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto axis, dft_axis(n, shape.rank()));
  if (n.opset() >= 20 && n.integer("inverse", 0) != 0 && n.integer("onesided", 0) != 0) return import_real_inverse(n, shape, axis);
  if (axis != 1) attrs["dim"] = axis;
  if (n.has_input(1)) {
    BUDA_ASSIGN(attrs["length"], known_size(n, 1, "dft_length", 1));
  }
  if (n.integer("inverse", 0) != 0) attrs["inverse"] = true;
  if (n.integer("onesided", 0) != 0) attrs["onesided"] = true;
  n.output(n.result().op("dft", {n.input(0)}, std::move(attrs)));
  return success();
}

// Frames of the signal are gathered by their indices, multiplied with the window, and transformed.
Result<void> import_stft(NodeImport& n) {
  BUDA_ASSIGN(auto signal, n.type(0));
  if (signal.shape.rank() != 3 || signal.shape[2] < 1 || signal.shape[2] > 2)
    return n.refuse(cat("its signal is ", signal.shape.text(), "; [batch, samples, 1 or 2] is needed"));
  BUDA_ASSIGN(std::int64_t step, known_size(n, 1, "frame_step", 1));
  std::int64_t length = 0;
  if (n.has_input(2)) {
    BUDA_ASSIGN(Shape window, n.shape(2));
    if (window.rank() == 1) length = window[0];
  }
  if (n.has_input(3)) {
    BUDA_ASSIGN(length, known_size(n, 3, "frame_length", 1));
  }
  std::int64_t samples = signal.shape[1];
  if (length < 1 || length > samples) return n.refuse(cat("its frames of ", length, " samples do not fit its signal of ", samples));
  std::int64_t frames = (samples - length) / step + 1;
  BUDA_ASSIGN(Tensor zeros, Tensor::zeros(DType::i64, Shape{frames, length}));
  std::vector<std::int64_t> indices(zeros.size());
  for (std::int64_t i = 0; i < frames * length; ++i) indices[static_cast<std::size_t>(i)] = i / length * step + i % length;
  Ref x = n.input(0);
  Ref places = n.step("indices").constant(Tensor(Shape{frames, length}, std::move(indices)));
  Ref framed = n.step("frames").op("gather", {x, places}, {{"dim", std::int64_t{1}}});
  if (n.has_input(2)) {
    Ref window = n.input(2);
    Ref column = n.step("window").reshape(window, Shape{length, 1});
    framed = n.step("windowed").multiply(framed, column);
  }
  ops::AttrMap attrs{{"dim", std::int64_t{2}}};
  if (n.integer("onesided", 1) != 0) attrs["onesided"] = true;
  n.output(n.result().op("dft", {framed}, std::move(attrs)));
  return success();
}

// Triangles that overlap, with corners equally spaced on the mel scale and rounded down to bins of the spectrum. This is ONNX's definition
// to the letter: it divides the scale into bins + 2 parts, of which the last stays unused.
std::vector<double> mel_weights(std::int64_t bins, std::int64_t dft, std::int64_t rate, double low, double high) {
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double first = mel(low), step = (mel(high) - first) / static_cast<double>(bins + 2);
  std::int64_t rows = dft / 2 + 1;
  auto corner = [&](std::int64_t i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + first) / 2595) - 1);
    double bin = std::floor(static_cast<double>(dft + 1) * hertz / static_cast<double>(rate));
    return static_cast<std::int64_t>(std::clamp(bin, 0.0, static_cast<double>(rows)));
  };
  std::vector<double> out(static_cast<std::size_t>(rows * bins), 0);
  auto set = [&](std::int64_t row, std::int64_t bin, double value) {
    if (row < rows) out[static_cast<std::size_t>(row * bins + bin)] = value;
  };
  for (std::int64_t b = 0; b < bins; ++b) {
    std::int64_t left = corner(b), centre = corner(b + 1), right = corner(b + 2);
    if (left == centre) set(centre, b, 1);
    for (std::int64_t r = left; r <= centre && left != centre; ++r)
      set(r, b, static_cast<double>(r - left) / static_cast<double>(centre - left));
    for (std::int64_t r = centre; r < right; ++r) set(r, b, static_cast<double>(right - r) / static_cast<double>(right - centre));
  }
  return out;
}

Result<void> import_mel_weight_matrix(NodeImport& n) {
  BUDA_ASSIGN(std::int64_t bins, known_size(n, 0, "num_mel_bins", 1));
  BUDA_ASSIGN(std::int64_t dft, known_size(n, 1, "dft_length", 1));
  BUDA_ASSIGN(std::int64_t rate, known_size(n, 2, "sample_rate", 1));
  BUDA_ASSIGN(double low, n.known_number(3, "lower edge"));
  BUDA_ASSIGN(double high, n.known_number(4, "upper edge"));
  if (!(low >= 0 && low < high && high < 1e12)) return n.refuse(cat("its band from ", low, " to ", high, " hertz is impossible"));
  auto dtype = dtype_of(static_cast<int>(n.integer("output_datatype", 1)));
  if (!dtype) return n.refuse(cat("its output_datatype ", n.integer("output_datatype", 1), " is not a supported type"));
  constexpr std::int64_t kMaxWeights = std::int64_t{1} << 28;
  if (bins > kMaxWeights || dft > kMaxWeights || (dft / 2 + 1) > kMaxWeights / bins) return n.refuse("its matrix is too large");
  n.output_known(Tensor(Shape{dft / 2 + 1, bins}, mel_weights(bins, dft, rate, low, high)).cast(*dtype));
  return success();
}

constexpr OpImporter kSignalOps[] = {
    {"DFT", 17, import_dft},
    {"Det", 11, import_det},
    {"MelWeightMatrix", 17, import_mel_weight_matrix},
    {"STFT", 17, import_stft},
};

}  // namespace

std::span<const OpImporter> signal_ops() { return kSignalOps; }

}  // namespace buda::onnx_frontend
