// SPDX-License-Identifier: Apache-2.0
// Normalisations by channel, by sample or by line: BatchNormalization, InstanceNormalization, GroupNormalization, LRN, LpNormalization,
// MeanVarianceNormalization. Those that have no op of their own are put together from others.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/frontend/training_mode.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;
using Ref = NodeImport::Ref;

Tensor number_like(double value, DType dtype) { return Tensor::scalar(value).cast(dtype); }

// running * momentum + current * (1 - momentum)
Ref moved(NodeImport& n, std::string_view what, Ref running, Ref current, double momentum, DType dtype) {
  Ref keep = n.step(cat(what, ".momentum")).constant(number_like(momentum, dtype));
  Ref take = n.step(cat(what, ".rest")).constant(number_like(1 - momentum, dtype));
  Ref old_part = n.step(cat(what, ".old")).multiply(running, keep);
  Ref new_part = n.step(cat(what, ".new")).multiply(current, take);
  return n.step(what).add(old_part, new_part);
}

// The statistics are those of the input; results 1 and 2 are the running ones, moved towards them.
Result<void> import_training(NodeImport& n, const Shape& shape) {
  BUDA_ASSIGN(auto type, n.type(3));
  Dims axes;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (i != 1) axes.push_back(static_cast<std::int64_t>(i));
  double momentum = n.real("momentum", 0.9), epsilon = n.real("epsilon", 1e-5);
  Ref x = n.input(0), scale = n.input(1), bias = n.input(2), mean = n.input(3), variance = n.input(4);
  if (n.keeps_training()) {
    BUDA_ASSIGN(const auto results, frontend::batch_norm_in_training(n, n.name(), {x, scale, bias, mean, variance, epsilon, 1 - momentum}));
    n.output(results.y);
    if (n.has_output(1)) n.output(moved(n, "running_mean", mean, results.mean, momentum, type.dtype), 1);
    if (n.has_output(2)) n.output(moved(n, "running_variance", variance, results.variance, momentum, type.dtype), 2);
    return success();
  }
  Ref current_mean = n.step("mean").reduce_avg(x, axes, false);
  Ref column = n.step("mean.column").reshape(current_mean, frontend::channel_shape(shape[1], shape.rank()));
  Ref centred = n.step("centred").subtract(x, column);
  Ref squares = n.step("squares").square(centred);
  Ref current_variance = n.step("variance").reduce_avg(squares, axes, false);
  n.output(n.result().op("batchnorm", {x, scale, bias, current_mean, current_variance}, {{"epsilon", epsilon}}));
  if (n.has_output(1)) n.output(moved(n, "running_mean", mean, current_mean, momentum, type.dtype), 1);
  if (n.has_output(2)) n.output(moved(n, "running_variance", variance, current_variance, momentum, type.dtype), 2);
  return n.refuse_outputs_from(3, "is not read");
}

Result<void> import_batch_normalization(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  if (shape.rank() < 2) return n.refuse(cat("its input is ", shape.text(), "; it needs samples and channels as its first axes"));
  if (n.integer("spatial", 1) == 0)
    return n.refuse("has statistics for each element of a channel (spatial = 0); those for each channel are supported");
  // Before opset 14 a node in training mode is one that gives running statistics, and before opset 7 training is the standard.
  const bool trains = n.opset() < 7 ? n.integer("is_test", 0) == 0 : n.opset() < 14 ? n.has_output(1) : n.integer("training_mode", 0) != 0;
  if (n.keeps_training() && trains) return import_training(n, shape);
  if (n.opset() < 7 && n.integer("is_test", 0) == 0) return n.refuse("is in training mode (is_test = 0); only inference is supported");
  if (n.integer("training_mode", 0) != 0) return import_training(n, shape);
  BUDA_TRY(n.refuse_outputs_from(1, "serves training; only inference is supported"));
  std::vector<graph::Edge> inputs;
  for (std::size_t i = 0; i < 5; ++i) inputs.emplace_back(n.input(i));
  n.output(n.result().op("batchnorm", std::move(inputs), {{"epsilon", n.real("epsilon", 1e-5)}}));
  return success();
}

