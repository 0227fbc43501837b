// SPDX-License-Identifier: Apache-2.0
// Every gradient rule next to central differences in F64, for several shapes and attributes.
#include "gradient_cases.hpp"

#include <buda/autograd/rules/rules.hpp>
#include <buda/ops/table/registry.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace buda::autograd {
namespace {

std::map<std::size_t, double> listed(std::initializer_list<double> elements) {
  std::map<std::size_t, double> out;
  for (double x : elements) out.emplace(out.size(), x);
  return out;
}

// Selections by given indices, some of which repeat.
void indexing_cases(std::vector<Case>& out) {
  using Ints = std::vector<std::int64_t>;
  const std::vector<DType> second = {DType::f64, DType::i64};
  const auto dim = [](std::int64_t axis) { return AttrMap{{"dim", axis}}; };
  out.push_back({"gather_elements", {{3, 4}, {3, 2}}, dim(1), -2, 2, second, {{1, listed({0, 3, 2, 2, 1, -1})}}});
  out.push_back({"gather_elements", {{5, 2, 1}, {3, 2, 1}}, dim(0), -2, 2, second, {{1, listed({0, 4, 4, 2, 0, 1})}}});
  out.push_back({"gather_nd", {{3, 4}, {3, 2}}, {}, -2, 2, second, {{1, listed({0, 1, 2, 3, 0, 1})}}});
  out.push_back({"gather_nd", {{3, 5, 2}, {2, 1}}, {}, -2, 2, second, {{1, listed({2, -1})}}});
  out.push_back({"gather_nd", {{2, 3, 4}, {2, 3, 1}}, {{"batch_dims", std::int64_t{1}}}, -2, 2, second, {{1, listed({0, 2, 2, 1, 0, 1})}}});
  out.push_back({"gather_nd", {{2, 3, 5}, {2, 3, 1}}, {{"batch_dims", std::int64_t{2}}}, -2, 2, second, {{1, listed({0, 4, 2, 1, 0, 1})}}});
  const std::vector<DType> third = {DType::f64, DType::i64, DType::f64};
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    const AttrMap along{{"dim", std::int64_t{1}}, {"reduction", reduction}}, by{{"reduction", reduction}};
    out.push_back({"scatter_elements", {{2, 5}, {2, 3}, {2, 3}}, along, -2, 2, third, {{1, listed({0, 3, 0, 4, 4, 4})}}});
    out.push_back({"scatter_elements", {{3, 4, 1}, {1, 2, 1}, {1, 2, 1}}, along, -2, 2, third, {{1, listed({1, -1})}}});
    out.push_back({"scatter_nd", {{3, 4}, {3, 2}, {3}}, by, -2, 2, third, {{1, listed({0, 1, 2, 3, 0, 1})}}});
    out.push_back({"scatter_nd", {{4, 3}, {2, 2, 1}, {2, 2, 3}}, by, -2, 2, third, {{1, listed({0, 3, 3, 3})}}});
  }
  // Products with factors of 0: one at a place, and two.
  const AttrMap product{{"dim", std::int64_t{0}}, {"reduction", "mul"}};
  const std::map<std::size_t, double> zeros = {{0, 0}, {2, 0}};
  out.push_back({"scatter_elements", {{3}, {4}, {4}}, product, -2, 2, third, {{0, zeros}, {1, listed({0, 1, 1, 2})}, {2, zeros}}});
  out.push_back({"topk", {{3, 5}}, {{"k", std::int64_t{2}}}});
  out.push_back({"topk", {{5, 3, 1}}, {{"k", std::int64_t{3}}, {"dim", std::int64_t{0}}, {"largest", false}}});
  out.push_back({"reverse_sequence", {{4, 3, 2}, {3}}, {}, -2, 2, second, {{1, listed({2, 4, 0})}}});
  out.push_back({"reverse_sequence",
                 {{2, 5}, {2}},
                 {{"batch_dim", std::int64_t{0}}, {"time_dim", std::int64_t{1}}},
                 -2,
                 2,
                 second,
                 {{1, listed({5, 3})}}});
  const std::vector<DType> first = {DType::i64, DType::f64};
  out.push_back({"one_hot", {{3}, {2}}, {{"depth", std::int64_t{4}}}, -2, 2, first, {{0, listed({0, 3, 3})}}});
  out.push_back(
      {"one_hot", {{2, 2}, {2}}, {{"depth", std::int64_t{3}}, {"dim", std::int64_t{0}}}, -2, 2, first, {{0, listed({0, 2, 1, 1})}}});
  out.push_back({"max_unpool", {{1, 1, 3}, {1, 1, 3}}, {{"shape", Ints{1, 1, 7}}}, -2, 2, second, {{1, listed({0, 6, 3})}}});
  out.push_back({"max_unpool", {{1, 2, 1, 2}, {1, 2, 1, 2}}, {{"shape", Ints{1, 2, 2, 3}}}, -2, 2, second, {{1, listed({1, 5, 6, 11})}}});
  out.push_back({"dequantize",
                 {{2, 3}, {}, {}},
                 {},
                 0.5,
                 2,
                 {DType::i8, DType::f64, DType::i8},
                 {{0, listed({-3, 5, 100, 0, 7, 1})}, {2, listed({3})}},
                 {},
                 0.25});
  out.push_back({"dequantize",
                 {{2, 3}, {3}, {3}},
                 {},
                 0.5,
                 2,
                 {DType::u8, DType::f64, DType::u8},
                 {{0, listed({3, 5, 200, 0, 7, 1})}, {2, listed({3, 1, 9})}},
                 {},
                 0.25});
  const std::vector<DType> picks = {DType::i32};
  out.push_back({"sparse_matmul", {{2, 1, 3}, {4, 2}}, {}, -2, 2, picks, {{0, listed({1, 4, 1, 0, 2, 1})}}, {0}});
  out.push_back({"sparse_matmul", {{1, 2, 3}, {5, 1, 4, 2}}, {}, -2, 2, picks, {{0, listed({1, 4, 1, 0, 2, 1})}}, {0}});
  out.push_back({"sparse_matmul", {{2, 1, 2}, {3, 4, 2}, {2, 1, 2}}, {}, -2, 2, picks, {{0, listed({1, 4, 1, 2})}}, {0}});
  out.push_back(
      {"sparse_matmul", {{2, 3, 2}, {3, 4, 1}, {2, 3, 2}}, {}, -2, 2, picks, {{0, listed({1, 4, 1, 0, 2, 3, 4, 4, 0, 1, 2, 1})}}, {0}});
}

