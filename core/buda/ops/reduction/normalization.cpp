// SPDX-License-Identifier: Apache-2.0
// Operations on whole lines of a value: softmax, its logarithm, layer normalisation.
//
// Sums are taken in fp64 in the order of the axis, exponentials in the element type. The stable softmax subtracts the line's maximum first,
// which changes nothing mathematically and keeps every exponential at or below 1.
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/strided.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cmath>

namespace buda::ops {
namespace {

Result<std::vector<ValueType>> infer_softmax(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::floats));
  BUDA_TRY(resolved_axis(call.inputs[0].shape, call.attrs.integer("dim")));
  return like_first(call);
}

// A line of elements that lie `step` apart.
template <class T>
struct Line {
  const T* in;
  T* out;
  std::int64_t size;
  std::int64_t step;
};

template <class T>
T largest(const Line<T>& line) {
  T most = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < line.size; ++i) most = larger(most, line.in[i * line.step]);
  return most;
}

template <class T>
void softmax_line(const Line<T>& line, bool stable) {
  T shift = stable ? largest(line) : T{0};
  double sum = 0;
  for (std::int64_t i = 0; i < line.size; ++i) {
    T e = std::exp(line.in[i * line.step] - shift);
    line.out[i * line.step] = e;
    sum += static_cast<double>(e);
  }
  for (std::int64_t i = 0; i < line.size; ++i) line.out[i * line.step] = static_cast<T>(static_cast<double>(line.out[i * line.step]) / sum);
}

template <class T>
void log_softmax_line(const Line<T>& line) {
  T shift = largest(line);
  double sum = 0;
  for (std::int64_t i = 0; i < line.size; ++i) sum += static_cast<double>(std::exp(line.in[i * line.step] - shift));
  double log_sum = std::log(sum);
  for (std::int64_t i = 0; i < line.size; ++i)
    line.out[i * line.step] = static_cast<T>(static_cast<double>(line.in[i * line.step] - shift) - log_sum);
}

// f for every line along an axis.
template <class T, class F>
Result<Tensor> by_lines(const Tensor& in, std::size_t axis, unsigned threads, F&& f) {
  Tensor source = in.cast(kDTypeOf<T>);
  const Shape& shape = in.shape();
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, shape));
  std::int64_t size = shape[axis], step = shape.strides()[axis];
  const T* x = source.as<T>().data();
  T* y = out.as<T>().data();
  std::int64_t lines = size == 0 ? 0 : static_cast<std::int64_t>(in.size()) / size;
  std::int64_t chunk = std::max<std::int64_t>(1, kElementsPerChunk / std::max<std::int64_t>(1, size));
  parallel_for(threads, static_cast<std::size_t>((lines + chunk - 1) / chunk), [&](std::size_t c) {
    std::int64_t begin = static_cast<std::int64_t>(c) * chunk, end = std::min(begin + chunk, lines);
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t at = i / step * step * size + i % step;
      f(Line<T>{x + at, y + at, size, step});
    }
  });
  return std::move(out).take().cast(in.dtype());
}

Result<std::vector<Tensor>> evaluate_softmax(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  BUDA_ASSIGN(std::size_t axis, resolved_axis(in.shape(), call.attrs.integer("dim")));
  bool stable = call.attrs.boolean("stable");
  return visit_compute<false>(compute_dtype(in.dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return one_tensor(by_lines<T>(in, axis, call.threads, [stable](const Line<T>& line) { softmax_line(line, stable); }));
  });
}

Result<std::vector<Tensor>> evaluate_log_softmax(const EvaluateCall& call) {
  const Tensor& in = call.inputs[0];
  BUDA_ASSIGN(std::size_t axis, resolved_axis(in.shape(), call.attrs.integer("dim")));
  return visit_compute<false>(compute_dtype(in.dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return one_tensor(by_lines<T>(in, axis, call.threads, [](const Line<T>& line) { log_softmax_line(line); }));
  });
}

double softmax_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs&) {
  return 5 * volume(inputs[0].shape);  // maximum, subtraction, exponential, sum, division
}

// ---- layernorm

// The axes that are normalised together: from `dim` to the last.
Result<Shape> normalised(const Shape& in, const Attrs& attrs) {
  BUDA_ASSIGN(std::size_t axis, resolved_axis(in, attrs.integer("dim")));
  return Shape(std::vector<std::int64_t>(in.begin() + static_cast<std::ptrdiff_t>(axis), in.end()));
}

