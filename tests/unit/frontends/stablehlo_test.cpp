// SPDX-License-Identifier: Apache-2.0
// StableHLO modules as text, written here, against numbers computed by hand or by formulas.
#include "stablehlo_bytecode.hpp"
#include "stablehlo_fixture.hpp"

#include <buda/base/rng.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace buda::test {
namespace {

using ::testing::HasSubstr;

TEST_F(StableHlo, AnMlpAsJaxWritesIt) {
  const std::string text =
      "#loc1 = loc(\"x\")\n"
      "module @jit_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
      "  func.func public @main(%arg0: tensor<4x3xf32> {jax.arg_info = \"x\", mhlo.sharding = \"{replicated}\"} loc(\"x\")) -> "
      "(tensor<4x2xf32> {jax.result_info = \"['y']\"}) {\n"
      "    %cst = stablehlo.constant dense<[[1.0, -1.0], [0.5, 2.0], [-3.0, 0.25]]> : tensor<3x2xf32> loc(#loc1)\n"
      "    %cst_0 = stablehlo.constant dense<[0.5, -0.25]> : tensor<2xf32>\n"
      "    %0 = stablehlo.dot_general %arg0, %cst, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, "
      "tensor<3x2xf32>) -> tensor<4x2xf32>\n"
      "    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>\n"
      "    %2 = stablehlo.add %0, %1 : tensor<4x2xf32> loc(callsite(\"add\" at #loc1))\n"
      "    %3 = call @relu(%2) : (tensor<4x2xf32>) -> tensor<4x2xf32>\n"
      "    return %3 : tensor<4x2xf32>\n"
      "  }\n"
      "  func.func private @relu(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {\n"
      "    %cst = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2xf32>\n"
      "    %1 = stablehlo.maximum %arg0, %0 : tensor<4x2xf32>\n"
      "    return %1 : tensor<4x2xf32>\n"
      "  }\n"
      "}\n";
  const Tensor x = pattern({4, 3});
  const float w[3][2] = {{1, -1}, {0.5f, 2}, {-3, 0.25f}}, b[2] = {0.5f, -0.25f};
  Floats expected;
  const Floats xv = x.to_f32();
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      expected.push_back(std::max(0.0f, xv[3 * i] * w[0][j] + xv[3 * i + 1] * w[1][j] + xv[3 * i + 2] * w[2][j] + b[j]));
  auto outputs = run(text, {x});
  ASSERT_EQ(outputs.count("['y']"), 1u);
  expect_near(outputs.at("['y']").to_f32(), expected);
  auto graph = import_module(text);
  ASSERT_TRUE(graph);
  ASSERT_TRUE(graph->find("x").valid() && graph->find("cst").valid() && graph->find("relu/maximum_1").valid());
  EXPECT_EQ(graph->node(graph->find("cst")).op(), "parameter");
  EXPECT_EQ(graph->node(graph->find("relu/maximum_1")).origins[0].node, "relu/maximum_1");
}

// Channels last, as Jax has them; a convolution, a pool, a mean and a softmax.
TEST_F(StableHlo, AConvolutionalNetworkBecomesConvolutionsAndPools) {
  const std::string text = function(
      "%x: tensor<1x4x4x2xf32>", "tensor<1x1xf32>",
      "  %k = stablehlo.constant dense<1.0> : tensor<3x3x2x1xf32>\n"
      "  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} "
      "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x4x4x1xf32>\n"
      "  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
      "  %1 = \"stablehlo.reduce_window\"(%0, %low) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, "
      "1>}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %m = stablehlo.maximum %a, %b : tensor<f32>\n"
      "    stablehlo.return %m : tensor<f32>\n"
      "  }) : (tensor<1x4x4x1xf32>, tensor<f32>) -> tensor<1x2x2x1xf32>\n"
      "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %r = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x2x2x1xf32>, tensor<f32>) -> "
      "tensor<1x1xf32>\n");
  const Tensor x = pattern({1, 4, 4, 2});
  const Floats xv = x.to_f32();
  float sum = 0;
  for (int i = 0; i < 4; i += 2)
    for (int j = 0; j < 4; j += 2) {
      float best = -1e30f;
      for (int y = i; y < i + 2; ++y)
        for (int z = j; z < j + 2; ++z) {
          float c = 0;
          for (int dy = std::max(0, y - 1); dy <= std::min(3, y + 1); ++dy)
            for (int dz = std::max(0, z - 1); dz <= std::min(3, z + 1); ++dz)
              for (int f = 0; f < 2; ++f) c += xv[static_cast<std::size_t>((dy * 4 + dz) * 2 + f)];
          best = std::max(best, c);
        }
      sum += best;
    }
  expect_near(one(text, {x}), {sum}, 1e-5);
  auto graph = import_module(text);
  ASSERT_TRUE(graph);
  int convolutions = 0, pools = 0;
  for (auto id : graph->ids()) {
    convolutions += graph->node(id).op() == "conv2d" ? 1 : 0;
    pools += graph->node(id).op() == "max_pool2d" ? 1 : 0;
  }
  EXPECT_EQ(convolutions, 1);
  EXPECT_EQ(pools, 1);
}

// ---- functions of each element

struct ElementFormula {
  const char* op;
  float (*of)(float);
};

TEST_F(StableHlo, FunctionsOfEachElement) {
  const ElementFormula formulas[] = {
      {"stablehlo.logistic %x : tensor<3x5xf32>", [](float v) { return 1 / (1 + std::exp(-v)); }},
      {"stablehlo.exponential_minus_one %x : tensor<3x5xf32>", [](float v) { return std::expm1(v); }},
      {"stablehlo.cbrt %x : tensor<3x5xf32>", [](float v) { return std::cbrt(v); }},
      {"stablehlo.sign %x : tensor<3x5xf32>", [](float v) { return v > 0   ? 1.0f
                                                                   : v < 0 ? -1.0f
                                                                           : 0.0f; }},
      {"stablehlo.round_nearest_afz %x : tensor<3x5xf32>", [](float v) { return std::round(v); }},
      {"stablehlo.reduce_precision %x, format = e8m7 : tensor<3x5xf32>",
       [](float v) { return Tensor::scalar(v).cast(DType::bf16).to_f32()[0]; }},
      {"chlo.erf_inv %x : tensor<3x5xf32> -> tensor<3x5xf32>",
       [](float v) {
         double low = -6, high = 6;
         for (int i = 0; i < 100; ++i) (std::erf((low + high) / 2) < v ? low : high) = (low + high) / 2;
         return static_cast<float>(low);
       }},
      {"chlo.lgamma %x : tensor<3x5xf32> -> tensor<3x5xf32>", [](float v) { return std::lgamma(v); }},
      {"chlo.erfc %x : tensor<3x5xf32> -> tensor<3x5xf32>", [](float v) { return std::erfc(v); }},
      {"chlo.asinh %x : tensor<3x5xf32> -> tensor<3x5xf32>", [](float v) { return std::asinh(v); }},
  };
  Floats values(15);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = -0.97f + 0.13f * static_cast<float>(i);
  const Tensor x({3, 5}, Floats(values));
  for (const ElementFormula& f : formulas) {
    SCOPED_TRACE(f.op);
    Floats expected = values;
    for (float& v : expected) v = f.of(v);
    expect_near(one(function("%x: tensor<3x5xf32>", "tensor<3x5xf32>", cat("  %r = ", f.op, "\n")), {x}), expected, 2e-6);
  }
}

TEST_F(StableHlo, OperatorsOnIntegersAndBooleans) {
  const std::tuple<const char*, const char*, Floats> cases[] = {
      {"tensor<4xi32>", "stablehlo.divide %a, %b : tensor<4xi32>", {3, -3, -1, 0}},
      {"tensor<4xi32>", "stablehlo.remainder %a, %b : tensor<4xi32>", {1, -1, 5, 0}},
      {"tensor<4xi32>", "stablehlo.shift_right_logical %a, %b : tensor<4xi32>", {1, 1073741824, 5, 0}},
      {"tensor<4xi32>", "stablehlo.popcnt %a : tensor<4xi32>", {3, 30, 2, 0}},
      {"tensor<4xi32>", "stablehlo.count_leading_zeros %a : tensor<4xi32>", {29, 0, 29, 32}},
      {"tensor<4xi32>", "stablehlo.xor %a, %b : tensor<4xi32>", {5, -5, 5, 9}},
      {"tensor<4xi1>", "stablehlo.compare  LT, %a, %b,  SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>", {0, 1, 0, 1}},
  };
  for (const auto& [type, op, expected] : cases) {
    SCOPED_TRACE(op);
    EXPECT_EQ(one(function("", type,
                           cat("  %a = stablehlo.constant dense<[7, -7, 5, 0]> : tensor<4xi32>\n"
                               "  %b = stablehlo.constant dense<[2, 2, 0, 9]> : tensor<4xi32>\n  %r = ",
                               op, "\n"))),
              expected);
  }
}

// ---- places

TEST_F(StableHlo, PartsAndPlaces) {
  const Tensor x({2, 3}, Floats{1, 2, 3, 4, 5, 6});
  const std::tuple<const char*, const char*, Floats> cases[] = {
      {"tensor<3x2xf32>", "%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>", {1, 4, 2, 5, 3, 6}},
      {"tensor<2x2xf32>", "%r = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>", {1, 3, 4, 6}},
      {"tensor<2x3xf32>", "%r = stablehlo.reverse %x, dims = [1] : tensor<2x3xf32>", {3, 2, 1, 6, 5, 4}},
      {"tensor<3x4xf32>",
       "%v = stablehlo.constant dense<9.0> : tensor<f32>\n  %r = stablehlo.pad %x, %v, low = [1, -1], high = [0, 0], interior = [0, 1] : "
       "(tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>",
       {9, 9, 9, 9, 9, 2, 9, 3, 9, 5, 9, 6}},
      {"tensor<2x1xf32>",
       "%i = stablehlo.constant dense<[0, 7]> : tensor<2xi32>\n  %s = stablehlo.slice %i [0:1] : (tensor<2xi32>) -> tensor<1xi32>\n  %z = "
       "stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>\n"
       "  %t = stablehlo.slice %i [1:2] : (tensor<2xi32>) -> tensor<1xi32>\n  %o = stablehlo.reshape %t : (tensor<1xi32>) -> tensor<i32>\n"
       "  %r = stablehlo.dynamic_slice %x, %z, %o, sizes = [2, 1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>",
       {3, 6}},
      {"tensor<2x2xf32>",
       "%i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>\n  %r = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = "
       "#stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = "
       "array<i64: 2, 1>}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>",
       {3, 1, 6, 4}},
      {"tensor<2x3xf32>",
       "%i = stablehlo.constant dense<[[1], [5]]> : tensor<2x1xi32>\n  %u = stablehlo.constant dense<10.0> : tensor<2x2xf32>\n  %r = "
       "\"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims "
       "= [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({\n"
       "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s : tensor<f32>\n  "
       "}) : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2x2xf32>) -> tensor<2x3xf32>",
       {1, 12, 3, 4, 15, 6}},
      {"tensor<2x3xf32>",
       "%u = stablehlo.constant dense<8.0> : tensor<1x2xf32>\n  %i = stablehlo.constant dense<1> : tensor<i32>\n  %r = "
       "stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>",
       {1, 2, 3, 4, 8, 8}},
      {"tensor<2x4xf32>",
       "%s = stablehlo.slice %x [0:2, 0:1] : (tensor<2x3xf32>) -> tensor<2x1xf32>\n  %r = stablehlo.concatenate %x, %s, dim = 1 : "
       "(tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>",
       {1, 2, 3, 1, 4, 5, 6, 4}},
  };
  for (const auto& [type, lines, expected] : cases) {
    SCOPED_TRACE(lines);
    expect_near(one(function("%x: tensor<2x3xf32>", type, cat("  ", lines, "\n")), {x}), expected);
  }
}

// A start that is known only at run time is moved so that the slice lies inside.
TEST_F(StableHlo, SlicesBeginWhereAnInputSays) {
  const std::string text =
      function("%x: tensor<5xf32>, %i: tensor<i32>", "tensor<5xf32>",
               "  %s = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>\n"
               "  %n = stablehlo.negate %s : tensor<2xf32>\n"
               "  %r = stablehlo.dynamic_update_slice %x, %n, %i : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>\n");
  const Tensor x({5}, Floats{1, 2, 3, 4, 5});
  const std::pair<int, Floats> cases[] = {{1, {1, -2, -3, 4, 5}}, {9, {1, 2, 3, -4, -5}}, {-2, {-1, -2, 3, 4, 5}}};
  for (const auto& [start, expected] : cases) EXPECT_EQ(one(text, {x, Tensor::scalar(std::int32_t{start})}), expected);
}

// ---- regions

TEST_F(StableHlo, ReductionsHaveAnyBody) {
  const Tensor x({2, 5}, Floats{3, 1, 4, 1, 5, 2, 7, 1, 8, 2});
  const std::string argmax = function("%x: tensor<2x5xf32>", "tensor<2xi32>",
                                      "  %i = stablehlo.iota dim = 1 : tensor<2x5xi32>\n"
                                      "  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
                                      "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
                                      "  %both:2 = stablehlo.reduce(%x init: %low), (%i init: %z) across dimensions = [1] : "
                                      "(tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)\n"
                                      "   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>)  {\n"
                                      "    %g = stablehlo.compare  GE, %a, %c,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                                      "    %v = stablehlo.select %g, %a, %c : tensor<i1>, tensor<f32>\n"
                                      "    %p = stablehlo.select %g, %b, %d : tensor<i1>, tensor<i32>\n"
                                      "    stablehlo.return %v, %p : tensor<f32>, tensor<i32>\n"
                                      "  }\n"
                                      "  %r = stablehlo.reshape %both#1 : (tensor<2xi32>) -> tensor<2xi32>\n");
  EXPECT_EQ(one(argmax, {x}), (Floats{4, 3}));
  const std::string cumulative = function(
      "%x: tensor<2x5xf32>", "tensor<2x5xf32>",
      "  %z = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "  %r = \"stablehlo.reduce_window\"(%x, %z) <{padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, "
      "5>}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %m = stablehlo.multiply %a, %b : tensor<f32>\n    stablehlo.return %m : tensor<f32>\n"
      "  }) : (tensor<2x5xf32>, tensor<f32>) -> tensor<2x5xf32>\n");
  expect_near(one(cumulative, {x}), {3, 3, 12, 12, 60, 2, 14, 14, 112, 224});
  const std::string last = function("%x: tensor<2x5xf32>", "tensor<2xf32>",
                                    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                                    "  %r = \"stablehlo.reduce\"(%x, %z) <{dimensions = array<i64: 1>}> ({\n"
                                    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %c = stablehlo.constant dense<7.0> : tensor<f32>\n"
                                    "    stablehlo.return %c : tensor<f32>\n  }) : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>\n");
  EXPECT_EQ(one(last, {x}), (Floats{7, 7})) << "a body that does not look at the elements";
  const std::string sorted = function(
      "%x: tensor<2x5xf32>", "tensor<2x5xf32>",
      "  %r = \"stablehlo.sort\"(%x) <{dimension = 1 : i64, is_stable = true}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %g = stablehlo.compare  GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "    stablehlo.return %g : tensor<i1>\n  }) : (tensor<2x5xf32>) -> tensor<2x5xf32>\n");
  EXPECT_EQ(one(sorted, {x}), (Floats{5, 4, 3, 1, 1, 8, 7, 2, 2, 1}));
}