// The input seen as `lines`, each of them normalised by its own mean and variance; then, seen as `shape`, times a scale and plus a bias
// that have one number for each place along axis 1 of that shape.
Ref normalised_lines(NodeImport& n, const Shape& lines, const Shape& shape, bool is_result) {
  Ref x = n.input(0), scale = n.input(1), bias = n.input(2);
  Ref flat = n.step("lines").reshape(x, lines);
  Ref normal = n.step("normal").op("layernorm", {flat}, {{"epsilon", n.real("epsilon", 1e-5)}});
  Ref back = n.step("channels").reshape(normal, shape);
  Ref scale_column = n.step("scale").reshape(scale, frontend::channel_shape(shape[1], shape.rank()));
  Ref bias_column = n.step("bias").reshape(bias, frontend::channel_shape(shape[1], shape.rank()));
  Ref scaled = n.step("scaled").multiply(back, scale_column);
  return (is_result ? n.result() : n.step("moved")).add(scaled, bias_column);
}

// Each channel of each sample is a line.
Result<void> import_instance_normalization(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  if (shape.rank() < 3) return n.refuse(cat("its input is ", shape.text(), "; it needs an axis after samples and channels"));
  BUDA_ASSIGN(Shape lines, n.as_matrix(shape, 2));
  n.output(normalised_lines(n, lines, shape, true));
  return success();
}

// Each group of channels of each sample is a line. Scale and bias have one number for each group before opset 21 and for each channel from
// then on; the number of their elements tells which.
Result<void> import_group_normalization(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(Shape scale, n.shape(1));
  BUDA_ASSIGN(Shape bias, n.shape(2));
  std::int64_t groups = n.integer("num_groups", 0);
  if (shape.rank() < 2) return n.refuse(cat("its input is ", shape.text(), "; it needs samples and channels as its first axes"));
  if (groups < 1 || shape[1] % groups != 0) return n.refuse(cat(shape[1], " channels do not divide into ", groups, " groups"));
  bool per_channel = scale == Shape{shape[1]};
  if ((!per_channel && scale != Shape{groups}) || bias != scale)
    return n.refuse(cat("its scale is ", scale.text(), " and its bias ", bias.text(), "; one number for each of ", shape[1],
                        " channels or of ", groups, " groups is needed"));
  BUDA_ASSIGN(Shape channels, n.as_matrix(shape, 2));
  std::int64_t line = shape[1] / groups * channels[1];
  Shape lines{shape[0] * groups, line};
  if (per_channel) {
    n.output(normalised_lines(n, lines, shape, true));
    return success();
  }
  Ref y = normalised_lines(n, lines, Shape{shape[0], groups, line}, false);
  n.output(n.result().reshape(y, shape));
  return success();
}

Result<void> import_lrn(NodeImport& n) {
  n.output(n.result().op(
      "lrn", {n.input(0)},
      {{"size", n.integer("size", 1)}, {"alpha", n.real("alpha", 1e-4)}, {"beta", n.real("beta", 0.75)}, {"bias", n.real("bias", 1)}}));
  return success();
}

Result<void> import_lp_normalization(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", -1), shape.rank()));
  auto p = n.integer("p", 2);
  if (p != 1 && p != 2) return n.refuse(cat("its p is ", p, "; ONNX has 1 and 2"));
  Ref x = n.input(0);
  Ref raised = p == 1 ? n.step("abs").abs(x) : n.step("square").square(x);
  Ref norm = n.step("sum").reduce_sum(raised, {axis});
  if (p == 2) norm = n.step("norm").sqrt(norm);
  n.output(n.result().divide(x, norm));
  return success();
}

// (x - mean) / (standard deviation + 1e-9), as ONNX defines it.
Result<void> import_mean_variance_normalization(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  Dims given = n.has("axes") ? n.integers("axes") : Dims{0, 2, 3};
  BUDA_ASSIGN(Dims axes, n.axes(given, type.shape.rank()));
  Ref x = n.input(0);
  Ref mean = n.step("mean").reduce_avg(x, axes);
  Ref centred = n.step("centred").subtract(x, mean);
  Ref squares = n.step("squares").square(centred);
  Ref variance = n.step("variance").reduce_avg(squares, axes);
  Ref deviation = n.step("deviation").sqrt(variance);
  Ref least = n.step("epsilon").constant(number_like(1e-9, type.dtype));
  Ref divisor = n.step("divisor").add(deviation, least);
  n.output(n.result().divide(centred, divisor));
  return success();
}

constexpr OpImporter kChannelNormsOps[] = {
    {"BatchNormalization", 1, import_batch_normalization},
    {"GroupNormalization", 18, import_group_normalization},
    {"InstanceNormalization", 1, import_instance_normalization},
    {"LRN", 1, import_lrn},
    {"LpNormalization", 1, import_lp_normalization},
    {"MeanVarianceNormalization", 9, import_mean_variance_normalization},
};

}  // namespace

std::span<const OpImporter> channel_norm_ops() { return kChannelNormsOps; }

}  // namespace buda::onnx_frontend
