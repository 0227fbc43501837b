// SPDX-License-Identifier: Apache-2.0
// Batch normalisation.
#include "formulas.hpp"
#include "op_call.hpp"

#include <buda/base/text.hpp>

namespace buda::stablehlo {
namespace {

struct Statistics {
  Number mean, variance;
};

// One number for each feature, so that it broadcasts to the operand.
Number along_features(OpCall& n, Ref value, std::size_t rank, std::int64_t axis) {
  Dims aligned(rank, 1);
  aligned[static_cast<std::size_t>(axis)] = n.shape_of(value).volume().value_or(0);
  return {&n, n.step("features").reshape(value, Shape(std::move(aligned)))};
}

Result<std::int64_t> feature_axis(OpCall& n) {
  BUDA_ASSIGN(std::int64_t axis, n.integer("feature_index"));
  const Shape shape = n.shape(0);
  if (axis < 0 || static_cast<std::size_t>(axis) >= shape.rank())
    return n.refuse(cat("its feature_index is ", axis, " for shape ", shape.text()));
  for (std::size_t i = 1; i < n.input_count(); ++i)
    if (n.shape(i) != Shape{shape[static_cast<std::size_t>(axis)]})
      return n.refuse(cat("its operand ", i, " has not one number for each feature"));
  return axis;
}

Number normalized(OpCall& n, const Statistics& s, double epsilon, std::int64_t axis) {
  const std::size_t rank = n.shape(0).rank();
  const Number scale = along_features(n, n.real(1), rank, axis), offset = along_features(n, n.real(2), rank, axis);
  const Number x{&n, n.real(0)}, centred = x - s.mean, deviation = square_root(s.variance + epsilon), unit = centred / deviation,
                                 scaled = unit * scale;
  return scaled + offset;
}

double epsilon_of(OpCall& n) {
  const Attribute* found = n.attribute("epsilon");
  const auto* epsilon = found == nullptr ? nullptr : found->as<double>();
  return epsilon == nullptr ? 0 : *epsilon;
}

Result<void> inference(OpCall& n) {
  BUDA_TRY(n.expect_inputs(5, 5));
  BUDA_ASSIGN(std::int64_t axis, feature_axis(n));
  const std::size_t rank = n.shape(0).rank();
  const Number mean = along_features(n, n.real(3), rank, axis), variance = along_features(n, n.real(4), rank, axis);
  n.output(normalized(n, {mean, variance}, epsilon_of(n), axis).ref);
  return success();
}

Result<void> training(OpCall& n) {
  BUDA_TRY(n.expect_inputs(3, 3));
  BUDA_ASSIGN(std::int64_t axis, feature_axis(n));
  Dims others;
  for (std::size_t i = 0; i < n.shape(0).rank(); ++i)
    if (static_cast<std::int64_t>(i) != axis) others.push_back(static_cast<std::int64_t>(i));
  const Number x{&n, n.real(0)}, mean{&n, others.empty() ? x.ref : n.step("mean").reduce_avg(x.ref, others)};
  const Number centred = x - mean, squares = centred * centred,
               variance{&n, others.empty() ? squares.ref : n.step("variance").reduce_avg(squares.ref, others)};
  n.output(normalized(n, {mean, variance}, epsilon_of(n), axis).ref);
  const Shape features = n.shape(1);
  n.output(n.step("mean").reshape(mean.ref, features), 1);
  n.output(n.step("variance").reshape(variance.ref, features), 2);
  return success();
}

constexpr OpImporter kNormalizationOps[] = {
    {"stablehlo.batch_norm_inference", inference},
    {"stablehlo.batch_norm_training", training},
};

}  // namespace

std::span<const OpImporter> normalization_ops() { return kNormalizationOps; }

}  // namespace buda::stablehlo