TEST_F(StableHlo, LoopsWithKnownConditionsAreUnrolled) {
  const std::string text = function("%x: tensor<2xf32>", "tensor<2xf32>",
                                    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
                                    "  %0:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<2xf32>\n"
                                    "   cond {\n    %n = stablehlo.constant dense<3> : tensor<i32>\n    %c = stablehlo.compare  LT, %i, "
                                    "%n,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                                    "    stablehlo.return %c : tensor<i1>\n  } do {\n"
                                    "    %o = stablehlo.constant dense<1> : tensor<i32>\n    %j = stablehlo.add %i, %o : tensor<i32>\n    "
                                    "%w = stablehlo.add %v, %v : tensor<2xf32>\n"
                                    "    stablehlo.return %j, %w : tensor<i32>, tensor<2xf32>\n  }\n"
                                    "  %r = stablehlo.reshape %0#1 : (tensor<2xf32>) -> tensor<2xf32>\n");
  EXPECT_EQ(one(text, {Tensor({2}, Floats{1, -2})}), (Floats{8, -16}));
}

// A condition that is an input: both branches, of which one is chosen.
TEST_F(StableHlo, BranchesOfAnUnknownConditionAreBothComputed) {
  const std::string text = function("%c: tensor<i1>, %x: tensor<2xf32>", "tensor<2xf32>",
                                    "  %r = \"stablehlo.if\"(%c) ({\n    stablehlo.return %x : tensor<2xf32>\n  }, {\n"
                                    "    %n = stablehlo.negate %x : tensor<2xf32>\n    stablehlo.return %n : tensor<2xf32>\n"
                                    "  }) : (tensor<i1>) -> tensor<2xf32>\n");
  for (bool c : {true, false}) {
    const Tensor condition = Tensor::scalar(Boolean{static_cast<std::uint8_t>(c)});
    EXPECT_EQ(one(text, {condition, Tensor({2}, Floats{1, -2})}), c ? (Floats{1, -2}) : (Floats{-1, 2}));
  }
}

