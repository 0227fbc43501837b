// SPDX-License-Identifier: Apache-2.0
// RNN, LSTM and GRU.
//
// Our ops have all inputs; what ONNX leaves out is zeros, or full lengths. With layout 1 the batch comes first, and is brought behind.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/ops/recurrent/activation_function.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;
using Ref = NodeImport::Ref;

// "HardSigmoid" is "hard_sigmoid", whatever its case was: ONNX's names count in any.
std::string function_name(const std::string& onnx_name) {
  std::string wanted = to_lower(onnx_name);
  for (const std::string& name : ops::activation_names()) {
    std::string joined;
    for (char c : name)
      if (c != '_') joined += c;
    if (joined == wanted) return name;
  }
  return onnx_name;
}

// Parameters stand in a list of their own, in the order of the functions that have them.
void add_functions(NodeImport& n, ops::AttrMap& attrs) {
  std::vector<std::string> names;
  for (const std::string& name : n.texts("activations")) names.push_back(function_name(name));
  if (names.empty()) return;
  auto given_alpha = n.floats("activation_alpha"), given_beta = n.floats("activation_beta");
  std::vector<double> alpha, beta;
  std::size_t next_alpha = 0, next_beta = 0;
  for (const std::string& name : names) {
    auto f = ops::find_activation(name);
    alpha.push_back(f ? f->alpha : 0);
    beta.push_back(f ? f->beta : 0);
    if (f && f->parameters > 0 && next_alpha < given_alpha.size()) alpha.back() = static_cast<double>(given_alpha[next_alpha++]);
    if (f && f->parameters > 1 && next_beta < given_beta.size()) beta.back() = static_cast<double>(given_beta[next_beta++]);
  }
  attrs["activations"] = std::move(names);
  if (!given_alpha.empty()) attrs["alpha"] = std::move(alpha);
  if (!given_beta.empty()) attrs["beta"] = std::move(beta);
}

class Recurrent {
 public:
  // With quantised weights these are [directions, inputs, gates * hidden], and have scales and zero points behind all other inputs.
  Recurrent(NodeImport& n, bool quantized) : n_(n), batch_first_(n.integer("layout", 0) != 0), quantized_(quantized) {}

  Result<void> import(std::int64_t gates) {
    BUDA_ASSIGN(auto type, n_.type(0));
    BUDA_ASSIGN(Shape r, n_.shape(2));
    if (type.shape.rank() != 3 || r.rank() != 3)
      return n_.refuse(cat("X is ", type.shape.text(), " and R ", r.text(), "; both need three axes"));
    dtype_ = type.dtype;
    steps_ = type.shape[batch_first_ ? 1 : 0];
    batch_ = type.shape[batch_first_ ? 0 : 1];
    directions_ = r[0];
    hidden_ = r[quantized_ ? 1 : 2];
    if (n_.has("hidden_size") && n_.integer("hidden_size", 0) != hidden_)
      return n_.refuse(cat("its hidden_size is ", n_.integer("hidden_size", 0), ", and R is ", r.text()));
    BUDA_ASSIGN(auto inputs, inputs_of(gates));
    bool lstm = gates == 4;
    outputs(n_.result().op(n_.importer().op, std::move(inputs), attributes()), lstm ? 3 : 2);
    return success();
  }

 private:
  ops::AttrMap attributes() {
    ops::AttrMap attrs;
    if (n_.text("direction", "forward") != "forward") attrs["direction"] = n_.text("direction", "forward");
    add_functions(n_, attrs);
    if (n_.real("clip", 0) > 0) attrs["clip"] = n_.real("clip", 0);
    if (n_.integer("input_forget", 0) != 0) attrs["input_forget"] = true;
    if (n_.integer("linear_before_reset", 0) != 0) attrs["linear_before_reset"] = true;
    return attrs;
  }

  Result<std::vector<graph::Edge>> inputs_of(std::int64_t gates) {
    Ref x = n_.input(0);
    if (batch_first_) x = n_.step("x").transpose(x, {1, 0, 2});
    BUDA_ASSIGN(Ref w, weights(1, 8, "w"));
    BUDA_ASSIGN(Ref r, weights(2, 10, "r"));
    std::vector<graph::Edge> inputs{x, w, r};
    BUDA_ASSIGN(Ref b, given_or_zeros(3, "b", {directions_, 2 * gates * hidden_}));
    BUDA_ASSIGN(Ref lengths, lengths_input());
    BUDA_ASSIGN(Ref h, state(5, "h"));
    inputs.insert(inputs.end(), {b, lengths, h});
    if (gates != 4) return inputs;
    BUDA_ASSIGN(Ref c, state(6, "c"));
    BUDA_ASSIGN(Ref p, given_or_zeros(7, "p", {directions_, 3 * hidden_}));
    inputs.insert(inputs.end(), {c, p});
    return inputs;
  }

