// SPDX-License-Identifier: Apache-2.0
// SVDF: a layer over time as a product of two thin matrices. Each filter makes one number of each input; these numbers of the last runs are
// its memory, and the weights in time sum them. `rank` filters add up to one result.
#include "quantized.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tflite_frontend {

namespace format = tflite_format;

namespace {

using Ref = NodeImport::Ref;

enum SvdfInput : std::size_t { kSvdfX, kFeatures, kTime, kSvdfBias, kSvdfState };

struct SvdfSizes {
  std::int64_t batch = 1, filters = 1, memory = 1, rank = 1;
  Shape memory_shape() const { return {batch, filters, memory}; }
};

Result<SvdfSizes> svdf_sizes(NodeImport& n) {
  if (n.input_count() != 5) return n.refuse(cat("has ", n.input_count(), " inputs; 5 are needed"));
  BUDA_ASSIGN(Shape x, n.shape(kSvdfX));
  BUDA_ASSIGN(Shape features, n.shape(kFeatures));
  BUDA_ASSIGN(Shape time, n.shape(kTime));
  SvdfSizes s;
  s.rank = n.options<format::SVDFOptions>().rank();
  bool fits = x.rank() == 2 && features.rank() == 2 && time.rank() == 2 && x[1] == features[1] && time[0] == features[0];
  if (!fits)
    return n.refuse(cat("its input ", x.text(), ", weights of features ", features.text(), " and of time ", time.text(), " do not fit"));
  s.batch = x[0];
  s.filters = features[0];
  s.memory = time[1];
  if (s.rank < 1 || s.memory < 1 || s.filters % s.rank != 0)
    return n.refuse(cat("its ", s.filters, " filters with a memory of ", s.memory, " do not fit its rank ", s.rank));
  if (n.has_input(kSvdfBias)) {
    BUDA_ASSIGN(Shape bias, n.shape(kSvdfBias));
    if (bias != Shape{s.filters / s.rank})
      return n.refuse(cat("its bias is ", bias.text(), "; ", s.filters / s.rank, " numbers are needed"));
  }
  return s;
}

// The memory with its oldest numbers replaced by those of this run, as the last ones.
Ref advanced(NodeImport& n, const SvdfSizes& s, Ref before, Ref newest) {
  Ref last = n.step("newest").reshape(newest, Shape{s.batch, s.filters, 1});
  if (s.memory == 1) return last;
  Ref rest = n.step("rest").slice(before, 2, 1, s.memory);
  return n.step("memory").concatenate({rest, last}, 2);
}

// [batch, filters, memory] times [filters, memory], summed over time and over the filters of a result.
Ref summed(NodeImport& n, const SvdfSizes& s, Ref memory, Ref weights) {
  Ref products = n.step("products").multiply(memory, weights);
  Ref of_filters = n.step("filters").reduce_sum(products, {2}, false);
  if (s.rank == 1) return of_filters;
  Ref ranks = n.step("ranks").reshape(of_filters, Shape{s.batch, s.filters / s.rank, s.rank});
  return n.step("sums").reduce_sum(ranks, {2}, false);
}

bool has_integer_svdf(const NodeImport& n) {
  auto stored = [&](std::size_t i) { return n.input_info(i).is_quantized() && !n.input_info(i).quantization->per_slice(); };
  auto type = [&](std::size_t i) { return n.input_info(i).dtype.value_or(DType::f32); };
  bool fits = stored(kSvdfX) && stored(kFeatures) && stored(kTime) && stored(kSvdfState) && type(kSvdfX) == DType::i8 &&
              type(kFeatures) == DType::i8;
  fits =
      fits && (type(kTime) == DType::i8 || type(kTime) == DType::i16) && (type(kSvdfState) == DType::i8 || type(kSvdfState) == DType::i16);
  fits = fits && n.input_info(kFeatures).quantization->zero_points[0] == 0 && n.input_info(kTime).quantization->zero_points[0] == 0;
  return fits && (!n.has_input(kSvdfBias) || type(kSvdfBias) == DType::i32) && n.output_info(0).dtype == DType::i8;
}

// The reference multiplies scales in fp32, and leaves the activation to the result's range.
Result<void> svdf_in_integers(NodeImport& n, const SvdfSizes& s) {
  auto scale = [&](std::size_t i) { return n.input_info(i).quantization->scales[0]; };
  const TensorInfo &state = n.input_info(kSvdfState), &result = n.output_info(0);
  BUDA_ASSIGN(Ref before, n.state(kSvdfState, s.memory_shape(), false));
  Ref x = centred(n, kSvdfX, n.input(kSvdfX), DType::i32, "x");
  Ref weights = n.cast(n.input(kFeatures), DType::i32, "features");
  Ref columns = n.step("features.columns").transpose(weights, {1, 0});
  Ref product = n.step("product").matmul(x, columns);
  Ref newest = rescaled(n, "scaled", product, static_cast<double>(scale(kSvdfX) * scale(kFeatures) / scale(kSvdfState)), state);
  Ref memory = advanced(n, s, before, newest);
  n.keep_state(kSvdfState, memory, false);
  Ref numbers = centred(n, kSvdfState, memory, DType::i32, "memory");
  Ref time = n.cast(n.input(kTime), DType::i32, "time");
  Ref sum = summed(n, s, numbers, time);
  if (n.has_input(kSvdfBias)) {
    Ref bias = n.input(kSvdfBias);
    sum = n.step("biased").add(sum, bias);
  }
  float factor = scale(kSvdfState) * scale(kTime) / result.quantization->scales[0];
  n.output(rescaled_by(n, sum, fixed_factor(static_cast<double>(factor))));
  return success();
}

Result<void> svdf_in_numbers(NodeImport& n, const SvdfSizes& s) {
  auto activation = n.options<format::SVDFOptions>().activation();
  BUDA_ASSIGN(Ref before, n.state(kSvdfState, s.memory_shape(), true));
  Ref x = n.number(kSvdfX), weights = n.number(kFeatures), time = n.number(kTime);
  Ref columns = n.step("features.columns").transpose(weights, {1, 0});
  Ref newest = n.step("product").matmul(x, columns);
  Ref memory = advanced(n, s, before, newest);
  n.keep_state(kSvdfState, memory, true);
  Ref sum = summed(n, s, memory, time);
  if (n.has_input(kSvdfBias)) {
    Ref bias = n.number(kSvdfBias);
    sum = n.before(activation).add(sum, bias);
  }
  BUDA_ASSIGN(sum, n.activated(sum, activation));
  n.output_number(sum);
  return success();
}

}  // namespace

Result<void> import_svdf(NodeImport& n) {
  BUDA_ASSIGN(SvdfSizes s, svdf_sizes(n));
  return n.is_exact() && has_integer_svdf(n) && !n.output_info(0).quantization->per_slice() ? svdf_in_integers(n, s)
                                                                                            : svdf_in_numbers(n, s);
}

}  // namespace buda::tflite_frontend