TEST_F(StableHlo, ComplexNumbersAreTwoTensors) {
  const std::string text =
      "func.func @main(%z: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {\n"
      "  %c = stablehlo.constant dense<(0.0, 1.0)> : tensor<2xcomplex<f32>>\n"
      "  %0 = stablehlo.multiply %z, %c : tensor<2xcomplex<f32>>\n  return %0 : tensor<2xcomplex<f32>>\n}\n";
  auto outputs = run(text, {Tensor({2}, Floats{1, 2}), Tensor({2}, Floats{3, 4})});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs.at("result.real").to_f32(), (Floats{-3, -4}));
  EXPECT_EQ(outputs.at("result.imag").to_f32(), (Floats{1, 2}));
}

// The form that MLIR gives to any operation, with constants in hexadecimal and as bits.
TEST_F(StableHlo, TheGenericFormIsRead) {
  const std::string text =
      "\"builtin.module\"() ({\n"
      "  \"func.func\"() <{function_type = (tensor<2xf32>) -> tensor<9xi1>, sym_name = \"main\", sym_visibility = \"public\"}> ({\n"
      "  ^bb0(%arg0: tensor<2xf32>):\n"
      "    %0 = \"stablehlo.constant\"() <{value = dense<\"0xFF01\"> : tensor<9xi1>}> : () -> tensor<9xi1>\n"
      "    %1 = \"stablehlo.not\"(%0) : (tensor<9xi1>) -> tensor<9xi1>\n"
      "    \"func.return\"(%1) : (tensor<9xi1>) -> ()\n  }) : () -> ()\n}) : () -> ()\n";
  EXPECT_EQ(one(text, {pattern({2})}), Floats(9, 0));
  const std::string resource =
      cat(function("", "tensor<2xf32>", "  %r = stablehlo.constant dense_resource<w> : tensor<2xf32>\n"),
          "{-#\n  dialect_resources: {\n    builtin: {\n      w: \"0x040000000000803F000000C0\"\n    }\n  }\n#-}\n");
  EXPECT_EQ(one(resource), (Floats{1, -2}));
}

