// SPDX-License-Identifier: Apache-2.0
// Quantised types of StableHLO, against numbers computed by hand and the examples of its specification.
#include "stablehlo_bytecode.hpp"
#include "stablehlo_fixture.hpp"

#include <gmock/gmock.h>

#include <bit>

namespace buda::test {
namespace {

using ::testing::HasSubstr;

class QuantizedStableHlo : public StableHlo {};

// The integers behind a quantised result, which is the output of the model.
Floats integers(NamedTensors outputs, DType type) {
  if (outputs.size() != 1) return {};
  EXPECT_EQ(outputs.begin()->second.dtype(), type);
  return outputs.begin()->second.to_f32();
}

const std::string kPerAxis = "tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>";

TEST_F(QuantizedStableHlo, NumbersBecomeIntegersAndNumbersAgain) {
  const Tensor x({2}, Floats{4, 15});
  const std::string quantized = cat("  %q = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> ", kPerAxis, "\n");
  EXPECT_EQ(integers(run(function("%x: tensor<2xf32>", kPerAxis,
                                  quantized + "  %r = stablehlo.reshape %q : (" + kPerAxis + ") -> " + kPerAxis + "\n"),
                         {x}),
                     DType::i8),
            (Floats{10, 10}));
  // With other steps: 4 / 0.1 - 20 and 15 / 0.2 - 30.
  const std::string other = "tensor<2x!quant.uniform<i8:f32:0, {0.1:-20,0.2:-30}>>";
  EXPECT_EQ(integers(run(function("%x: tensor<2xf32>", other,
                                  cat(quantized, "  %r = stablehlo.uniform_quantize %q : (", kPerAxis, ") -> ", other, "\n")),
                         {x}),
                     DType::i8),
            (Floats{20, 45}));
  expect_near(one(function("%x: tensor<2xf32>", "tensor<2xf32>",
                           cat(quantized, "  %r = stablehlo.uniform_dequantize %q : (", kPerAxis, ") -> tensor<2xf32>\n")),
                  {x}),
              {4, 15});
}

TEST_F(QuantizedStableHlo, LimitsOfTheIntegersHold) {
  const std::string narrow = "tensor<3x!quant.uniform<i8<-10:10>:f32, 0.5:1>>", u4 = "tensor<3x!quant.uniform<u4:f32, 1.0>>";
  const Tensor x({3}, Floats{-100, 1, 100});
  auto quantize = [](const std::string& to) { return cat("  %r = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> ", to, "\n"); };
  EXPECT_EQ(integers(run(function("%x: tensor<3xf32>", narrow, quantize(narrow)), {x}), DType::i8), (Floats{-10, 3, 10}));
  EXPECT_EQ(integers(run(function("%x: tensor<3xf32>", u4, quantize(u4)), {x}), DType::u8), (Floats{0, 1, 15}));
}

TEST_F(QuantizedStableHlo, OperationsComputeWithTheNumbers) {
  // (1, 2) + (3, 4): 4 / 0.5 - 20 and 6 / 0.5 - 20. The inputs are the integers.
  const std::string text = "!a = !quant.uniform<i8:f32, 0.1:-30>\n!b = !quant.uniform<i8:f32, 0.5:-20>\n" +
                           function("%x: tensor<2x!a>, %y: tensor<2x!b>", "tensor<2xi8>",
                                    "  %s = \"stablehlo.add\"(%x, %y) : (tensor<2x!a>, tensor<2x!b>) -> tensor<2x!b>\n"
                                    "  %r = stablehlo.bitcast_convert %s : (tensor<2x!b>) -> tensor<2xi8>\n");
  const Tensor x = Tensor({2}, Floats{-20, -10}).cast(DType::i8), y = Tensor({2}, Floats{-14, -12}).cast(DType::i8);
  EXPECT_EQ(integers(run(text, {x, y}), DType::i8), (Floats{-12, -8}));
  // A comparison has no quantised result, and a choice has quantised operands beside its condition.
  const std::string q = "tensor<2x!quant.uniform<i8:f32, 0.5:-20>>";
  const std::string larger = function(cat("%x: ", q, ", %y: ", q), q,
                                      cat("  %c = stablehlo.compare GT, %x, %y : (", q, ", ", q, ") -> tensor<2xi1>\n",
                                          "  %r = stablehlo.select %c, %x, %y : tensor<2xi1>, ", q, "\n"));
  EXPECT_EQ(integers(run(larger, {x, y}), DType::i8), (Floats{-14, -10}));
}

// (1, 2) times [[0.5, -2], [1.5, 4]] with a scale for each column: (3.5, 6).
TEST_F(QuantizedStableHlo, ProductsHaveWeightsWithAScaleForEachColumn) {
  const std::string w = "tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {0.5, 2.0}>>";
  const std::string weights = cat("  %c = stablehlo.constant() {value = dense<[[1, -1], [3, 2]]> : tensor<2x2xi8>} : () -> ", w, "\n");
  auto product = [&](const std::string& x, const std::string& y) {
    return function(cat("%x: ", x), y,
                    cat(weights, "  %r = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (", x, ", ", w, ") -> ", y, "\n"));
  };
  const std::string q = "tensor<1x2x!quant.uniform<i8:f32, 0.25:4>>", sums = "tensor<1x2x!quant.uniform<i32:f32:1, {0.125, 0.5}>>";
  const Tensor x = Tensor({1, 2}, Floats{8, 12}).cast(DType::i8);
  EXPECT_EQ(integers(run(product(q, sums), {x}), DType::i32), (Floats{28, 12}));
  EXPECT_EQ(one(product("tensor<1x2xf32>", "tensor<1x2xf32>"), {Tensor({1, 2}, Floats{1, 2})}), (Floats{3.5f, 6}));
}

TEST_F(QuantizedStableHlo, ElementsMoveAsIntegers) {
  const std::string from = "tensor<2x1x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>",
                    to = "tensor<1x2x!quant.uniform<i8:f32:1, {0.1:-30,0.5:-20}>>";
  auto graph =
      import_module(function(cat("%x: ", from), to, cat("  %r = stablehlo.transpose %x, dims = [1, 0] : (", from, ") -> ", to, "\n")));
  ASSERT_TRUE(graph) << text_of(graph.failure());
  for (graph::NodeId id : graph->topological_order())
    EXPECT_NE(graph->node(id).op(), "dequantize") << "integers that are moved need not be computed";
}

TEST_F(QuantizedStableHlo, BodiesOfReductionsCompareIntegersOrAddNumbers) {
  const std::string q = "tensor<3x!quant.uniform<i8:f32, 0.5:-20>>", one_of = "tensor<!quant.uniform<i8:f32, 0.5:-20>>";
  auto reduced = [&](const std::string& by, int start) {
    return function(cat("%x: ", q), one_of,
                    cat("  %c = stablehlo.constant() <{value = dense<", start, "> : tensor<i8>}> : () -> ", one_of, "\n",
                        "  %r = stablehlo.reduce(%x init: %c) applies stablehlo.", by, " across dimensions = [0] : (", q, ", ", one_of,
                        ") -> ", one_of, "\n"));
  };
  const Tensor x = Tensor({3}, Floats{-18, -16, -19}).cast(DType::i8);  // 1, 2, 0.5
  EXPECT_EQ(integers(run(reduced("maximum", -128), {x}), DType::i8), (Floats{-16}));
  EXPECT_EQ(integers(run(reduced("add", -20), {x}), DType::i8), (Floats{-13}));  // 3.5 / 0.5 - 20
}

TEST_F(QuantizedStableHlo, LoopsAndCallsHandThemOn) {
  const std::string q = "tensor<2x!quant.uniform<i8:f32, 0.5:-20>>";
  const std::string text =
      cat("func.func private @twice(%v: ", q, ") -> ", q, " {\n  %s = stablehlo.add %v, %v : ", q, "\n  return %s : ", q, "\n}\n") +
      function(
          cat("%x: ", q), q,
          cat("  %i = stablehlo.constant dense<0> : tensor<i32>\n  %n = stablehlo.constant dense<2> : tensor<i32>\n"
              "  %l = stablehlo.constant dense<1> : tensor<i32>\n  %w:2 = stablehlo.while(%k = %i, %v = %x) : tensor<i32>, ",
              q,
              "\n   cond {\n    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    stablehlo.return %c : "
              "tensor<i1>\n  } do {\n    %t = func.call @twice(%v) : (",
              q, ") -> ", q, "\n    %m = stablehlo.add %k, %l : tensor<i32>\n    stablehlo.return %m, %t : tensor<i32>, ", q,
              "\n  }\n  %r = stablehlo.negate %w#1 : ", q, "\n"));
  const Tensor x = Tensor({2}, Floats{-18, -22}).cast(DType::i8);  // 1, -1; then 4, -4; then -4, 4
  EXPECT_EQ(integers(run(text, {x}), DType::i8), (Floats{-28, -12}));
}

TEST_F(QuantizedStableHlo, RefusalsNameTypeAndLine) {
  const std::string f = "tensor<2xf32>";
  for (std::string_view bad :
       {"i8:f64, 0.5", "i8:f32, 0.5:200", "i8:f32, -0.5", "i8:f32, 0.0", "i64:f32, 0.5", "i8<-200:10>:f32, 0.5", "i8<5:5>:f32, 0.5",
        "i8:f32:0, {0.5, 0.5, 0.5}", "i8:f32:1, {0.5}", "i8:f32:{0:1}, {0.5, 0.5}", "i8:f32, {0.5}", "i8:f32", ""}) {
    const std::string type = cat("tensor<2x!quant.uniform<", bad, ">>");
    EXPECT_THAT(refused(function(cat("%x: ", type), f, "  %r = stablehlo.constant dense<1.0> : tensor<2xf32>\n")),
                HasSubstr(cat("SH023 input 'x' has the type ", type)));
  }
  const std::string bad = "tensor<2x!quant.uniform<i8:f64, 0.5>>";
  auto of_result =
      import_module(function("%x: tensor<2xf32>", bad, cat("  %r = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> ", bad, "\n")));
  ASSERT_FALSE(of_result);
  EXPECT_THAT(text_of(of_result.failure()), HasSubstr(bad));
  EXPECT_EQ(of_result.failure().diagnostics()[0].loc.line, 2u);
  const std::string a = "tensor<2x!quant.uniform<i8:f32, 0.5>>", b = "tensor<2x!quant.uniform<i8:f32, 0.25>>";
  EXPECT_THAT(refused(function(cat("%x: ", a), b, cat("  %r = stablehlo.reverse %x, dims = [0] : (", a, ") -> ", b, "\n"))),
              HasSubstr(cat("its result has the type ", b, ", which is quantised otherwise than an operand")));
  EXPECT_THAT(refused(function(cat("%x: ", f), f, "  %r = stablehlo.uniform_dequantize %x : (tensor<2xf32>) -> tensor<2xf32>\n")),
              HasSubstr("takes a quantised tensor"));
  EXPECT_THAT(refused(function(cat("%x: ", f), f, "  %r = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2xf32>\n")),
              HasSubstr("its result has the type tensor<2xf32>, which is no quantised type that is supported"));
}

// The types 24 and 30 of VHLO: flags, storage, numbers, (axis,) scale and zero point, limits.
TEST_F(QuantizedStableHlo, BytecodeHasTheSameTypes) {
  StableHloBytecode b;
  auto scale = [](double s) { return StableHloBytecode::signed_number(std::bit_cast<std::int64_t>(s)); };
  auto n = [](std::uint64_t v) { return StableHloBytecode::number(v); };
  auto s = [](std::int64_t v) { return StableHloBytecode::signed_number(v); };
  const std::string i8 = n(b.type(11)), f32 = n(b.type(4));
  const auto whole = b.type(24, n(1) + i8 + f32 + scale(0.5) + s(-20) + s(-128) + s(127));
  const auto slices =
      b.type(30, n(1) + i8 + f32 + n(0) + s(-128) + s(127) + n(2) + scale(0.0009765625) + scale(0.5) + n(2) + s(-30) + s(-20));
  auto tensor = [&](std::uint64_t element) { return b.type(20, n(1) + s(2) + n(element)); };
  const auto x = b.tensor_type({2}, 4), q = tensor(whole), p = tensor(slices);
  const std::string file =
      b.file({x}, {q},
             b.region({x}, 4,
                      {b.operation({"uniform_quantize_v1", {}, {p}, {0}, {}}), b.operation({"uniform_quantize_v1", {}, {q}, {1}, {}}),
                       b.operation({"negate_v1", {}, {q}, {2}, {}}), b.operation({"return_v1", {}, {}, {3}, {}})}));
  // 15 does not fit in 8 bits with the first scale: (127 + 30) / 1024 / 0.5 is 0.3; the other one is 15.
  EXPECT_EQ(integers(run(file, {Tensor({2}, Floats{15, 15})}), DType::i8), (Floats{-20, -50}));
}

}  // namespace
}  // namespace buda::test
