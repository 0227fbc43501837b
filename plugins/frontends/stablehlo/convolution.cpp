// SPDX-License-Identifier: Apache-2.0
// convolution, with any order of axes, and Fourier transforms.
#include "op_call.hpp"
#include "regions.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

struct ConvolutionAxes {
  Dims input, kernel, output;  // [batch, feature, spatial…], [output feature, input feature, spatial…], [batch, feature, spatial…]
};

struct ConvolutionWindow {
  Dims strides, low, high, base_dilations, dilations;
  std::vector<bool> reversed;
};

Result<Dims> operand_axes(OpCall& n, const Attributes& numbers, std::string_view operand, std::string_view first, std::string_view second) {
  BUDA_ASSIGN(std::int64_t a, n.integer_in(numbers, cat(operand, first), -1));
  BUDA_ASSIGN(std::int64_t b, n.integer_in(numbers, cat(operand, second), -1));
  BUDA_ASSIGN(Dims spatial, n.integers_in(numbers, cat(operand, "_spatial_dimensions")));
  Dims out{a, b};
  out.insert(out.end(), spatial.begin(), spatial.end());
  Dims sorted = out;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) return n.refuse(cat("its dimension numbers do not name each axis of its ", operand));
  return out;
}

Result<ConvolutionWindow> convolution_window(OpCall& n, std::size_t spatial) {
  ConvolutionWindow w;
  BUDA_ASSIGN(w.strides, n.integers_or("window_strides", Dims(spatial, 1)));
  BUDA_ASSIGN(w.base_dilations, n.integers_or("lhs_dilation", Dims(spatial, 1)));
  BUDA_ASSIGN(w.dilations, n.integers_or("rhs_dilation", Dims(spatial, 1)));
  if (w.strides.size() != spatial || w.base_dilations.size() != spatial || w.dilations.size() != spatial)
    return n.refuse(cat("its window has not ", spatial, " axes"));
  const Attribute* reversal = n.attribute("window_reversal");
  w.reversed.assign(spatial, false);
  if (reversal != nullptr) {
    if (const auto* list = reversal->as<Attribute::List>()) {
      for (std::size_t i = 0; i < std::min(spatial, list->size()); ++i) {
        const auto* flag = (*list)[i].as<bool>();
        const auto* number = (*list)[i].as<std::int64_t>();
        w.reversed[i] = (flag != nullptr && *flag) || (number != nullptr && *number != 0);
      }
    } else {
      BUDA_ASSIGN(Dims flags, n.integers("window_reversal"));
      for (std::size_t i = 0; i < std::min(spatial, flags.size()); ++i) w.reversed[i] = flags[i] != 0;
    }
  }
  for (const Dims* list : {&w.strides, &w.base_dilations, &w.dilations})
    for (auto v : *list)
      if (v < 1 || v > (1 << 30)) return n.refuse(cat("its window has the stride or dilation ", v));
  return w;
}

// Padding may be written as pairs in a list.
Result<void> read_padding(OpCall& n, ConvolutionWindow& w, std::size_t spatial) {
  Dims flat;
  const Attribute* padding = n.attribute("padding");
  const auto* rows = padding == nullptr ? nullptr : padding->as<Attribute::List>();
  if (rows != nullptr && !rows->empty() && (*rows)[0].as<Attribute::List>() != nullptr) {
    for (const Attribute& row : *rows)
      if (const auto* pair = row.as<Attribute::List>())
        for (const Attribute& v : *pair)
          if (const auto* i = v.as<std::int64_t>()) flat.push_back(*i);
  } else {
    BUDA_ASSIGN(flat, n.integers_or("padding", Dims(2 * spatial, 0)));
  }
  if (flat.size() != 2 * spatial) return n.refuse(cat("its padding has not ", spatial, " pairs"));
  for (std::size_t i = 0; i < spatial; ++i) {
    w.low.push_back(flat[2 * i]);
    w.high.push_back(flat[2 * i + 1]);
    if (std::max(std::abs(flat[2 * i]), std::abs(flat[2 * i + 1])) > (1 << 30)) return n.refuse("its padding is too large");
  }
  return success();
}

bool is_order(const Dims& axes) { return std::is_sorted(axes.begin(), axes.end()); }