std::string constant_of_digits(const std::string& digits) {
  const std::string noted = R"(  %r = stablehlo.constant {note = "> \"{ \\\\", other = "\\"} dense<")";
  return function("", "tensor<1xf32>", noted + digits + "\"> : tensor<1xf32>\n");
}

TEST_F(StableHlo, StringsEndAtTheQuoteThatIsNotEscaped) {
  EXPECT_EQ(one(constant_of_digits("0x0000803F")), Floats{1});
  EXPECT_EQ(one(constant_of_digits("0x0000a0bF")), Floats{-1.25f});
}

TEST_F(StableHlo, TextThatIsNotHexadecimalIsRefused) {
  for (const char* digits : {"0x0000803", "0x000080G0", "0x0000:03F", "00803F"})
    EXPECT_THAT(refused(constant_of_digits(digits)), HasSubstr("a constant's text is not hexadecimal")) << digits;
}

// Digits from 64 KB on are no longer copied: the graph says where they are in the file.
TEST_F(StableHlo, LongConstantsStayText) {
  constexpr std::size_t kCount = 10'000;
  std::string digits;
  for (std::size_t i = 0; i < kCount; ++i) digits += i % 2 == 0 ? "0000803f" : "000000C0";  // 1, -2
  auto model = [](const std::string& text, const std::string& more = {}) {
    return function("", "tensor<10000xf32>", cat("  %r = stablehlo.constant dense<\"0x", text, "\"> : tensor<10000xf32>\n", more));
  };
  EXPECT_THAT(refused(model(digits.substr(1))), HasSubstr("SH010"));
  EXPECT_THAT(refused(model(digits.substr(8))), HasSubstr("SH010 a constant of type tensor<10000xf32> has 39996 bytes of elements"));
  for (std::size_t at = 40'000; at < 40'032; ++at) {
    std::string wrong = digits;
    wrong[at] = 'g';
    EXPECT_THAT(refused(model(wrong)), HasSubstr("SH010 a constant's text is not hexadecimal")) << at;
  }
  EXPECT_THAT(refused(model(digits, "  %s = stablehlo.frobnicate %r : tensor<10000xf32>\n")), HasSubstr("line 3"));
  auto graph = import_module(model(digits));
  ASSERT_TRUE(graph) << text_of(graph.failure());
  const std::string written(fs_.find("out/m.graph.json")->view());
  EXPECT_THAT(written, HasSubstr(R"("file": "../dir/m.mlir", "offset": 83, "file_size": 80140, "hex": true)"));
  EXPECT_EQ(fs_.find("out/m.graph.safetensors"), nullptr);
  const Floats y = ops::evaluate_graph(*graph, {})->begin()->second.to_f32();
  ASSERT_EQ(y.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(y[i], i % 2 == 0 ? 1.0f : -2.0f) << i;
}

// ---- sizes and values that the user gives

TEST_F(StableHlo, OpenSizesAreGivenByTheUser) {
  const std::string text =
      "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {\n"
      "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>\n"
      "  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n  %two = stablehlo.constant dense<2> : tensor<1xi32>\n"
      "  %s = stablehlo.concatenate %m, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
      "  %one = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "  %b = stablehlo.dynamic_broadcast_in_dim %one, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>\n"
      "  %r = stablehlo.add %x, %b : tensor<?x2xf32>\n  return %r : tensor<?x2xf32>\n}\n";
  EXPECT_EQ(refused(text),
            "SH023 input 'x' has the type tensor<?x2xf32>, and the size of axis 0 is open\n  hint: give the size: --dim x.0=N\n");
  EXPECT_EQ(one(text, {Tensor({1, 2}, Floats{1, 2})}, {"x.0=1"}), (Floats{2, 3}));
  auto by_shape = import_module(text, {}, {}, {"x=3,2"});
  ASSERT_TRUE(by_shape);
  EXPECT_EQ(by_shape->node(by_shape->inputs()[0]).outputs[0].shape, (Shape{3, 2}));
  EXPECT_FALSE(import_module(text, {}, {}, {"x=3,4"}));
  EXPECT_FALSE(import_module(text, {"x.1=4", "x.0=1"}));
  EXPECT_FALSE(import_module(text, {"x.0=1", "y.0=1"}));
}

// ---- what is refused

// An odd element is left over, and what the others make of each other is of another type.
TEST_F(StableHlo, BodiesOfReductionsReturnWhatTheyTake) {
  EXPECT_THAT(refused(function("%x: tensor<3xi32>", "tensor<f32>",
                               "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
                               "  %r = \"stablehlo.reduce\"(%x, %z) <{dimensions = array<i64: 0>}> ({\n"
                               "  ^bb0(%a: tensor<i32>, %b: tensor<i32>):\n    %d = stablehlo.subtract %a, %b : tensor<i32>\n"
                               "    %f = stablehlo.convert %d : (tensor<i32>) -> tensor<f32>\n"
                               "    stablehlo.return %f : tensor<f32>\n  }) : (tensor<3xi32>, tensor<i32>) -> tensor<f32>\n")),
              HasSubstr("inputs must have one element type; input 0 is F32, input 1 is I32"));
}

// A maximum over windows that are larger than the operand: there are none, and it is no pool.
TEST_F(StableHlo, WindowsThatDoNotFitAreNoPools) {
  const auto largest = [](const char* result) {
    return function("%x: tensor<2x4xf32>", result,
                    cat("  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
                        "  %r = \"stablehlo.reduce_window\"(%x, %low) <{window_dimensions = array<i64: 3, 2>}> ({\n"
                        "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %m = stablehlo.maximum %a, %b : tensor<f32>\n"
                        "    stablehlo.return %m : tensor<f32>\n  }) : (tensor<2x4xf32>, tensor<f32>) -> ",
                        result, "\n"));
  };
  EXPECT_THAT(refused(largest("tensor<1x3xf32>")), HasSubstr("is stated to be tensor<1x3xf32>, and is F32 [0, 3]"));
}

TEST_F(StableHlo, RefusalsNameTheReason) {
  const std::string f = "tensor<2xf32>";
  EXPECT_EQ(
      refused(function("%x: tensor<2xf32>", f,
                       "  %0 = \"stablehlo.rng\"(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
                       "  %1 = stablehlo.custom_call @mine(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
                       "  %2 = stablehlo.custom_call @mine(%1) : (tensor<2xf32>) -> tensor<2xf32>\n"
                       "  %3 = stablehlo.custom_call @Sharding(%2) : (tensor<2xf32>) -> tensor<2xf32>\n"
                       "  %r = \"stablehlo.all_reduce\"(%x) : (tensor<2xf32>) -> tensor<2xf32>\n")),
      "SH030 the model uses 3 operators that are not supported\n"
      "  note: operator stablehlo.all_reduce: it exchanges data with other devices or the host while the model runs; export the model for "
      "one "
      "device; used by 1 node: line 6\n"
      "  note: operator stablehlo.custom_call of 'mine': it calls code outside of the file; export the model for the CPU without custom "
      "calls, or compute this part before or after the model; used by 2 nodes: line 3, line 4\n"
      "  note: operator stablehlo.rng: its result is random, while a compiled model gives the same result for the same input; used by 1 "
      "node: "
      "line 2\n");
  const std::pair<std::string, const char*> cases[] = {
      {function("%x: tensor<2xf32>", f, "  %r = stablehlo.add %x, %y : tensor<2xf32>\n"),
       "SH004 uses the value %y, which is not defined before"},
      {function("%x: tensor<2xf32>", f, "  %r = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"),
       "its result 0 is stated to be tensor<2xf32>, and is F32 [4]"},
      {function("%x: tensor<2xf32>", f, "  %r = stablehlo.add %x, %x  tensor<2xf32>\n"), "SH003 expected"},
      {function("%x: tensor<2xf32>", f, "  %r = stablehlo.constant dense<[1.0]> : tensor<2xf32>\n"),
       "SH010 a constant's elements do not fit its type"},
      {function("%x: tensor<2xf32>", f, "  %r = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"), "function 'main' calls itself"},
      {function("%x: tensor<2xf32>", f, "  %r = call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"),
       "calls the function 'other', which the file does not have"},
      {function("%x: tensor<2xf32>, %c: tensor<i1>", f,
                "  %r = stablehlo.while(%v = %x) : tensor<2xf32>\n   cond {\n    stablehlo.return %c : tensor<i1>\n  } do {\n    "
                "stablehlo.return %v : tensor<2xf32>\n  }\n"),
       "its condition is computed at run time; it must be constant"},
      {function("%x: tensor<2xf32>", f,
                "  %t = stablehlo.constant dense<true> : tensor<i1>\n  %r = stablehlo.while(%v = %x) : tensor<2xf32>\n   cond {\n    "
                "stablehlo.return %t : tensor<i1>\n"
                "  } do {\n    %n = stablehlo.negate %v : tensor<2xf32>\n    stablehlo.return %n : tensor<2xf32>\n  }\n"),
       "SH026 its loops have more than"},
      {"func.func @f() { return }\nfunc.func @g() { return }\n", "SH027 has no function 'main'"},
      {"module {\n", "SH003 expected an operation, but the file ends here"},
      {function("%x: tensor<2xf32>", "tensor<1000000x1000000x1000000x1000000xf32>",
                "  %r = stablehlo.constant dense<1.0> : tensor<1000000x1000000x1000000x1000000xf32>\n"),
       "SH010"},
  };
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    EXPECT_THAT(refused(text), HasSubstr(message));
  }
}

