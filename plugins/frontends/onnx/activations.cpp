// SPDX-License-Identifier: Apache-2.0
// Activation functions.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <numeric>

namespace buda::onnx_frontend {
namespace {

Result<void> import_plain(NodeImport& n) {
  n.output(n.result().op(n.importer().op, {n.input(0)}));
  return success();
}

// Attributes of the same name; absent ones have the standard value that this definition of the operator gives them.
Result<void> with(NodeImport& n, std::initializer_list<std::pair<const char*, double>> standards) {
  ops::AttrMap attrs;
  for (const auto& [name, standard] : standards) attrs[name] = n.real(name, standard);
  n.output(n.result().op(n.importer().op, {n.input(0)}, std::move(attrs)));
  return success();
}

Result<void> import_leaky_relu(NodeImport& n) { return with(n, {{"alpha", 0.01}}); }
Result<void> import_alpha(NodeImport& n) { return with(n, {{"alpha", 1}}); }
Result<void> import_hard_sigmoid(NodeImport& n) { return with(n, {{"alpha", 0.2}, {"beta", 0.5}}); }

Result<void> import_gelu(NodeImport& n) {
  n.output(n.result().op("gelu", {n.input(0)}, {{"approximate", n.text("approximate", "none")}}));
  return success();
}

Result<void> import_selu(NodeImport& n) {
  bool first = n.opset() < 6;  // opset 1 had fewer digits
  return with(n, {{"alpha", first ? 1.6732 : 1.67326319217681884765625}, {"gamma", first ? 1.0507 : 1.05070102214813232421875}});
}

Result<void> import_shrink(NodeImport& n) {
  n.output(n.result().op("shrink", {n.input(0)}, {{"lambda", n.real("lambd", 0.5)}, {"bias", n.real("bias", 0)}}));
  return success();
}

// From opset 7 on the slope broadcasts to x; before it had one element, or one for each channel (axis 1).
Result<void> import_prelu(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape slope, n.shape(1));
  auto value = n.input(0);
  auto factor = n.input(1);
  bool per_channel = slope.rank() == 1 && x.rank() > 2 && slope[0] != 1 && slope[0] == x[1];
  // Exporters went on writing the old form: where NumPy's broadcast does not apply, that is what is meant.
  if (per_channel && (n.opset() < 7 || broadcast(x, slope) != x)) {
    Shape channels{slope[0]};
    for (std::size_t i = 2; i < x.rank(); ++i) channels.push_back(1);
    factor = n.step("slope").reshape(factor, channels);
  }
  n.output(n.result().op("prelu", {value, factor}));
  return success();
}

// 1 at the first largest element along an axis (before opset 13: of all axes from `axis` on together) and 0 elsewhere.
Result<void> import_hardmax(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", n.opset() >= 13 ? -1 : 1), type.shape.rank()));
  auto x = n.input(0);
  Shape shape = type.shape;
  if (n.opset() < 13) {
    BUDA_ASSIGN(shape, n.as_matrix(type.shape, axis));
    x = n.step("flatten").reshape(x, shape);
    axis = 1;
  }
  if (shape[static_cast<std::size_t>(axis)] > 1 << 24)
    return n.refuse(cat("its axis of ", shape[static_cast<std::size_t>(axis)], " elements is longer than is supported"));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]));
  std::iota(numbers.begin(), numbers.end(), 0);
  Shape along(std::vector<std::int64_t>(shape.rank() - static_cast<std::size_t>(axis), 1));
  along[0] = shape[static_cast<std::size_t>(axis)];
  auto places = n.step("places").constant(Tensor(std::move(along), std::move(numbers)));
  auto most = n.step("largest").op("argmax", {x}, {{"dim", axis}});
  auto hot = n.step("hot").op("equal", {most, places});
  if (n.opset() < 13) hot = n.step("unflatten").reshape(hot, type.shape);
  n.output(n.result().op("cast", {hot}, {{"dtype", std::string(dtype_name(type.dtype))}}));
  return success();
}

// x times the sigmoid of alpha x.
Result<void> import_swish(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  const double alpha = n.real("alpha", 1);
  auto x = n.input(0), scaled = x;
  if (alpha != 1) {
    auto factor = n.step("alpha").constant(alpha, type.dtype);
    scaled = n.step("scaled").multiply(x, factor);
  }
  auto gate = n.step("gate").sigmoid(scaled);
  n.output(n.result().multiply(x, gate));
  return success();
}

constexpr OpImporter kActivationsOps[] = {
    {"Celu", 12, import_alpha, "celu"},
    {"Elu", 1, import_alpha, "elu"},
    {"Gelu", 20, import_gelu},
    {"HardSigmoid", 1, import_hard_sigmoid, "hard_sigmoid"},
    {"HardSwish", 14, import_plain, "hard_swish"},
    {"Hardmax", 1, import_hardmax},
    {"LeakyRelu", 1, import_leaky_relu, "leaky_relu"},
    {"Mish", 18, import_plain, "mish"},
    {"PRelu", 1, import_prelu},
    {"Relu", 1, import_plain, "relu"},
    {"Selu", 1, import_selu, "selu"},
    {"Shrink", 9, import_shrink},
    {"Sigmoid", 1, import_plain, "sigmoid"},
    {"Softplus", 1, import_plain, "softplus"},
    {"Softsign", 1, import_plain, "softsign"},
    {"Swish", 24, import_swish},
    {"Tanh", 1, import_plain, "tanh"},
    {"ThresholdedRelu", 10, import_alpha, "thresholded_relu"},
};

}  // namespace

std::span<const OpImporter> activation_ops() { return kActivationsOps; }

}  // namespace buda::onnx_frontend