// Groups of samples: each convolves with its own part of the output features. They become groups of features.
Ref batches_as_features(OpCall& n, Ref x, std::int64_t groups) {
  Dims shape = n.shape_of(x).dims();
  Dims apart{groups, shape[0] / groups};
  apart.insert(apart.end(), shape.begin() + 1, shape.end());
  Ref out = n.step("groups").reshape(x, Shape(Dims(apart)));
  Dims order{1, 0};
  for (std::size_t i = 2; i < apart.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
  out = n.step("grouped").transpose(out, order);
  shape[0] /= groups;
  shape[1] *= groups;
  return n.step("features").reshape(out, Shape(std::move(shape)));
}

// On [batch, feature, spatial…], of one to three spatial axes.
Result<Ref> convolved(OpCall& n, const ConvolutionAxes& axes, ConvolutionWindow w, std::int64_t groups, std::int64_t batch_groups, Ref x,
                      Ref kernel) {
  std::size_t spatial = axes.input.size() - 2;
  if (!is_order(axes.input)) x = n.step("first").transpose(x, axes.input);
  if (!is_order(axes.kernel)) kernel = n.step("weights").transpose(kernel, axes.kernel);
  for (std::size_t i = 0; i < spatial; ++i)
    if (w.reversed[i]) {
      const Dims axis{static_cast<std::int64_t>(i) + 2};
      kernel = n.op("slice", {kernel}, {{"dims", axis}, {"starts", Dims{-1}}, {"stops", Dims{INT64_MIN}}, {"steps", Dims{-1}}});
    }
  if (batch_groups > 1) {
    if (n.shape_of(x)[0] % batch_groups != 0) return n.refuse("its batch_group_count does not divide the batch");
    x = batches_as_features(n, x, batch_groups);
  }
  Dims low(spatial + 2, 0), high = low, between = low;
  bool pads = false;
  for (std::size_t i = 0; i < spatial; ++i) {
    const bool apart = w.base_dilations[i] != 1 || w.low[i] < 0 || w.high[i] < 0;
    between[i + 2] = w.base_dilations[i] - 1;
    if (!apart) continue;
    pads = true;
    low[i + 2] = std::exchange(w.low[i], 0);
    high[i + 2] = std::exchange(w.high[i], 0);
  }
  if (pads) {
    BUDA_ASSIGN(x, with_padding(n, x, n.scalar(0, n.dtype_of(x)), low, high, between));
  }
  if (spatial == 0) {
    Dims wide = n.shape_of(x).dims(), weights = n.shape_of(kernel).dims();
    wide.push_back(1);
    weights.push_back(1);
    x = n.step("wide").reshape(x, Shape(std::move(wide)));
    kernel = n.step("wide").reshape(kernel, Shape(std::move(weights)));
    w.strides = w.dilations = {1};
    w.low = w.high = {0};
  }
  Dims padding = w.low;
  padding.insert(padding.end(), w.high.begin(), w.high.end());
  ops::AttrMap attrs{{"stride", w.strides}, {"padding", padding}, {"dilation", w.dilations}};
  if (groups * batch_groups != 1) attrs["groups"] = groups * batch_groups;
  Ref out = n.op(cat("conv", std::max<std::size_t>(spatial, 1), 'd'), {x, kernel}, std::move(attrs));
  if (spatial == 0 && n.shape_of(out).rank() == 3) {
    const Shape shape = n.shape_of(out);
    out = n.step("narrow").reshape(out, Shape{shape[0], shape[1]});
  }
  if (is_order(axes.output)) return out;
  Dims back(axes.output.size());
  for (std::size_t i = 0; i < back.size(); ++i) back[static_cast<std::size_t>(axes.output[i])] = static_cast<std::int64_t>(i);
  return n.step("last").transpose(out, back);
}

Result<void> convolution(OpCall& n) {
  BUDA_TRY(n.expect_inputs(2, 2));
  ConvolutionAxes axes;
  BUDA_ASSIGN(Attributes numbers, n.group("dimension_numbers"));
  BUDA_ASSIGN(axes.input, operand_axes(n, numbers, "input", "_batch_dimension", "_feature_dimension"));
  BUDA_ASSIGN(axes.kernel, operand_axes(n, numbers, "kernel", "_output_feature_dimension", "_input_feature_dimension"));
  BUDA_ASSIGN(axes.output, operand_axes(n, numbers, "output", "_batch_dimension", "_feature_dimension"));
  const std::size_t rank = n.shape(0).rank();
  if (axes.input.size() != rank || axes.kernel.size() != rank || axes.output.size() != rank || n.shape(1).rank() != rank)
    return n.refuse("its dimension numbers do not fit its operands");
  if (rank > 5) return n.refuse(cat("has ", rank - 2, " spatial axes; up to 3 are supported"));
  BUDA_ASSIGN(ConvolutionWindow w, convolution_window(n, rank - 2));
  BUDA_TRY(read_padding(n, w, rank - 2));
  BUDA_ASSIGN(std::int64_t groups, n.integer_or("feature_group_count", 1));
  BUDA_ASSIGN(std::int64_t batch_groups, n.integer_or("batch_group_count", 1));
  if (groups < 1 || batch_groups < 1 || groups > (1 << 30) || batch_groups > (1 << 30)) return n.refuse("has a group count below 1");
  const DType to = n.result_type().dtype.value_or(n.dtype(0));
  // A window that does not fit gives nothing.
  if (const Shape stated(Dims(n.result_type().dims)); !n.result_type().has_open_sizes() && stated.volume() == 0) {
    const Ref none = n.broadcast_to(n.scalar(0, to), stated);
    n.output(none, n.is_complex(0) ? none : Ref(), 0);
    return success();
  }
  auto part = [&](Ref x, Ref kernel) { return convolved(n, axes, w, groups, batch_groups, n.cast(x, to), n.cast(kernel, to)); };
  return n.output_product(part);
}

// ---- Fourier transforms, along the last axes

// The op of ours has real and imaginary parts along a last axis.
Ref joined_parts(OpCall& n, Ref re, Ref im) {
  Dims wider = n.shape_of(re).dims();
  wider.push_back(1);
  const Ref a = n.step("real").reshape(re, Shape(Dims(wider)));
  if (!im.valid()) return a;
  const Ref b = n.step("imaginary").reshape(im, Shape(std::move(wider)));
  return n.step("parts").concatenate({a, b}, -1);
}

Ref one_part(OpCall& n, Ref both, std::int64_t part) {
  Dims narrower = n.shape_of(both).dims();
  narrower.pop_back();
  const Ref slice = n.step("part").slice(both, -1, part, part + 1);
  return n.step(part == 0 ? "real" : "imaginary").reshape(slice, Shape(std::move(narrower)));
}

// What the transform of real numbers leaves out: conj(x[n - k]).
Ref mirrored(OpCall& n, Ref both, std::int64_t axis, std::int64_t length) {
  const std::int64_t known = length / 2 + 1, missing = length - known;
  if (missing <= 0) return both;
  const Ref tail = n.step("tail").slice(both, axis, 1, missing + 1);
  const Ref turned = n.op("slice", {tail}, {{"dims", Dims{axis}}, {"starts", Dims{-1}}, {"stops", Dims{INT64_MIN}}, {"steps", Dims{-1}}});
  const Ref signs = n.constant(Tensor(Shape{2}, std::vector<float>{1, -1}).cast(n.dtype_of(both)));
  const Ref conjugate = n.step("conjugate").multiply(turned, signs);
  return n.step("mirrored").concatenate({both, conjugate}, axis);
}

Result<void> fft(OpCall& n) {
  BUDA_TRY(n.expect_inputs(1, 1));
  const std::string type = n.text("fft_type");
  BUDA_ASSIGN(Dims lengths, n.integers("fft_length"));
  const Shape shape = n.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.rank()), count = static_cast<std::int64_t>(lengths.size());
  if (count < 1 || count > 3 || count > rank) return n.refuse("transforms along one to three axes");
  if ((type == "RFFT") == n.is_complex(0)) return n.refuse(cat("is an ", type, " of ", n.is_complex(0) ? "complex" : "real", " numbers"));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(rank - count + i)], length = lengths[static_cast<std::size_t>(i)];
    const bool half = type == "IRFFT" && i == count - 1;
    if (length < 0 || size != (half ? length / 2 + 1 : length))
      return n.refuse(cat("has the lengths ", list_text(lengths), " for shape ", shape.text()));
  }
  if (shape.volume() == 0 || lengths.back() == 0) {
    BUDA_ASSIGN(Shape to, n.stated_shape());
    const Ref zero = n.broadcast_to(n.scalar(0, n.dtype(0)), to);
    n.output(zero, type == "IRFFT" ? Ref() : zero, 0);
    return success();
  }
  const bool inverse = type == "IFFT" || type == "IRFFT";
  if (!inverse && type != "FFT" && type != "RFFT") return n.refuse(cat("its fft_type is '", type, '\''));
  Ref both = joined_parts(n, n.real(0), n.is_complex(0) ? n.imaginary(0) : Ref());
  auto transform = [&](std::int64_t axis, bool onesided) {
    both = n.op("dft", {both}, {{"dim", axis}, {"inverse", inverse}, {"onesided", onesided}});
  };
  if (type == "RFFT") transform(rank - 1, true);
  for (std::int64_t axis = rank - count; axis < rank - (type == "RFFT" || type == "IRFFT" ? 1 : 0); ++axis) transform(axis, false);
  if (type == "IRFFT") {
    both = mirrored(n, both, rank - 1, lengths.back());
    transform(rank - 1, false);
    n.output(one_part(n, both, 0));
    return success();
  }
  const Ref re = one_part(n, both, 0);
  n.output(re, one_part(n, both, 1), 0);
  return success();
}

constexpr OpImporter kConvolutionOps[] = {
    {"stablehlo.convolution", convolution, Scope::whole, {}, "up to 3 spatial axes"},
    {"stablehlo.fft", fft},
};

}  // namespace

std::span<const OpImporter> convolution_ops() { return kConvolutionOps; }

}  // namespace buda::stablehlo