// Any bytes give a graph or a diagnostic.
TEST_F(StableHlo, DamagedTextIsReadOrRefused) {
  Rng rng(7);
  const std::string good =
      "module @m {\n  func.func public @main(%x: tensor<2x3xf32>, %i: tensor<i32>) -> tensor<2x3xf32> {\n"
      "    %w = stablehlo.constant dense<[[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]]> : tensor<3x2xf32>\n"
      "    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>\n"
      "    %c = stablehlo.constant dense<0x00000000> : tensor<f32>\n"
      "    %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> "
      "tensor<2xf32>\n"
      "    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>\n"
      "    %3:2 = stablehlo.while(%a = %i, %b = %2) : tensor<i32>, tensor<2x3xf32>\n     cond {\n"
      "      %t = stablehlo.constant dense<false> : tensor<i1>\n      stablehlo.return %t : tensor<i1>\n    } do {\n"
      "      stablehlo.return %a, %b : tensor<i32>, tensor<2x3xf32>\n    }\n"
      "    %4 = \"stablehlo.gather\"(%3#1, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], "
      "start_index_map = [0]>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>\n"
      "    %5 = stablehlo.slice %4 [0:3:1] : (tensor<3xf32>) -> tensor<3xf32>\n"
      "    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>\n    return %6 : tensor<2x3xf32>\n  }\n}\n";
  ASSERT_TRUE(import_module(good));
  int imported = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (std::uint64_t k = 0; k <= rng.below(3); ++k) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(5)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(at, 1 + rng.below(4));
          break;
        case 2:
          text.insert(at, text.substr(rng.below(text.size()), 1 + rng.below(30)));
          break;
        case 3:
          text[at] = static_cast<char>('0' + rng.below(10));
          break;
        default:
          if (rng.below(4) == 0) text.resize(at + 1);
      }
    }
    auto graph = import_module(text);
    if (graph) {
      ++imported;
      continue;
    }
    ASSERT_FALSE(graph.failure().empty());
    for (const auto& d : graph.failure().diagnostics()) ASSERT_NE(d.fault, Fault::bug) << d.message << "\n" << text;
  }
  EXPECT_GT(imported, 10);
}

