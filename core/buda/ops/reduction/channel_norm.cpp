// SPDX-License-Identifier: Apache-2.0
// Normalisation with stored or local statistics: batchnorm, lrn.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cmath>

namespace buda::ops {
namespace {

// x seen as [samples, channels, elements of a channel].
struct Channels {
  std::int64_t samples = 0, channels = 0, size = 0;

  static Result<Channels> of(const Shape& x) {
    if (x.rank() < 2) return shape_error(cat("x is ", x.text(), "; it needs samples and channels as its first axes"));
    Channels c{x[0], x[1], 1};
    for (std::size_t i = 2; i < x.rank(); ++i) c.size *= x.volume() == 0 ? 0 : x[i];
    return c;
  }
};

// ---- batchnorm

Result<std::vector<ValueType>> infer_batchnorm(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(Channels c, Channels::of(call.inputs[0].shape));
  constexpr std::string_view kNames[] = {"x", "weights", "bias", "mean", "variance"};
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    if (call.inputs[i].shape != Shape{c.channels})
      return shape_error(
          cat("the ", kNames[i], " is ", call.inputs[i].shape.text(), "; it needs one number for each of ", c.channels, " channels"));
  return like_first(call);
}

template <class T>
Result<Tensor> batch_normalised(const EvaluateCall& call) {
  std::vector<Tensor> in;
  for (const Tensor& t : call.inputs) in.push_back(t.cast(kDTypeOf<T>));
  BUDA_ASSIGN(Channels c, Channels::of(in[0].shape()));
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, in[0].shape()));
  const T* x = in[0].as<T>().data();
  T* y = out.as<T>().data();
  double epsilon = call.attrs.real("epsilon");
  auto count = static_cast<std::size_t>(c.size == 0 ? 0 : c.samples * c.channels);
  parallel_for(call.threads, count, [&](std::size_t i) {
    auto of = [&](std::size_t input) { return static_cast<double>(in[input].template as<T>()[i % static_cast<std::size_t>(c.channels)]); };
    double factor = of(1) / std::sqrt(of(4) + epsilon);
    auto scale = static_cast<T>(factor), shift = static_cast<T>(of(2) - of(3) * factor);
    std::int64_t begin = static_cast<std::int64_t>(i) * c.size;
    for (std::int64_t k = begin; k < begin + c.size; ++k) y[k] = x[k] * scale + shift;
  });
  return std::move(out).take().cast(call.outputs[0].dtype);
}

Result<std::vector<Tensor>> evaluate_batchnorm(const EvaluateCall& call) {
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype),
                              [&](auto tag) { return one_tensor(batch_normalised<typename decltype(tag)::type>(call)); });
}

double batchnorm_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs&) { return 2 * volume(inputs[0].shape); }

// ---- lrn

Result<std::vector<ValueType>> infer_lrn(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::floats));
  BUDA_TRY(Channels::of(call.inputs[0].shape));
  if (call.attrs.integer("size") < 1) return shape_error(cat("a neighbourhood of ", call.attrs.integer("size"), " channels is impossible"));
  return like_first(call);
}

// One channel of one sample; its neighbours are channels [first, last) of the sample.
template <class T>
void lrn_channel(const T* sample, std::int64_t size, std::int64_t channel, std::int64_t first, std::int64_t last, const Attrs& attrs,
                 T* y) {
  std::vector<double> squares(static_cast<std::size_t>(size), 0);
  for (std::int64_t c = first; c < last; ++c)
    for (std::int64_t k = 0; k < size; ++k) {
      auto v = static_cast<double>(sample[c * size + k]);
      squares[static_cast<std::size_t>(k)] += v * v;
    }
  double factor = attrs.real("alpha") / static_cast<double>(attrs.integer("size")), beta = attrs.real("beta"), bias = attrs.real("bias");
  for (std::int64_t k = 0; k < size; ++k)
    y[k] = static_cast<T>(static_cast<double>(sample[channel * size + k]) /
                          std::pow(bias + factor * squares[static_cast<std::size_t>(k)], beta));
}

template <class T>
Result<Tensor> locally_normalised(const EvaluateCall& call) {
  Tensor in = call.inputs[0].cast(kDTypeOf<T>);
  BUDA_ASSIGN(Channels c, Channels::of(in.shape()));
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, in.shape()));
  const T* x = in.as<T>().data();
  T* y = out.as<T>().data();
  std::int64_t size = std::min(call.attrs.integer("size"), 2 * c.channels + 1);  // more reach no further
  std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  parallel_for(call.threads, static_cast<std::size_t>(c.size == 0 ? 0 : c.samples * c.channels), [&](std::size_t i) {
    std::int64_t sample = static_cast<std::int64_t>(i) / c.channels, channel = static_cast<std::int64_t>(i) % c.channels;
    lrn_channel(x + sample * c.channels * c.size, c.size, channel, std::max<std::int64_t>(0, channel - before),
                std::min(c.channels, channel + after + 1), call.attrs, y + static_cast<std::int64_t>(i) * c.size);
  });
  return std::move(out).take().cast(call.outputs[0].dtype);
}

Result<std::vector<Tensor>> evaluate_lrn(const EvaluateCall& call) {
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype),
                              [&](auto tag) { return one_tensor(locally_normalised<typename decltype(tag)::type>(call)); });
}

double lrn_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs& attrs) {
  return volume(inputs[0].shape) * (2 * static_cast<double>(attrs.integer("size")) + 3);
}

}  // namespace

std::vector<OpDef> channel_norm_ops() {
  OpDef batchnorm{.name = "batchnorm",
                  .level = Level::tensor,
                  .family = "channel_norm",
                  .summary = "(x - mean) / sqrt(variance + epsilon) * weights + bias, with one number of each for a channel (axis 1)",
                  .inputs = {"x", "weights", "bias", "mean", "variance"},
                  .least_inputs = 5,
                  .most_inputs = 5,
                  .attrs = {{"epsilon", AttrType::real, 1e-5, "added to the variance", {}}},
                  .infer = infer_batchnorm,
                  .evaluate = evaluate_batchnorm,
                  .flops = batchnorm_flops};
  OpDef lrn{
      .name = "lrn",
      .level = Level::tensor,
      .family = "channel_norm",
      .summary = "x / (bias + alpha / size * sum of squares of neighbouring channels)^beta",
      .inputs = {"x"},
      .least_inputs = 1,
      .most_inputs = 1,
      .attrs = {{"size", AttrType::integer, std::nullopt, "channels in a neighbourhood; of an even number one more after than before", {}},
                {"alpha", AttrType::real, 1e-4, "factor of the mean square", {}},
                {"beta", AttrType::real, 0.75, "exponent", {}},
                {"bias", AttrType::real, 1.0, "added to it", {}}},
      .infer = infer_lrn,
      .evaluate = evaluate_lrn,
      .flops = lrn_flops};
  return {std::move(batchnorm), std::move(lrn)};
}

}  // namespace buda::ops
