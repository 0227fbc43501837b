// SPDX-License-Identifier: Apache-2.0
// Softmax, and normalisation of channels.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;

Result<void> import_softmax(NodeImport& n) {
  Ref x = n.input(0);
  n.output(n.importer().op == "softmax" ? n.result().softmax(x, -1) : n.result().log_softmax(x, -1));
  return success();
}

// Inputs: x, scale, offset, mean, variance; what TensorFlow's optimiser makes of it also adds a further input, and has an activation.
Result<void> import_batch_norm(NodeImport& n) {
  if (n.flag("is_training", true)) {
    Diagnostic d = n.refuse("it normalises with the mean of each batch, as in training (is_training)");
    d.hint = "export the model for inference (Keras: training=False, or the learning phase 0)";
    return d;
  }
  std::string activation = n.text("activation_mode", "Identity");
  if (activation != "Identity" && activation != "Relu")
    return n.refuse(cat("its activation_mode is '", activation, "'; Identity and Relu are supported"));
  bool side = n.integer("num_side_inputs", 0) != 0, active = activation == "Relu";
  Ref x = n.image(0), scale = n.input(1), offset = n.input(2), mean = n.input(3), variance = n.input(4);
  Ref y = (side || active ? n.step("normalized") : n.result())
              .op("batchnorm", {x, scale, offset, mean, variance}, {{"epsilon", n.real("epsilon", 1e-4)}});
  if (side) {
    BUDA_TRY(n.type(5));
    Ref beside = n.image(5);
    y = (active ? n.step("sum") : n.result()).add(y, beside);
  }
  if (active) y = n.result().relu(y);
  n.output(n.as_node_has_it(y));
  n.output_input(3, 1);
  n.output_input(4, 2);
  return success();
}

// The oldest form: inputs x, mean, variance, offset, scale; the scale may be left out.
Result<void> import_global_norm(NodeImport& n) {
  bool scaled = n.flag("scale_after_normalization", false);
  Ref x = n.layouts().channels_first(n.step("first"), n.input(0)), mean = n.input(1), variance = n.input(2), offset = n.input(3),
      scale = n.input(4);
  if (!scaled) {
    BUDA_ASSIGN(auto type, n.type(4));
    std::vector<double> ones(static_cast<std::size_t>(type.shape.volume().value_or(0)), 1.0);
    scale = n.step("ones").constant(Tensor(type.shape, std::move(ones)).cast(type.dtype));
  }
  Ref y = n.result().op("batchnorm", {x, scale, offset, mean, variance}, {{"epsilon", n.real("variance_epsilon", 1e-3)}});
  n.output(n.layouts().channels_last(n.step("last"), y));
  return success();
}

// The neighbourhood has `radius` channels on both sides, and alpha is not divided by their number.
Result<void> import_lrn(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  std::int64_t radius = n.integer("depth_radius", 5);
  if (x.rank() != 4 || radius < 0 || radius > (1 << 20)) return n.refuse(cat("its input is ", x.text(), " and its radius ", radius));
  std::int64_t size = 2 * radius + 1;
  Ref value = n.layouts().channels_first(n.step("first"), n.input(0));
  Ref y = n.result().op("lrn", {value},
                        {{"size", size},
                         {"alpha", n.real("alpha", 1) * static_cast<double>(size)},
                         {"beta", n.real("beta", 0.5)},
                         {"bias", n.real("bias", 1)}});
  n.output(n.layouts().channels_last(n.step("last"), y));
  return success();
}

constexpr std::string_view kBatchNormResults = "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3";

constexpr OpImporter kNormalizationOps[] = {
    {"BatchNormWithGlobalNormalization", import_global_norm},
    {"FusedBatchNorm", import_batch_norm, {}, "not in training", kBatchNormResults},
    {"FusedBatchNormV2", import_batch_norm, {}, "not in training", kBatchNormResults},
    {"FusedBatchNormV3", import_batch_norm, {}, "not in training", kBatchNormResults},
    {"LRN", import_lrn},
    {"LogSoftmax", import_softmax, "log_softmax"},
    {"Softmax", import_softmax, "softmax"},
    {"_FusedBatchNormEx", import_batch_norm, {}, "not in training; with a further input and Relu", kBatchNormResults},
};

}  // namespace

std::span<const OpImporter> normalization_ops() { return kNormalizationOps; }

}  // namespace buda::tensorflow_frontend