// ---- bytecode

// relu(x w), and the sum of its rows: constants, attributes, and a region.
std::string bytecode_of_a_layer() {
  StableHloBytecode b;
  const auto x = b.tensor_type({2, 3}, 4), w = b.tensor_type({3, 2}, 4), y = b.tensor_type({2, 2}, 4), scalar = b.tensor_type({}, 4),
             sums = b.tensor_type({2}, 4);
  const auto none = b.attribute(17, b.number(b.type(33))), no_axes = b.integers({}), precision = b.attribute(1, b.number(0));
  const std::vector<std::string> operations{
      b.operation({"constant_v1", {b.floats({3, 2}, {1, -1, 0.5f, 2, -3, 0.25f})}, {w}, {}, {}}),
      b.operation({"dot_general_v2",
                   {none, none, no_axes, none, b.integers({1}), none, none, precision, no_axes, none, b.integers({0}), none},
                   {y},
                   {0, 1},
                   {}}),
      b.operation({"constant_v1", {b.floats({}, {0})}, {scalar}, {}, {}}),
      b.operation({"broadcast_in_dim_v1", {no_axes}, {y}, {3}, {}}),
      b.operation({"maximum_v1", {}, {y}, {2, 4}, {}}),
      b.operation({"reduce_v1",
                   {b.integers({1})},
                   {sums},
                   {5, 3},
                   b.open(b.region({scalar, scalar}, 3,
                                   {b.operation({"add_v1", {}, {scalar}, {7, 8}, {}}), b.operation({"return_v1", {}, {}, {9}, {}})}))}),
      b.operation({"return_v1", {}, {}, {6}, {}}),
  };
  return b.file({x}, {sums}, b.region({x}, 7, operations));
}

