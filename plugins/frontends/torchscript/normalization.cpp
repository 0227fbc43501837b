// SPDX-License-Identifier: Apache-2.0
// Normalisations, and softmax.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/training_mode.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

// One number for each channel: what is missing is 1 or 0.
Result<Ref> per_channel(Call& n, std::string_view name, std::int64_t channels, float standard) {
  if (n.has(name)) return n.ref(name);
  if (channels < 0 || channels > (1 << 24)) return n.refuse(cat("has ", channels, " channels"));
  return n.constant(Tensor(Shape{channels}, std::vector<float>(static_cast<std::size_t>(channels), standard)));
}

Result<Value> norm_batch(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(bool training, n.flag_or("training", false));
  BUDA_ASSIGN(double epsilon, n.real_or("eps", 1e-5));
  const bool is_kept = training && n.has("running_mean") && n.state().training;
  if (!is_kept && (training || !n.has("running_mean"))) {
    Diagnostic d = n.refuse("is in training mode: it takes statistics of its input");
    d.hint = "call model.eval() before the model is traced or scripted; to train the model, run the importer with --training";
    return d;
  }
  if (x.rank() < 2) return n.refuse(cat("its input is ", x.text(), "; samples and channels are needed"));
  Ref input = n.ref("input");
  BUDA_ASSIGN(Ref weight, per_channel(n, "weight", x[1], 1));
  BUDA_ASSIGN(Ref bias, per_channel(n, "bias", x[1], 0));
  Ref mean = n.ref("running_mean"), variance = n.ref("running_var");
  if (is_kept) {
    BUDA_ASSIGN(double momentum, n.real_or("momentum", 0.1));
    BUDA_ASSIGN(const auto results,
                frontend::batch_norm_in_training(n, n.name(), {input, weight, bias, mean, variance, epsilon, momentum}));
    return n.tensor(results.y);
  }
  return n.tensor(n.result().op("batchnorm", {input, weight, bias, mean, variance}, {{"epsilon", epsilon}}));
}

Result<Value> norm_layer(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(Dims sizes, n.integers("normalized_shape"));
  BUDA_ASSIGN(double epsilon, n.real_or("eps", 1e-5));
  const auto axes = static_cast<std::int64_t>(sizes.size());
  if (sizes.empty() || sizes.size() > x.rank() || !std::equal(sizes.begin(), sizes.end(), x.end() - axes))
    return n.refuse(cat("its input is ", x.text(), ", which does not end with ", list_text(sizes)));
  ops::AttrMap attrs{{"epsilon", epsilon}};
  if (axes != 1) attrs["dim"] = -axes;
  std::vector<graph::Edge> inputs{n.ref("input")};
  if (!n.has("weight") && n.has("bias")) return n.refuse("has a bias without a weight");
  if (n.has("weight")) inputs.emplace_back(n.ref("weight"));
  if (n.has("bias")) inputs.emplace_back(n.ref("bias"));
  return n.tensor(n.result().op("layernorm", std::move(inputs), std::move(attrs)));
}

// The input seen as lines, each normalised by itself; then times a number and plus one for each channel.
Result<Value> normalised_lines(Call& n, const Shape& x, std::int64_t lines, double epsilon) {
  auto volume = x.volume();
  if (!volume || lines < 1 || *volume % lines != 0)
    return n.refuse(cat("its input ", x.text(), " does not divide into ", lines, " groups"));
  Ref input = n.ref("input");
  Ref flat = n.step("lines").reshape(input, Shape{lines, *volume / lines});
  Ref normal = n.step("normal").op("layernorm", {flat}, {{"epsilon", epsilon}});
  const bool scaled = n.has("weight"), moved = n.has("bias");
  Ref y = (scaled || moved ? n.step("channels") : n.result()).reshape(normal, x);
  const Shape column = frontend::channel_shape(x[1], x.rank());
  if (scaled) {
    Ref weight = n.ref("weight");
    Ref factor = n.step("weight").reshape(weight, column);
    y = (moved ? n.step("scaled") : n.result()).multiply(y, factor);
  }
  if (moved) {
    Ref bias = n.ref("bias");
    Ref term = n.step("bias").reshape(bias, column);
    y = n.result().add(y, term);
  }
  return n.tensor(y);
}

Result<Value> norm_group(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(auto groups, n.integer("num_groups"));
  BUDA_ASSIGN(double epsilon, n.real_or("eps", 1e-5));
  if (x.rank() < 2 || groups < 1 || x[1] % groups != 0)
    return n.refuse(cat("its input is ", x.text(), ", in ", groups, " groups of channels"));
  return normalised_lines(n, x, x[0] * groups, epsilon);
}

Result<Value> norm_instance(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(bool own, n.flag_or("use_input_stats", true));
  BUDA_ASSIGN(double epsilon, n.real_or("eps", 1e-5));
  if (x.rank() < 3) return n.refuse(cat("its input is ", x.text(), "; an axis after samples and channels is needed"));
  if (!own && n.has("running_mean")) return norm_batch(n);
  return normalised_lines(n, x, x[0] * x[1], epsilon);
}

Result<Value> norm_softmax(Call& n) {
  BUDA_ASSIGN(Ref x, real_operand(n, "self"));
  if (n.has("dtype")) {
    BUDA_ASSIGN(auto code, n.integer("dtype"));
    if (code != 6) return n.refuse(cat("its dtype is number ", code, "; float32 (6) is supported"));
    x = n.cast(x, DType::f32);
  }
  BUDA_ASSIGN(Shape shape, n.shape_of(x));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", -1, shape.rank()));
  return n.tensor(n.result().op(n.importer().op, {x}, {{"dim", axis}}));
}

constexpr OpImporter kNormalizationOps[] = {
    {"_softmax", "self dim half_to_float", norm_softmax, "softmax"},
    {"batch_norm", "input weight bias running_mean running_var training momentum eps cudnn_enabled", norm_batch, "",
     "in training mode with `importer --training`"},
    {"group_norm", "input num_groups weight bias eps cudnn_enabled", norm_group},
    {"instance_norm", "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled", norm_instance},
    {"layer_norm", "input normalized_shape weight bias eps cudnn_enable", norm_layer},
    {"log_softmax", "self dim dtype", norm_softmax, "log_softmax"},
    {"softmax", "self dim dtype", norm_softmax, "softmax"},
};

}  // namespace

std::span<const OpImporter> normalization_ops() { return kNormalizationOps; }

}  // namespace buda::torchscript
