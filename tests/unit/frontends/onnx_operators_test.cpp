// SPDX-License-Identifier: Apache-2.0
// Each ONNX operator that computes, against formulas written here.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

#include <cmath>
#include <functional>
#include <limits>

namespace buda::test {
namespace {

class OnnxOperators : public ImportTest {
 protected:
  static std::vector<float> each(const Tensor& t, const std::function<float(float)>& f) {
    std::vector<float> out = t.to_f32();
    for (float& v : out) v = f(v);
    return out;
  }
};

TEST_F(OnnxOperators, UnaryFunctions) {
  Tensor any = pattern({3, 5});
  Tensor positive({3, 5}, each(any, [](float v) { return std::abs(v) + 0.25f; }));
  struct Case {
    const char* op;
    float (*f)(float);
    bool positive;
  };
  const Case cases[] = {
      {"Relu", [](float v) { return v > 0 ? v : 0.0f; }, false},
      {"Sigmoid", [](float v) { return 1 / (1 + std::exp(-v)); }, false},
      {"Tanh", [](float v) { return std::tanh(v); }, false},
      {"Exp", [](float v) { return std::exp(v); }, false},
      {"Log", [](float v) { return std::log(v); }, true},
      {"Sqrt", [](float v) { return std::sqrt(v); }, true},
      {"Reciprocal", [](float v) { return 1 / v; }, true},
      {"Neg", [](float v) { return -v; }, false},
      {"Abs", [](float v) { return std::abs(v); }, false},
      {"Sin", [](float v) { return std::sin(v); }, false},
      {"Cos", [](float v) { return std::cos(v); }, false},
      {"Identity", [](float v) { return v; }, false},
      {"LeakyRelu", [](float v) { return v < 0 ? 0.01f * v : v; }, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    const Tensor& x = c.positive ? positive : any;
    expect_near(evaluated(one_node(c.op, {{3, 5}}).bytes(), {x}), each(x, c.f));
    expect_near(evaluated(one_node(c.op, {{3, 5}}, 7).bytes(), {x}), each(x, c.f));
  }
}

TEST_F(OnnxOperators, BinaryFunctionsBroadcast) {
  Tensor a = pattern({2, 3}), b({1, 3}, std::vector<float>{0.5f, -2, 4});
  struct Case {
    const char* op;
    float (*f)(float, float);
  };
  const Case cases[] = {
      {"Add", [](float x, float y) { return x + y; }},          {"Sub", [](float x, float y) { return x - y; }},
      {"Mul", [](float x, float y) { return x * y; }},          {"Div", [](float x, float y) { return x / y; }},
      {"Max", [](float x, float y) { return std::max(x, y); }}, {"Min", [](float x, float y) { return std::min(x, y); }},
  };
  auto x = a.to_f32(), y = b.to_f32();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    std::vector<float> expected;
    for (std::size_t i = 0; i < 6; ++i) expected.push_back(c.f(x[i], y[i % 3]));
    expect_near(evaluated(one_node(c.op, {{2, 3}, {1, 3}}).bytes(), {a, b}), expected);
  }
}

TEST_F(OnnxOperators, FunctionsOfManyInputs) {
  Tensor a({2}, std::vector<float>{1, 6}), b({2}, std::vector<float>{5, 2}), c({2}, std::vector<float>{3, 4});
  auto of = [&](const char* op) { return evaluated(one_node(op, {{2}, {2}, {2}}).bytes(), {a, b, c}); };
  expect_near(of("Max"), {5, 6});
  expect_near(of("Min"), {1, 2});
  expect_near(of("Sum"), {9, 12});
  expect_near(of("Mean"), {3, 4});
  expect_near(evaluated(one_node("Sum", {{2}}).bytes(), {a}), {1, 6});
  expect_near(evaluated(one_node("Mean", {{2}}).bytes(), {a}), {1, 6});
}

TEST_F(OnnxOperators, PowAndMatMul) {
  Tensor base({3}, std::vector<float>{1, 2, 3});
  expect_near(evaluated(one_node("Pow", {{3}, {1}}).bytes(), {base, Tensor({1}, std::vector<float>{2})}), {1, 4, 9});
  Tensor a({2, 2}, std::vector<float>{1, 2, 3, 4}), b({3, 2, 1}, std::vector<float>{1, 0, 0, 1, 2, -1});
  Shape shape;
  expect_near(evaluated(one_node("MatMul", {{2, 2}, {3, 2, 1}}).bytes(), {a, b}, &shape), {1, 3, 2, 4, 0, 2});
  EXPECT_EQ(shape, (Shape{3, 2, 1}));
}

TEST_F(OnnxOperators, Gemm) {
  // a is [3, 2] and used transposed, b is [4, 3] and used transposed, c is a column.
  Tensor a = pattern({3, 2}, 0.1f), b = pattern({4, 3}, 0.2f), c = pattern({2, 1}, 0.3f);
  OnnxModel m;
  m.input("a", {3, 2}).input("b", {4, 3}).input("c", {2, 1});
  m.node("Gemm", {"a", "b", "c"}, {"y"}).real("alpha", 0.5f).real("beta", -2).integer("transA", 1).integer("transB", 1);
  m.output("y", {2, 4});
  auto av = a.to_f32(), bv = b.to_f32(), cv = c.to_f32();
  std::vector<float> expected;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += static_cast<double>(av[k * 2 + i]) * static_cast<double>(bv[j * 3 + k]);
      expected.push_back(static_cast<float>(0.5 * sum - 2.0 * static_cast<double>(cv[i])));
    }
  expect_near(evaluated(m.bytes(), {a, b, c}), expected);
  expect_near(evaluated(one_node("Gemm", {{1, 2}, {2, 1}}, 11).bytes(),
                        {Tensor({1, 2}, std::vector<float>{3, 4}), Tensor({2, 1}, std::vector<float>{5, 6})}),
              {39});
}

// Softmax of rows of `columns` elements.
std::vector<float> softmax_rows(std::vector<float> x, std::size_t columns) {
  for (std::size_t r = 0; r < x.size(); r += columns) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(x[r + i]));
    for (std::size_t i = 0; i < columns; ++i) x[r + i] = static_cast<float>(std::exp(static_cast<double>(x[r + i])) / sum);
  }
  return x;
}