TEST_F(StableHlo, PortableBytecodeIsRead) {
  const Tensor x({2, 3}, Floats{1, 2, 3, -1, 0.5f, 0});
  // [1 + 1 - 9, -1 + 4 + 0.75] and [-1 + 0.25, 1 + 1]
  EXPECT_EQ(one(bytecode_of_a_layer(), {x}), (Floats{3.75f, 2}));
}

TEST_F(StableHlo, ConstantsOfBytecodeStayInTheFile) {
  auto graph = import_module(bytecode_of_a_layer());
  ASSERT_TRUE(graph);
  int parameters = 0;
  for (auto id : graph->ids()) {
    const auto& node = graph->node(id);
    if (node.op() != "parameter") continue;
    ++parameters;
    EXPECT_TRUE(node.value && node.value->source) << node.name();
  }
  EXPECT_EQ(parameters, 1);
}

TEST_F(StableHlo, NewerBytecodeIsRefused) {
  EXPECT_EQ(refused(cat("ML\xEFR", StableHloBytecode::number(9), "t", std::string(1, '\0'))),
            "SH001 is bytecode of version 9; up to 6 are supported\n");
}

TEST_F(StableHlo, DamagedBytecodeIsReadOrRefused) {
  Rng rng(3);
  const std::string good = bytecode_of_a_layer();
  for (std::size_t size = 4; size < good.size(); ++size) EXPECT_FALSE(import_module(good.substr(0, size))) << size;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (std::uint64_t k = 0; k <= rng.below(3); ++k) {
      const std::size_t at = 4 + rng.below(bytes.size() - 4);
      bytes[at] = static_cast<char>(rng.below(3) == 0 ? bytes[at] ^ (1 << rng.below(8)) : static_cast<int>(rng.below(256)));
    }
    auto graph = import_module(bytes);
    if (graph) continue;
    ASSERT_FALSE(graph.failure().empty());
    for (const auto& d : graph.failure().diagnostics()) ASSERT_NE(d.fault, Fault::bug) << d.message;
  }
}

// ---- the page

TEST_F(StableHlo, ThePageListsWhatIsRead) { expect_page_lists_operators("stablehlo"); }

}  // namespace
}  // namespace buda::test
