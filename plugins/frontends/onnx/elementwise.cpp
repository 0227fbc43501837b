// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic and mathematics, and Dropout, which is none at inference.
#include "direct.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/training_mode.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>

namespace buda::onnx_frontend {
namespace {

using Ref = graph::ValueRef;

// Max, Min and Sum of any number of inputs: a chain of the op of two.
Result<Ref> chain(NodeImport& n, bool ends_with_result) {
  Ref value = n.input(0);
  for (std::size_t i = 1; i < n.input_count(); ++i) {
    bool last = ends_with_result && i + 1 == n.input_count();
    Ref right = n.input(i);
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

// The result has the base's type. Where the types differ, integers raised to integers are computed in 64 bits, and everything
// else in the base's floating-point type, or in fp64 where the base has none.
Result<void> import_pow(NodeImport& n) {
  BUDA_ASSIGN(auto base, n.type(0));
  BUDA_ASSIGN(auto exponent, n.type(1));
  if (base.dtype == exponent.dtype) return import_binary(n);
  DType common = is_float(base.dtype) ? base.dtype : is_float(exponent.dtype) ? DType::f64 : DType::i64;
  auto a = n.input(0);
  BUDA_ASSIGN(auto b, n.second_operand());
  if (base.dtype != common) a = n.cast(a, common, "base");
  if (exponent.dtype != common) b = n.cast(b, common, "exponent");
  if (base.dtype == common) {
    n.output(n.result().power(a, b));
    return success();
  }
  auto power = n.step("power").power(a, b);
  n.output(n.result().op("cast", {power}, {{"dtype", std::string(dtype_name(base.dtype))}}));
  return success();
}

// The bounds are attributes before opset 11 and inputs from then on; an absent one does not bind. Bounds that are computed, or that an
// attribute (a double) cannot hold exactly, become operations of their own.
Result<void> import_clip(NodeImport& n) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  BUDA_ASSIGN(auto type, n.type(0));
  ops::AttrMap attrs;
  bool as_attributes = true;
  std::size_t i = 0;
  for (const char* name : {"min", "max"}) {
    ++i;
    if (!n.has_input(i)) {
      if (n.has(name)) attrs[name] = n.real(name, 0);
      continue;
    }
    if (n.is_known(i)) {
      BUDA_ASSIGN(double bound, n.known_number(i, "bound"));
      attrs[name] = bound;
      as_attributes = as_attributes && (is_float(type.dtype) || std::abs(bound) <= kExactIntegers);
    } else {
      as_attributes = false;
    }
  }
  auto x = n.input(0);
  if (as_attributes) {
    n.output(n.result().op("clip", {x}, std::move(attrs)));
    return success();
  }
  if (n.has_input(1)) {
    auto least = n.input(1);
    x = (n.has_input(2) ? n.step("min") : n.result()).maximum(x, least);
  }
  if (n.has_input(2)) {
    auto most = n.input(2);
    x = n.result().minimum(x, most);
  }
  n.output(x);
  return success();
}

// What is dropped is random; with a ratio of 0 nothing is.
Result<void> import_dropout(NodeImport& n) {
  bool training = n.opset() < 7 && n.integer("is_test", 0) == 0 && n.has("is_test");
  if (n.has_input(2)) {
    BUDA_ASSIGN(Tensor mode, n.known(2, "training mode"));
    training = mode.size() != 1 || mode.cast(DType::u8).as<std::uint8_t>()[0] != 0;
  }
  double ratio = 0;
  if (training) {
    ratio = n.real("ratio", 0.5);
    if (n.has_input(1)) {
      BUDA_ASSIGN(ratio, n.known_number(1, "ratio"));
    }
    if (ratio != 0 && !n.keeps_training()) {
      Diagnostic d = n.refuse("is in training mode, where what it drops is random");
      d.hint = "buda train, and importer --training for a training step, keep it; for inference export the model in evaluation mode";
      return d;
    }
  }
  if (ratio != 0) {
    Ref x = n.input(0);
    BUDA_ASSIGN(const auto dropped, frontend::dropout_in_training(n, n.name(), x, ratio));
    n.output(dropped.y);
    if (!n.has_output(1)) return success();
    BUDA_ASSIGN(const auto type, n.type(0));
    const Ref zero = n.step("zero").constant(0, type.dtype);
    const Ref kept = n.step("kept").op("greater", {dropped.mask, zero});
    n.output(n.opset() < 10 ? n.cast(kept, type.dtype, "kept.cast") : kept, 1);
    return success();
  }
  n.output_input(0);
  if (!n.has_output(1)) return success();
  // The mask of what is kept: everything. Before opset 10 it has the type of the data.
  BUDA_ASSIGN(auto type, n.type(0));
  Tensor kept = Tensor::scalar(Boolean{1});
  if (n.opset() < 10) kept = kept.cast(type.dtype);
  auto scalar = n.step("kept").constant(std::move(kept));
  n.output(n.step("mask").broadcast(scalar, type.shape), 1);
  return success();
}

Result<void> import_mod(NodeImport& n) {
  auto a = n.input(0);
  auto b = n.input(1);
  n.output(n.result().op(n.integer("fmod", 0) != 0 ? "remainder" : "modulo", {a, b}));
  return success();
}

Result<void> import_bit_shift(NodeImport& n) {
  std::string direction = n.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return n.refuse(cat("its direction is '", direction, "', not LEFT or RIGHT"));
  auto a = n.input(0);
  auto b = n.input(1);
  n.output(n.result().op(direction == "LEFT" ? "shift_left" : "shift_right", {a, b}));
  return success();
}

constexpr OpImporter kElementwiseOps[] = {
    {"Abs", 1, import_direct, "abs"},
    {"Acos", 7, import_direct, "acos"},
    {"Acosh", 9, import_direct, "acosh"},
    {"Add", 1, import_binary, "add"},
    {"Asin", 7, import_direct, "asin"},
    {"Asinh", 9, import_direct, "asinh"},
    {"Atan", 7, import_direct, "atan"},
    {"Atanh", 9, import_direct, "atanh"},
    {"BitShift", 11, import_bit_shift},
    {"BitwiseAnd", 18, import_direct, "bitwise_and"},
    {"BitwiseNot", 18, import_direct, "bitwise_not"},
    {"BitwiseOr", 18, import_direct, "bitwise_or"},
    {"BitwiseXor", 18, import_direct, "bitwise_xor"},
    {"Ceil", 1, import_direct, "ceil"},
    {"Clip", 1, import_clip},
    {"Cos", 7, import_direct, "cosine"},
    {"Cosh", 9, import_direct, "cosh"},
    {"Div", 1, import_binary, "divide"},
    {"Dropout", 1, import_dropout},
    {"Erf", 9, import_direct, "erf"},
    {"Exp", 1, import_direct, "exp"},
    {"Floor", 1, import_direct, "floor"},
    {"Log", 1, import_direct, "log"},
    {"Max", 1, import_chain, "maximum"},
    {"Mean", 1, import_mean, "add"},
    {"Min", 1, import_chain, "minimum"},
    {"Mod", 10, import_mod},
    {"Mul", 1, import_binary, "multiply"},
    {"Neg", 1, import_direct, "negative"},
    {"Pow", 1, import_pow, "power"},
    {"Reciprocal", 1, import_direct, "reciprocal"},
    {"Round", 11, import_direct, "round"},
    {"Sign", 9, import_direct, "sign"},
    {"Sin", 7, import_direct, "sine"},
    {"Sinh", 9, import_direct, "sinh"},
    {"Sqrt", 1, import_direct, "sqrt"},
    {"Sub", 1, import_binary, "subtract"},
    {"Sum", 1, import_chain, "add"},
    {"Tan", 7, import_direct, "tan"},
};

}  // namespace

std::span<const OpImporter> elementwise_ops() { return kElementwiseOps; }

}  // namespace buda::onnx_frontend