TEST_F(OnnxOperators, SoftmaxBeforeOpset13TakesAllAxesFromAxisOn) {
  Tensor x = pattern({2, 3, 4});
  expect_near(evaluated(one_node("Softmax", {{2, 3, 4}}, 11).bytes(), {x}), softmax_rows(x.to_f32(), 12));
  OnnxModel all(9);
  all.input("x", {2, 3, 4}).node("Softmax", {"x"}, {"y"}).integer("axis", 0);
  all.output("y");
  expect_near(evaluated(all.bytes(), {x}), softmax_rows(x.to_f32(), 24));
  // Over one axis that is longer than 1 it is a plain softmax, in one node.
  OnnxModel plain(11);
  plain.input("x", {2, 5, 1, 1}).node("Softmax", {"x"}, {"y"}).integer("axis", 1);
  plain.output("y");
  Tensor image = pattern({2, 5, 1, 1});
  expect_near(evaluated(plain.bytes(), {image}), softmax_rows(image.to_f32(), 5));
  EXPECT_EQ(imported(plain.bytes()).size(), 3u);
}

TEST_F(OnnxOperators, SoftmaxFromOpset13TakesOneAxis) {
  Tensor x = pattern({2, 3, 4});
  expect_near(evaluated(one_node("Softmax", {{2, 3, 4}}).bytes(), {x}), softmax_rows(x.to_f32(), 4));
  OnnxModel middle;
  middle.input("x", {2, 3, 4}).node("Softmax", {"x"}, {"y"}).integer("axis", -2);
  middle.output("y");
  auto in = x.to_f32();
  std::vector<float> expected(24);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < 3; ++j) sum += std::exp(static_cast<double>(in[i * 12 + j * 4 + k]));
      for (std::size_t j = 0; j < 3; ++j)
        expected[i * 12 + j * 4 + k] = static_cast<float>(std::exp(static_cast<double>(in[i * 12 + j * 4 + k])) / sum);
    }
  expect_near(evaluated(middle.bytes(), {x}), expected);
  std::vector<float> logs = softmax_rows(in, 4);
  for (float& v : logs) v = std::log(v);
  expect_near(evaluated(one_node("LogSoftmax", {{2, 3, 4}}).bytes(), {x}), logs);
}

