// SPDX-License-Identifier: Apache-2.0
// Nodes, inputs and outputs with their tags.
#include <buda/frontend/training_mode.hpp>

#include <buda/base/text.hpp>
#include <buda/frontend/axes.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <string>

namespace buda::frontend {
namespace {

using graph::ValueRef;
using graph::ValueType;

ValueRef tagged_input(ops::Builder& b, const std::string& name, const Shape& shape, DType dtype, const std::string& training) {
  const ValueRef input = b.input(b.graph().fresh_name(name), shape, dtype);
  if (input.valid()) b.node(input).tags[graph::kTraining] = training;
  return input;
}

// 1 in a step that learns, else 0: one number for each row of a batch, of which the first is taken.
ValueRef learns(OpImport& op, std::string_view name, const Shape& x, DType dtype) {
  ops::Builder& b = op.step("learns");
  Shape rows{x[0], 1};
  const ValueRef given = tagged_input(b, cat(name, ".learns"), rows, dtype, graph::kTrainingLearns);
  const ValueRef first = op.step("learns.first").slice(given, 0, 0, 1);
  return op.step("learns.flat").reshape(first, Shape{1});
}

// The statistic of the batch where `flag` is 1, and the stored one where it is 0.
ValueRef chosen(OpImport& op, std::string_view what, ValueRef batch, ValueRef stored, ValueRef flag, ValueRef rest) {
  const ValueRef part = op.step(cat(what, ".of_batch")).multiply(batch, flag);
  const ValueRef other = op.step(cat(what, ".stored")).multiply(stored, rest);
  return op.step(cat(what, ".chosen")).add(part, other);
}

void keep_statistic(ops::Builder& b, ValueRef stored, ValueRef batch, double momentum) {
  if (!stored.valid() || !batch.valid()) return;
  const graph::Node& parameter = b.node(stored);
  if (parameter.kind() != graph::NodeKind::parameter) return;
  const std::string name = parameter.name();
  std::string output = cat(name, ".batch");
  for (int again = 1; b.graph().find_output(output).valid(); ++again) output = cat(name, ".batch.", again);
  b.output(output, batch);
  b.graph().node(b.graph().find_output(output)).tags[graph::kTraining] = cat(graph::kTrainingStatistic, ' ', to_text(momentum), ' ', name);
}

}  // namespace

Result<Dropped> dropout_in_training(OpImport& op, std::string_view name, ValueRef x, double ratio) {
  if (!(ratio >= 0 && ratio <= 1)) return op.refuse(cat("has the ratio ", to_text(ratio), "; a probability is needed"));
  ops::Builder& b = op.result();
  const auto* type = b.graph().type(x);
  if (type == nullptr) return Dropped();
  const ValueType of_x = *type;
  const ValueRef mask = tagged_input(b, cat(name, ".mask"), of_x.shape, of_x.dtype, cat(graph::kTrainingMask, ' ', to_text(ratio)));
  return Dropped{op.result().multiply(x, mask), mask};
}

Result<BatchNormResults> batch_norm_in_training(OpImport& op, std::string_view name, const BatchNorm& norm) {
  ops::Builder& b = op.step("mean");
  const auto* given = b.graph().type(norm.x);
  if (given == nullptr) return BatchNormResults();
  const ValueType type = *given;
  const Shape& shape = type.shape;
  Dims axes;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (i != 1) axes.push_back(static_cast<std::int64_t>(i));
  BatchNormResults out;
  out.mean = op.step("mean").reduce_avg(norm.x, axes, false);
  const ValueRef column = op.step("mean.column").reshape(out.mean, channel_shape(shape[1], shape.rank()));
  const ValueRef centred = op.step("centred").subtract(norm.x, column);
  const ValueRef squares = op.step("squares").square(centred);
  out.variance = op.step("variance").reduce_avg(squares, axes, false);
  const ValueRef flag = learns(op, name, shape, type.dtype);
  const ValueRef one = op.step("one").constant(1, type.dtype);
  const ValueRef rest = op.step("learns.not").subtract(one, flag);
  const ValueRef mean = chosen(op, "mean", out.mean, norm.mean, flag, rest);
  const ValueRef variance = chosen(op, "variance", out.variance, norm.variance, flag, rest);
  out.y = op.result().op("batchnorm", {norm.x, norm.scale, norm.bias, mean, variance}, {{"epsilon", norm.epsilon}});
  // What is stored is an estimate for all samples, so the variance is the unbiased one, as PyTorch has it.
  const std::int64_t count = shape.volume().value_or(0) / std::max<std::int64_t>(shape[1], 1);
  const double share = count > 1 ? static_cast<double>(count) / static_cast<double>(count - 1) : 1;
  const ValueRef factor = op.step("variance.share").constant(share, type.dtype);
  const ValueRef unbiased = op.step("variance.unbiased").multiply(out.variance, factor);
  keep_statistic(b, norm.mean, out.mean, norm.momentum);
  keep_statistic(b, norm.variance, unbiased, norm.momentum);
  return out;
}

}  // namespace buda::frontend