std::vector<Case> cases() {
  std::vector<Case> out;
  const auto each = [&](std::initializer_list<const char*> ops, double least, double most, const AttrMap& attrs = {}) {
    for (const char* op : ops)
      for (const Shape& shape : {Shape{3, 4}, Shape{7}, Shape{2, 1, 5}}) out.push_back({op, {shape}, attrs, least, most, {}});
  };
  each({"abs", "buffer", "nop", "negative", "square", "exp", "sine", "cosine", "sinh", "cosh", "tan", "atan", "erf"}, -1.4, 1.4);
  each({"log", "sqrt", "reciprocal"}, 0.3, 3);
  each({"relu", "leaky_relu", "sigmoid", "tanh", "gelu", "softplus"}, -2, 2);
  each({"gelu"}, -2, 2, {{"approximate", "tanh"}});
  each({"clip"}, -2, 2, {{"min", -0.7}, {"max", 0.9}});
  each({"clip"}, -2, 2, {{"min", -0.7}});
  each({"asin", "acos", "atanh"}, -0.8, 0.8);
  each({"asinh"}, -3, 3);
  each({"acosh"}, 1.2, 4);
  each({"celu", "elu", "selu", "hard_sigmoid", "mish", "softsign", "shrink", "thresholded_relu"}, -2, 2);
  each({"celu", "elu", "thresholded_relu"}, -2, 2, {{"alpha", 0.7}});
  each({"selu"}, -2, 2, {{"alpha", 1.2}, {"gamma", 0.9}});
  each({"hard_sigmoid"}, -4, 4, {{"alpha", 0.3}, {"beta", 0.4}});
  each({"hard_swish"}, -5, 5);
  each({"shrink"}, -2, 2, {{"lambda", 0.8}, {"bias", 0.3}});
  for (const char* op : {"add", "subtract", "multiply", "maximum", "minimum"})
    for (const auto& [a, b] :
         {std::pair{Shape{3, 4}, Shape{3, 4}}, {Shape{3, 4}, Shape{4}}, {Shape{2, 1, 5}, Shape{3, 1}}, {Shape{}, Shape{5}}})
      out.push_back({op, {a, b}});
  for (const char* op : {"divide", "power"})
    for (const auto& [a, b] : {std::pair{Shape{3, 4}, Shape{3, 4}}, {Shape{3, 1}, Shape{2, 1, 4}}}) out.push_back({op, {a, b}, {}, 0.4, 2});
  for (const char* op : {"modulo", "remainder"})
    for (const auto& [a, b] : {std::pair{Shape{3, 4}, Shape{3, 4}}, {Shape{3, 1}, Shape{2, 1, 5}}}) {
      out.push_back({op, {a, b}, {}, 0.4, 2});
      out.push_back({op, {a, b}, {}, -2, -0.4});
    }
  out.push_back({"prelu", {{2, 3, 4}, {3, 1}}});
  out.push_back({"where", {{3, 4}, {4}, {3, 4}}, {}, -2, 2, {DType::boolean}});
  for (const auto& [a, b] : {std::pair{Shape{3, 4}, Shape{4, 5}},
                             {Shape{2, 3, 4}, Shape{4, 5}},
                             {Shape{2, 3, 4}, Shape{2, 4, 5}},
                             {Shape{3, 1, 2, 4}, Shape{5, 4, 3}},
                             {Shape{4}, Shape{4, 3}},
                             {Shape{2, 3, 4}, Shape{4}},
                             {Shape{4}, Shape{4}}})
    out.push_back({"matmul", {a, b}});
  out.push_back({"matmul", {{3, 4}, {4, 5}, {5}}});
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      out.push_back({"gemm",
                     {ta ? Shape{4, 3} : Shape{3, 4}, tb ? Shape{5, 4} : Shape{4, 5}, {5}},
                     {{"trans_a", ta}, {"trans_b", tb}, {"alpha", 0.5}, {"beta", 1.5}}});
  const auto axes = [](std::vector<std::int64_t> dims) { return AttrMap{{"dims", std::move(dims)}}; };
  for (const char* op : {"reduce_sum", "reduce_avg", "reduce_max", "reduce_min"}) {
    out.push_back({op, {{3, 4}}, axes({1})});
    out.push_back({op, {{2, 3, 4}}, axes({0, -1})});
    out.push_back({op, {{2, 3, 4}}, {{"dims", std::vector<std::int64_t>{1}}, {"keep_dims", false}}});
    out.push_back({op, {{3, 5}}});
  }
  out.push_back({"reduce_prod", {{3, 4}}, axes({1})});
  out.push_back({"reduce_prod", {{2, 3, 5}}, {{"dims", std::vector<std::int64_t>{0, -1}}, {"keep_dims", false}}});
  out.push_back({"reduce_prod", {{3, 3}}});
  // Of none, one and two zeros.
  out.push_back({"reduce_prod", {{3, 3}}, axes({1}), -2, 2, {}, {{0, {{3, 0}, {6, 0}, {8, 0}}}}});
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true}) {
      out.push_back({"cumsum", {{3, 5}}, {{"exclusive", exclusive}, {"reverse", reverse}}});
      out.push_back({"cumsum", {{3, 2, 4}}, {{"dim", std::int64_t{0}}, {"exclusive", exclusive}, {"reverse", reverse}}});
    }
  for (const char* op : {"softmax", "log_softmax"})
    for (std::int64_t dim : {-1, 0, 1}) out.push_back({op, {{3, 4, 2}}, {{"dim", dim}}});
  out.push_back({"layernorm", {{3, 5}, {5}, {5}}});
  out.push_back({"layernorm", {{2, 3, 4}, {3, 4}, {3, 4}}, {{"dim", std::int64_t{1}}}});
  out.push_back({"layernorm", {{3, 7}}});
  using Ints = std::vector<std::int64_t>;
  out.push_back({"batchnorm", {{2, 3, 5}, {3}, {3}, {3}, {3}}, {}, 0.2, 2});
  out.push_back({"batchnorm", {{3, 2}, {2}, {2}, {2}, {2}}, {{"epsilon", 0.1}}, 0.2, 2});
  out.push_back({"lrn", {{2, 5, 3}}, {{"size", std::int64_t{3}}, {"alpha", 0.7}, {"beta", 0.6}, {"bias", 1.5}}});
  out.push_back({"lrn", {{1, 4, 2, 2}}, {{"size", std::int64_t{4}}, {"alpha", 0.5}}});
  out.push_back({"lrn", {{1, 3, 2}}, {{"size", std::int64_t{9}}, {"alpha", 0.5}}});
  out.push_back({"reshape", {{3, 4}}, {{"shape", Ints{2, 6}}}});
  out.push_back({"squeeze", {{3, 1, 4}}, axes({1})});
  out.push_back({"unsqueeze", {{3, 4}}, axes({0, 2})});
  out.push_back({"transpose", {{2, 3, 4}}, {{"perm", Ints{2, 0, 1}}}});
  out.push_back({"broadcast", {{3, 1}}, {{"shape", Ints{2, 3, 5}}}});
  out.push_back({"concatenate", {{2, 3}, {2, 1}, {2, 4}}, {{"dim", std::int64_t{-1}}}});
  out.push_back({"pad", {{3, 4}}, {{"before", Ints{1, 0}}, {"after", Ints{2, 3}}, {"value", 0.5}}});
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    out.push_back({"pad_continued", {{3, 4}}, {{"before", Ints{2, 1}}, {"after", Ints{1, 3}}, {"mode", mode}}});
    out.push_back({"pad_continued", {{2, 1, 5}}, {{"before", Ints{0, 0, 4}}, {"after", Ints{1, 0, 0}}, {"mode", mode}}});
  }
  out.push_back({"resize", {{1, 2, 3, 4}}, {{"shape", Ints{1, 2, 6, 8}}}});
  out.push_back({"resize", {{1, 2, 3, 4}}, {{"shape", Ints{1, 2, 7, 3}}, {"method", "linear"}}});
  out.push_back({"resize", {{1, 1, 4, 5}}, {{"shape", Ints{1, 1, 7, 9}}, {"method", "linear"}, {"coordinates", "align_corners"}}});
  out.push_back({"resize", {{1, 1, 5, 5}}, {{"shape", Ints{1, 1, 8, 3}}, {"method", "cubic"}, {"exclude_outside", true}}});
  out.push_back({"resize", {{1, 1, 7, 9}}, {{"shape", Ints{1, 1, 3, 4}}, {"method", "linear"}, {"antialias", true}}});
  out.push_back({"resize",
                 {{1, 1, 4, 4}},
                 {{"shape", Ints{1, 1, 3, 3}},
                  {"method", "linear"},
                  {"coordinates", "tf_crop_and_resize"},
                  {"roi", std::vector<double>{0, 0, 0.4, -0.3, 1, 1, 1.4, 0.7}},
                  {"extrapolation", 2.0}}});
  out.push_back({"slice", {{5, 7}}, {{"dims", Ints{0, -1}}, {"starts", Ints{1, 2}}, {"stops", Ints{4, 7}}}});
  out.push_back({"slice", {{5, 7}}, {{"dims", Ints{1}}, {"starts", Ints{1}}, {"stops", Ints{7}}, {"steps", Ints{3}}}});
  out.push_back({"slice", {{5, 8}}, {{"dims", Ints{1}}, {"starts", Ints{-1}}, {"stops", Ints{-9}}, {"steps", Ints{-2}}}});
  out.push_back({"tile", {{2, 3}}, {{"repeats", Ints{3, 2}}}});
  out.push_back({"triangle", {{3, 3}}, {{"diagonal", std::int64_t{1}}}});
  out.push_back({"conv1d", {{2, 3, 7}, {4, 3, 3}, {4}}, {{"padding", Ints{1, 0}}, {"stride", Ints{2}}}});
  out.push_back({"conv2d", {{2, 3, 5, 6}, {4, 3, 3, 2}, {4}}, {{"padding", Ints{1, 1, 1, 0}}}});
  out.push_back({"conv2d", {{2, 4, 6, 5}, {6, 2, 3, 3}}, {{"groups", std::int64_t{2}}, {"stride", Ints{2, 1}}, {"dilation", Ints{1, 2}}}});
  out.push_back({"conv2d", {{1, 3, 4, 4}, {2, 3, 1, 1}, {2}}});
  out.push_back({"conv3d", {{1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {2}}});
  out.push_back({"conv1d_transpose", {{2, 3, 4}, {3, 2, 3}, {2}}, {{"stride", Ints{2}}, {"padding", Ints{1, 0}}}});
  out.push_back({"conv2d_transpose", {{2, 2, 3, 4}, {2, 3, 3, 2}, {3}}, {{"stride", Ints{2, 1}}, {"output_padding", Ints{1, 0}}}});
  out.push_back({"conv2d_transpose",
                 {{1, 4, 3, 3}, {4, 3, 2, 3}, {6}},
                 {{"groups", std::int64_t{2}}, {"stride", Ints{2, 2}}, {"dilation", Ints{1, 2}}, {"padding", Ints{0, 1, 1, 1}}}});
  out.push_back({"conv3d_transpose", {{1, 2, 2, 3, 2}, {2, 2, 2, 2, 2}}, {{"stride", Ints{1, 2, 1}}}});
  out.push_back({"conv2d", {{2, 3, 5, 5}, {6, 1, 3, 3}, {6}}, {{"groups", std::int64_t{3}}, {"padding", Ints{1, 1, 1, 1}}}});
  out.push_back({"conv2d", {{1, 33, 1, 2}, {33, 1, 1, 2}}, {{"groups", std::int64_t{33}}, {"padding", Ints{0, 0, 1, 0}}}});
  out.push_back({"conv2d", {{2, 36, 1, 2}, {36, 4, 1, 2}}, {{"groups", std::int64_t{9}}, {"padding", Ints{0, 0, 1, 1}}}});
  out.push_back({"conv2d", {{1, 33, 1, 2}, {66, 1, 1, 2}}, {{"groups", std::int64_t{33}}}});
  out.push_back({"conv2d", {{2, 64, 1, 1}, {4, 32, 1, 1}}, {{"groups", std::int64_t{2}}}});
  out.push_back({"depthwise", {{3, 12}, {6, 4}}, {{"width", std::int64_t{2}}}});
  out.push_back({"depthwise", {{2, 1, 3, 9}, {9, 3}}, {{"width", std::int64_t{3}}}});
  out.push_back({"max_pool1d", {{2, 3, 7}}, {{"kernel", Ints{3}}, {"stride", Ints{2}}, {"padding", Ints{1, 1}}}});
  out.push_back({"max_pool2d", {{2, 3, 6, 4}}, {{"kernel", Ints{2, 2}}, {"stride", Ints{2, 2}}}});
  out.push_back({"max_pool2d", {{1, 2, 5, 5}}, {{"kernel", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"padding", Ints{1, 1, 1, 1}}}});
  out.push_back({"max_pool3d", {{1, 2, 4, 2, 4}}, {{"kernel", Ints{2, 2, 2}}, {"stride", Ints{2, 2, 2}}}});
  out.push_back({"avg_pool2d", {{2, 3, 6, 4}}, {{"kernel", Ints{2, 2}}, {"stride", Ints{2, 2}}}});
  out.push_back({"avg_pool2d",
                 {{1, 2, 5, 5}},
                 {{"kernel", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"padding", Ints{1, 1, 1, 1}}, {"count_include_pad", false}}});
  out.push_back({"avg_pool3d", {{1, 2, 4, 2, 4}}, {{"kernel", Ints{2, 2, 2}}, {"stride", Ints{2, 2, 2}}}});
  indexing_cases(out);
  for (std::int64_t dim : {0, 1, -1}) out.push_back({"gather", {{4, 3, 5}, {2, 2}}, {{"dim", dim}}, -2, 2, {DType::f64, DType::i64}});
  out.push_back({"gather", {{4, 3}, {5}}, {}, -2, 2, {DType::f64, DType::i64}});
  out.push_back({"avg_pool1d", {{1, 2, 7}}, {{"kernel", Ints{3}}, {"stride", Ints{1}}}});
  return out;
}