TEST_F(OnnxOperators, ClipInBothForms) {
  Tensor x({4}, std::vector<float>{-3, -0.5f, 0.5f, 3});
  OnnxModel old(9);
  old.input("x", {4}).node("Clip", {"x"}, {"y"}).real("min", -1).real("max", 2).named("limit");
  old.output("y");
  expect_near(evaluated(old.bytes(), {x}), {-1, -0.5f, 0.5f, 2});
  EXPECT_EQ(imported(old.bytes()).size(), 3u) << "bounds leave no nodes";
  OnnxModel upper;
  upper.input("x", {4}).scalar("six", 1).node("Clip", {"x", "", "six"}, {"y"});
  upper.output("y");
  expect_near(evaluated(upper.bytes(), {x}), {-3, -0.5f, 0.5f, 1});
}

TEST_F(OnnxOperators, Reductions) {
  Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 9});
  OnnxModel sum;
  sum.input("x", {2, 3}).whole("axes", {-1}).node("ReduceSum", {"x", "axes"}, {"y"}).integer("keepdims", 0);
  sum.output("y", {2});
  expect_near(evaluated(sum.bytes(), {x}), {6, 18});
  OnnxModel mean(11);
  mean.input("x", {2, 3}).node("ReduceMean", {"x"}, {"y"}).integers("axes", {0});
  mean.output("y", {1, 3});
  expect_near(evaluated(mean.bytes(), {x}), {2.5f, 3.5f, 6});
  Shape shape;
  expect_near(evaluated(one_node("ReduceMax", {{2, 3}}).bytes(), {x}, &shape), {9});
  EXPECT_EQ(shape, (Shape{1, 1}));
  OnnxModel none;
  none.input("x", {2, 3}).node("ReduceSum", {"x"}, {"y"}).integer("noop_with_empty_axes", 1);
  none.output("y");
  expect_near(evaluated(none.bytes(), {x}), x.to_f32());
}

TEST_F(OnnxOperators, LayerNormalization) {
  Tensor x({1, 4}, std::vector<float>{1, 2, 3, 6});
  OnnxModel m(17);
  m.input("x", {1, 4}).weight("scale", {4}, {1, 1, 1, 2}).weight("bias", {4}, {0, 0, 0.5f, 0});
  m.node("LayerNormalization", {"x", "scale", "bias"}, {"y"}).real("epsilon", 0);
  m.output("y");
  float deviation = std::sqrt((4.0f + 1 + 0 + 9) / 4);
  expect_near(evaluated(m.bytes(), {x}), {-2 / deviation, -1 / deviation, 0.5f, 6 / deviation});
}

TEST_F(OnnxOperators, DropoutPassesOnAtInference) {
  Tensor x = pattern({4});
  expect_near(evaluated(one_node("Dropout", {{4}}).bytes(), {x}), x.to_f32());
  expect_near(evaluated(one_node("Dropout", {{4}}, 9).bytes(), {x}), x.to_f32());
}

TEST_F(OnnxOperators, AttributesKeepTheirDecimalForm) {
  OnnxModel m;
  m.input("x", {2}).node("LeakyRelu", {"x"}, {"y"}).real("alpha", 0.2f);
  m.output("y");
  graph::Graph graph = imported(m.bytes());
  const auto& node = graph.node(graph.find("LeakyRelu_0"));
  EXPECT_EQ(graph::attr_text(node.attrs.at("alpha")), "0.2");
}

}  // namespace
}  // namespace buda::test