  Result<Ref> weights(std::size_t i, std::size_t scale, const std::string& name) {
    if (!quantized_) return n_.input(i);
    BUDA_ASSIGN(auto type, n_.type(i));
    BUDA_ASSIGN(Shape factor_shape, n_.shape(scale));
    BUDA_ASSIGN(Shape zero_shape, n_.shape(scale + 1));
    const auto spread = [&](std::size_t input, const Shape& shape, const std::string& step) -> Result<Ref> {
      const std::int64_t each = shape.volume().value_or(0) == directions_ ? 1 : type.shape[2];
      if (shape.volume() != directions_ * each)
        return n_.refuse(
            cat("its input ", input, " is ", shape.text(), "; a number for each direction, or each of its columns, is needed"));
      Ref given = n_.input(input);
      return n_.step(step).reshape(given, Shape{directions_, 1, each});
    };
    if (type.shape.rank() != 3) return n_.refuse(cat("its input ", i, " is ", type.shape.text(), "; three axes are needed"));
    BUDA_ASSIGN(Ref factor, spread(scale, factor_shape, name + ".scale"));
    BUDA_ASSIGN(Ref zero, spread(scale + 1, zero_shape, name + ".zero"));
    Ref value = n_.cast(n_.input(i), DType::f32, name + ".numbers");
    zero = n_.cast(zero, DType::f32, name + ".zero.real");
    Ref centred = n_.step(name + ".centred").subtract(value, zero);
    Ref real = n_.step(name + ".real").multiply(centred, factor);
    return n_.step(name).transpose(real, {0, 2, 1});
  }

  Result<Ref> given_or_zeros(std::size_t i, std::string_view name, const Shape& shape) {
    if (n_.has_input(i)) return n_.input(i);
    BUDA_ASSIGN(Tensor zeros, Tensor::zeros(dtype_, shape));
    return n_.step(name).constant(std::move(zeros));
  }

  Result<Ref> state(std::size_t i, std::string_view name) {
    if (n_.has_input(i) && batch_first_) {
      Ref given = n_.input(i);
      return n_.step(name).transpose(given, {1, 0, 2});
    }
    return given_or_zeros(i, name, {directions_, batch_, hidden_});
  }

  Result<Ref> lengths_input() {
    if (n_.has_input(4)) return n_.input(4);
    if (steps_ > 0x7fffffff) return n_.refuse(cat("sequences of ", steps_, " steps are too long"));
    BUDA_ASSIGN(Tensor zeros, Tensor::zeros(DType::i32, Shape{batch_}));
    return n_.step("lengths").constant(Tensor(Shape{batch_}, std::vector<std::int32_t>(zeros.size(), static_cast<std::int32_t>(steps_))));
  }

  void outputs(Ref result, std::size_t count) {
    if (!result.valid()) return;
    for (std::size_t i = 0; i < count; ++i) {
      if (!n_.has_output(i)) continue;
      Ref value(result.node, static_cast<std::uint32_t>(i));
      if (batch_first_) value = n_.step(i == 0 ? "y" : i == 1 ? "y_h" : "y_c").transpose(value, i == 0 ? Dims{2, 0, 1, 3} : Dims{1, 0, 2});
      n_.output(value, i);
    }
  }

  NodeImport& n_;
  bool batch_first_, quantized_;
  DType dtype_ = DType::f32;
  std::int64_t steps_ = 0, batch_ = 0, directions_ = 1, hidden_ = 0;
};

template <std::int64_t kGates>
Result<void> import_recurrent(NodeImport& n) {
  return Recurrent(n, false).import(kGates);
}

// Weights are those of the integers; the input is not rounded to integers, as onnxruntime does.
Result<void> import_quantized_lstm(NodeImport& n) { return Recurrent(n, true).import(4); }

constexpr OpImporter kRecurrentOps[] = {
    {"GRU", 1, import_recurrent<3>, "gru"},
    {"LSTM", 1, import_recurrent<4>, "lstm"},
    {"RNN", 1, import_recurrent<1>, "rnn"},
};

constexpr OpImporter kContribRecurrentOps[] = {
    {"DynamicQuantizeLSTM", 1, import_quantized_lstm, "lstm"},
};

}  // namespace

std::span<const OpImporter> contrib_recurrent_ops() { return kContribRecurrentOps; }

std::span<const OpImporter> recurrent_ops() { return kRecurrentOps; }

}  // namespace buda::onnx_frontend