class Rules : public ::testing::TestWithParam<Case> {};

TEST_P(Rules, AgreesWithDifferences) { expect_gradients(GetParam(), {}); }

INSTANTIATE_TEST_SUITE_P(Each, Rules, ::testing::ValuesIn(cases()));

// Convolutions of drawn sizes, of one group and of several: kernels, strides, padding and dilation each of its own, and as many channels as
// a tile has, fewer or more.
Case drawn_convolution(std::uint64_t seed) {
  Rng rng(seed);
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  const bool transposed = rng.below(3) == 0;
  std::vector<std::int64_t> x{from(1, 2), 0}, kernel, stride, dilation, padding;
  for (int axis = 0; axis < 2; ++axis) {
    kernel.push_back(from(1, 3));
    stride.push_back(from(1, 2));
    dilation.push_back(from(1, 2));
    const std::int64_t covered = (kernel.back() - 1) * dilation.back();
    padding.push_back(from(0, covered));
    padding.push_back(from(0, covered));
    x.push_back(from(1, 2) + covered);
  }
  const std::int64_t groups = from(1, 4) == 1 ? 1 : from(2, 5), ins[] = {1, 1, 2, 3, 4}, outs[] = {1, 1, 2, 3, 8};
  const std::int64_t in = groups == 1 ? from(1, 5) : ins[rng.below(5)], out = groups == 1 ? from(1, 5) : outs[rng.below(5)];
  x[1] = groups * in;
  std::vector<std::int64_t> weights = transposed ? std::vector{groups * in, out} : std::vector{groups * out, in};
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  Case c{transposed ? "conv2d_transpose" : "conv2d",
         {Shape(x), Shape(weights), Shape{groups * out}},
         {{"groups", groups}, {"stride", stride}, {"dilation", dilation}}};
  if (!transposed) c.attrs["padding"] = padding;
  return c;
}

TEST(DrawnConvolutions, AgreeWithDifferences) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const Case c = drawn_convolution(seed);
    SCOPED_TRACE(c);
    expect_gradients(c, {});
  }
}

// Each op has a formula that is tested above, a decomposition, or a reason why there is no gradient.
TEST(RuleTable, AllOpsOfTensorLevel) {
  std::set<std::string> tested;
  for (const Case& c : cases()) tested.insert(c.op);
  std::size_t count = 0;
  for (const ops::OpDef* def : ops::standard_ops().all()) {
    if (def->level != graph::Level::tensor) continue;
    ++count;
    const GradientRule* rule = find_rule(def->name);
    ASSERT_NE(rule, nullptr) << def->name;
    if (rule->kind == RuleKind::formula && def->name != "cast" && def->name != "exact_cast") {
      EXPECT_TRUE(tested.contains(def->name)) << def->name;
    }
    EXPECT_EQ(rule->kind == RuleKind::constant || rule->kind == RuleKind::refused, !rule->reason.empty()) << def->name;
  }
  EXPECT_EQ(all_rules().size(), count);
}

}  // namespace
}  // namespace buda::autograd
