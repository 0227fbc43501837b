// Elementwise operators, and Dropout, which is none at inference.
#include "node_import.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {
namespace {

// The op of ours with the same inputs and no attributes.
Result<void> import_direct(NodeImport& n) {
  std::vector<graph::Edge> inputs;
  for (std::size_t i = 0; i < n.input_count(); ++i) inputs.emplace_back(n.input(i));
  n.output(n.result().op(n.importer().op, std::move(inputs)));
  return success();
}

// Max, Min and Sum of any number of inputs: a chain of the op of two.
Result<graph::ValueRef> chain(NodeImport& n, bool ends_with_result) {
  graph::ValueRef value = n.input(0);
  for (std::size_t i = 1; i < n.input_count(); ++i) {
    bool last = ends_with_result && i + 1 == n.input_count();
    graph::ValueRef right = n.input(i);
    ops::Builder& builder = last ? n.result() : n.step(cat(i));
    value = builder.op(n.importer().op, {value, right});
  }
  return value;
}

Result<void> import_chain(NodeImport& n) {
  if (n.input_count() == 1) {
    n.output_input(0);
    return success();
  }
  BUDA_ASSIGN(auto value, chain(n, true));
  n.output(value);
  return success();
}

Result<void> import_mean(NodeImport& n) {
  if (n.input_count() == 1) {
    n.output_input(0);
    return success();
  }
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(auto sum, chain(n, false));
  Tensor count = Tensor::scalar(static_cast<float>(n.input_count())).cast(type.dtype);
  auto divisor = n.step("count").constant(std::move(count));
  n.output(n.result().divide(sum, divisor));
  return success();
}

Result<void> import_leaky_relu(NodeImport& n) {
  n.output(n.result().leaky_relu(n.input(0), n.real("alpha", 0.01)));
  return success();
}

// The bounds are attributes before opset 11 and inputs from then on; an absent one does not bind.
Result<void> import_clip(NodeImport& n) {
  ops::AttrMap attrs;
  std::size_t i = 0;
  for (const char* name : {"min", "max"}) {
    ++i;
    if (n.has_input(i)) {
      BUDA_ASSIGN(attrs[name], n.known_number(i, "bound"));
    } else if (n.has(name)) {
      attrs[name] = n.real(name, 0);
    }
  }
  n.output(n.result().op("clip", {n.input(0)}, std::move(attrs)));
  return success();
}

Result<void> import_dropout(NodeImport& n) {
  BUDA_TRY(n.refuse_outputs_from(1, "is the mask of a training run; only inference is read"));
  if (n.has_input(2)) {
    BUDA_ASSIGN(Tensor training, n.known(2, "training mode"));
    if (training.size() != 1 || training.cast(DType::u8).as<std::uint8_t>()[0] != 0)
      return n.refuse("is in training mode; only inference is read");
  }
  n.output_input(0);
  return success();
}

constexpr OpImporter kOps[] = {
    {"Abs", 6, import_direct, "abs"},
    {"Add", 7, import_direct, "add"},
    {"Clip", 6, import_clip},
    {"Cos", 7, import_direct, "cosine"},
    {"Div", 7, import_direct, "divide"},
    {"Dropout", 7, import_dropout},
    {"Exp", 6, import_direct, "exp"},
    {"LeakyRelu", 6, import_leaky_relu},
    {"Log", 6, import_direct, "log"},
    {"Max", 6, import_chain, "maximum"},
    {"Mean", 6, import_mean, "add"},
    {"Min", 6, import_chain, "minimum"},
    {"Mul", 7, import_direct, "multiply"},
    {"Neg", 6, import_direct, "negative"},
    {"Pow", 7, import_direct, "power"},
    {"Reciprocal", 6, import_direct, "reciprocal"},
    {"Relu", 6, import_direct, "relu"},
    {"Sigmoid", 6, import_direct, "sigmoid"},
    {"Sin", 7, import_direct, "sine"},
    {"Sqrt", 6, import_direct, "sqrt"},
    {"Sub", 7, import_direct, "subtract"},
    {"Sum", 6, import_chain, "add"},
    {"Tanh", 6, import_direct, "tanh"},
};

}  // namespace

std::span<const OpImporter> elementwise_ops() { return kOps; }

}  // namespace buda::onnx_frontend