Result<std::vector<ValueType>> infer_layernorm(const InferCall& call) {
  BUDA_TRY(common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(Shape line, normalised(call.inputs[0].shape, call.attrs));
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    if (broadcast(line, call.inputs[i].shape) != line)
      return shape_error(cat(i == 1 ? "the weights " : "the bias ", call.inputs[i].shape.text(),
                             " do not broadcast to what is normalised, which is of shape ", line.text()));
  return like_first(call);
}

template <class T>
void normalise_line(const Line<T>& line, double epsilon) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < line.size; ++i) sum += static_cast<double>(line.in[i]);
  double mean = sum / static_cast<double>(line.size);
  for (std::int64_t i = 0; i < line.size; ++i) {
    double d = static_cast<double>(line.in[i]) - mean;
    squares += d * d;
  }
  double scale = 1 / std::sqrt(squares / static_cast<double>(line.size) + epsilon);
  for (std::int64_t i = 0; i < line.size; ++i) line.out[i] = static_cast<T>((static_cast<double>(line.in[i]) - mean) * scale);
}

template <class T>
Result<Tensor> layernorm(const EvaluateCall& call, const Shape& line) {
  const Shape& shape = call.inputs[0].shape();
  double epsilon = call.attrs.real("epsilon");
  std::int64_t size = line.volume().value_or(0);
  std::int64_t lines = size == 0 ? 0 : static_cast<std::int64_t>(call.inputs[0].size()) / size;
  BUDA_ASSIGN(Tensor flat, call.inputs[0].cast(kDTypeOf<T>).reshaped({lines, size}));
  BUDA_ASSIGN(flat, by_lines<T>(flat, 1, call.threads, [epsilon](const Line<T>& l) { normalise_line(l, epsilon); }));
  BUDA_ASSIGN(Tensor out, flat.reshaped(shape));
  if (call.inputs.size() > 1) {
    BUDA_ASSIGN(out, combined<T>(out, call.inputs[1], shape, call.threads, [](T x, T y) { return x * y; }));
  }
  if (call.inputs.size() > 2) {
    BUDA_ASSIGN(out, combined<T>(out, call.inputs[2], shape, call.threads, [](T x, T y) { return x + y; }));
  }
  return out;
}

Result<std::vector<Tensor>> evaluate_layernorm(const EvaluateCall& call) {
  DType dtype = call.outputs[0].dtype;
  BUDA_ASSIGN(Shape line, normalised(call.inputs[0].shape(), call.attrs));
  return visit_compute<false>(compute_dtype(dtype), [&](auto tag) -> Result<std::vector<Tensor>> {
    BUDA_ASSIGN(Tensor out, layernorm<typename decltype(tag)::type>(call, line));
    return std::vector<Tensor>{out.cast(dtype)};
  });
}

double layernorm_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs&) {
  return static_cast<double>(6 + inputs.size()) * volume(inputs[0].shape);
}

}  // namespace

std::vector<OpDef> nn_ops() {
  AttrDef dim{"dim", AttrType::integer, std::nullopt, "the axis along which results sum to 1, negative from the end", {}};
  OpDef softmax{.name = "softmax",
                .level = Level::tensor,
                .family = "nn",
                .summary = "e^x divided by the sum of e^x along an axis",
                .inputs = {"x"},
                .least_inputs = 1,
                .most_inputs = 1,
                .attrs = {dim, {"stable", AttrType::boolean, true, "subtract the maximum first", {}}},
                .infer = infer_softmax,
                .evaluate = evaluate_softmax,
                .flops = softmax_flops,
                .precise = true};
  OpDef log_softmax = softmax;
  log_softmax.name = "log_softmax";
  log_softmax.summary = "natural logarithm of softmax";
  dim.doc = "the axis, negative from the end";
  log_softmax.attrs = {dim};
  log_softmax.evaluate = evaluate_log_softmax;
  OpDef layernorm{.name = "layernorm",
                  .level = Level::tensor,
                  .family = "nn",
                  .summary = "(x - mean) / sqrt(variance + epsilon) * weights + bias, mean and variance being taken along the last axes",
                  .inputs = {"x", "weights", "bias"},
                  .least_inputs = 1,
                  .most_inputs = 3,
                  .attrs = {{"dim", AttrType::integer, std::int64_t{-1}, "first of the axes that are normalised together", {}},
                            {"epsilon", AttrType::real, 1e-5, "added to the variance", {}}},
                  .infer = infer_layernorm,
                  .evaluate = evaluate_layernorm,
                  .flops = layernorm_flops,
                  .precise = true};
  return {std::move(softmax), std::move(log_softmax), std::move(layernorm)};
}

}  // namespace buda::ops
