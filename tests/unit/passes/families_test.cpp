// SPDX-License-Identifier: Apache-2.0
// The families of decomposition plugins, op by op: decomposed and lowered they mean what they meant.
#include "values.hpp"

#include <limits>

namespace buda::passes {
namespace {

using graph::AttrMap;

// Numbers in a range, as any element type.
Tensor spread(const Shape& shape, DType dtype, double least, double most, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.uniform(least, most));
  return Tensor(shape, std::move(v)).cast(dtype);
}

struct FamilyCase {
  std::string op;
  std::vector<Shape> shapes = {{3, 40}};
  AttrMap attrs = {};
  double least = -3, most = 3;
  DType dtype = DType::f32;
  std::vector<DType> dtypes = {};  // by input, where they differ
};

std::ostream& operator<<(std::ostream& out, const FamilyCase& c) {
  return out << c.op << ' ' << c.shapes[0].text() << ' ' << dtype_name(c.dtype);
}

class Families : public testing::TestWithParam<FamilyCase> {};

TEST_P(Families, KeepTheirMeaning) {
  const FamilyCase& c = GetParam();
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  NamedTensors inputs;
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) {
    std::string name = cat('x', i);
    DType dtype = i < c.dtypes.size() ? c.dtypes[i] : c.dtype;
    edges.emplace_back(b.input(name, c.shapes[i], dtype));
    inputs.emplace(name, spread(c.shapes[i], dtype, c.least, c.most, 7 + i));
  }
  auto y = called(b, "y", b.op(c.op, edges, c.attrs));
  for (std::uint32_t port = 0; port < b.node(y).outputs.size(); ++port) b.output(cat("out", port), ValueRef(y.node, port));
  Graph graph = finished(b);
  expect_equivalence(graph, bench, with_host_for_rounding(graph, {&kDecompose, &kLowerToDevice}), std::move(inputs));
}

using Dims = std::vector<std::int64_t>;

INSTANTIATE_TEST_SUITE_P(Compare, Families,
                         testing::Values(FamilyCase{"greater", {{3, 40}, {3, 40}}}, FamilyCase{"less", {{3, 40}, {1, 40}}},
                                         FamilyCase{"greater_equal", {{3, 40}, {3, 40}}, {}, -3, 3, DType::i32},
                                         FamilyCase{"less_equal", {{5}, {5}}},
                                         FamilyCase{"equal", {{64, 64}, {64, 64}}, {}, -3, 3, DType::i64},
                                         FamilyCase{"logical_and", {{8, 8}, {8, 8}}, {}, 0, 1.9, DType::boolean},
                                         FamilyCase{"logical_or", {{8, 8}, {8, 8}}, {}, -1, 1, DType::boolean},
                                         FamilyCase{"logical_xor", {{8, 8}, {8, 8}}, {}, -1, 1, DType::boolean},
                                         FamilyCase{"logical_not", {{8, 8}}, {}, -1, 1, DType::boolean}, FamilyCase{"sign", {{40}}},
                                         FamilyCase{"sign", {{40}}, {}, -3, 3, DType::i8},
                                         FamilyCase{"where", {{4, 9}, {4, 9}, {1, 9}}, {}, -3, 3, DType::f32, {DType::boolean}}));

INSTANTIATE_TEST_SUITE_P(Convert, Families,
                         testing::Values(FamilyCase{"cast", {{40}}, {{"dtype", std::string("I32")}}, -9, 9},
                                         FamilyCase{"cast", {{40}}, {{"dtype", std::string("BOOL")}}, -3, 3, DType::i32},
                                         FamilyCase{"cast", {{40}}, {{"dtype", std::string("U8")}}, 0, 9},
                                         FamilyCase{"cast", {{40}}, {{"dtype", std::string("F32")}}, 0, 9, DType::i64},
                                         FamilyCase{"cast", {{40}}, {{"dtype", std::string("F16")}}, 0, 1, DType::f16}));

INSTANTIATE_TEST_SUITE_P(
    WholeNumbers, Families,
    testing::Values(FamilyCase{"add", {{40}, {40}}, {}, -99, 99, DType::i64}, FamilyCase{"multiply", {{40}, {40}}, {}, -99, 99, DType::i32},
                    FamilyCase{"maximum", {{40}, {40}}, {}, -99, 99, DType::i8}, FamilyCase{"minimum", {{40}, {40}}, {}, 0, 99, DType::u8},
                    FamilyCase{"abs", {{40}}, {}, -99, 99, DType::i16},
                    FamilyCase{"clip", {{40}}, {{"min", -2.0}, {"max", 5.0}}, -9, 9, DType::i8},
                    FamilyCase{"matmul", {{4, 40}, {40, 3}}, {}, -99, 99, DType::i32},
                    FamilyCase{"matmul", {{2, 4, 5}, {2, 5, 3}}, {}, -99, 99, DType::i64},
                    FamilyCase{"conv2d", {{1, 2, 5, 5}, {3, 2, 3, 3}}, {{"padding", Dims{1, 1, 1, 1}}}, -99, 99, DType::i32},
                    FamilyCase{"max_pool2d", {{1, 2, 5, 5}}, {{"kernel", Dims{2, 2}}}, 0, 255, DType::u8},
                    FamilyCase{"reduce_sum", {{3, 40}}, {{"dims", Dims{1}}}, -99, 99, DType::i32}));

INSTANTIATE_TEST_SUITE_P(Activations, Families,
                         testing::Values(FamilyCase{"elu", {{3, 40}}, {{"alpha", 1.5}}}, FamilyCase{"celu", {{3, 40}}, {{"alpha", 2.0}}},
                                         FamilyCase{"selu"}, FamilyCase{"softplus", {{3, 40}}, {}, -90, 90}, FamilyCase{"mish"},
                                         FamilyCase{"softsign"}, FamilyCase{"hard_sigmoid"}, FamilyCase{"hard_swish"},
                                         FamilyCase{"prelu", {{2, 3, 40}, {3, 1}}}, FamilyCase{"thresholded_relu"},
                                         FamilyCase{"shrink", {{3, 40}}, {{"lambda", 1.0}, {"bias", 0.25}}}, FamilyCase{"shrink"}));

INSTANTIATE_TEST_SUITE_P(Mathematics, Families,
                         testing::Values(FamilyCase{"tan", {{40}}, {}, -1, 1}, FamilyCase{"sinh"}, FamilyCase{"cosh"},
                                         FamilyCase{"asinh", {{40}}, {}, -50, 50}, FamilyCase{"acosh", {{40}}, {}, 1, 50},
                                         FamilyCase{"atanh", {{40}}, {}, -0.99, 0.99}, FamilyCase{"atan", {{40}}, {}, -50, 50},
                                         FamilyCase{"asin", {{40}}, {}, -1, 1}, FamilyCase{"acos", {{40}}, {}, -1, 1}, FamilyCase{"erf"},
                                         FamilyCase{"floor", {{40}}, {}, -9, 9}, FamilyCase{"ceil", {{40}}, {}, -9, 9},
                                         FamilyCase{"round", {{40}}, {}, -9, 9}, FamilyCase{"floor", {{40}}, {}, -9, 9, DType::i32},
                                         FamilyCase{"remainder", {{40}, {40}}, {}, -9, 9}, FamilyCase{"modulo", {{40}, {40}}, {}, -9, 9},
                                         FamilyCase{"divide", {{40}, {40}}, {}, 1, 9}));

INSTANTIATE_TEST_SUITE_P(Norms, Families,
                         testing::Values(FamilyCase{"batchnorm", {{2, 3, 4, 40}, {3}, {3}, {3}, {3}}, {}, 0.5, 2},
                                         FamilyCase{"batchnorm", {{7, 3}, {3}, {3}, {3}, {3}}, {}, 0.5, 2},
                                         FamilyCase{"lrn", {{2, 5, 40}}, {{"size", std::int64_t{3}}}},
                                         FamilyCase{"lrn", {{1, 5, 3, 3}}, {{"size", std::int64_t{2}}}},
                                         FamilyCase{"layernorm", {{2, 3, 40}}, {{"dim", std::int64_t{-1}}}}));

INSTANTIATE_TEST_SUITE_P(Reduce, Families,
                         testing::Values(FamilyCase{"reduce_min", {{3, 40}}, {{"dims", Dims{1}}}},
                                         FamilyCase{"reduce_min", {{3, 2, 40}}, {{"dims", Dims{0, 1}}}},
                                         FamilyCase{"reduce_min", {{3, 40}}, {{"dims", Dims{}}}, -9, 9, DType::i32},
                                         FamilyCase{"reduce_max", {{3, 40}}, {{"dims", Dims{1}}, {"keep_dims", false}}, -9, 9, DType::i8},
                                         FamilyCase{"reduce_sum", {{5, 2, 3, 4}}, {{"dims", Dims{0}}, {"keep_dims", false}}},
                                         FamilyCase{"reduce_avg", {{5, 2, 3, 4}}, {{"dims", Dims{}}}},
                                         FamilyCase{"reduce_sum", {{3, 2, 40}}, {{"dims", Dims{1}}, {"keep_dims", false}}}));

INSTANTIATE_TEST_SUITE_P(
    Index, Families,
    testing::Values(FamilyCase{"argmax", {{3, 40}}}, FamilyCase{"argmax", {{3, 4, 5}}, {{"dim", std::int64_t{0}}, {"keep_dims", false}}},
                    FamilyCase{"argmax", {{3, 40}}, {{"last", true}}, -1, 1, DType::i8}, FamilyCase{"argmin", {{3, 40}}},
                    FamilyCase{
                        "gather_elements", {{4, 7}, {4, 1}}, {{"dim", std::int64_t{1}}}, 0, 6.9, DType::f32, {DType::f32, DType::i64}},
                    FamilyCase{"cumsum", {{3, 40}}}, FamilyCase{"cumsum", {{3, 40}}, {{"dim", std::int64_t{0}}, {"exclusive", true}}},
                    FamilyCase{"cumsum", {{40}}, {{"reverse", true}}}, FamilyCase{"cumsum", {{4, 3, 5}}, {{"dim", std::int64_t{0}}}},
                    FamilyCase{"triangle", {{2, 5, 7}}, {{"diagonal", std::int64_t{1}}}},
                    FamilyCase{"triangle", {{5, 7}}, {{"upper", false}}, -9, 9, DType::i64},
                    FamilyCase{"topk", {{3, 40}}, {{"k", std::int64_t{1}}}}));

INSTANTIATE_TEST_SUITE_P(
    Quantization, Families,
    testing::Values(FamilyCase{"quantize", {{3, 40}, {}, {}}, {}, 0.1, 3, DType::f32, {DType::f32, DType::f32, DType::u8}},
                    FamilyCase{"dequantize", {{2, 3, 4}, {3}, {3}}, {}, 0, 99, DType::i8, {DType::i8, DType::f32, DType::i8}}));

// What the rules do where an op has no inputs to vary.
TEST(Where, MasksWithInfinities) {
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  auto c = b.input("c", {2, 40}, DType::boolean);
  auto x = b.input("x", {2, 40});
  auto mask = b.constant(Tensor::scalar(-std::numeric_limits<float>::infinity()));
  b.output("y", b.softmax(b.op("where", {c, x, mask}), -1));
  Graph graph = finished(b);
  auto inputs = random_inputs(graph, 1);
  ASSERT_TRUE(inputs.ok());
  auto before = evaluated(graph, *inputs);
  for (const Pass* pass : {&kDecompose, &kConstantFolding, &kLowerToDevice}) bench.run(*pass, graph);
  auto after = evaluated(graph, *inputs);
  // What is masked is a very negative number instead of an infinity; the softmax gives 0 for both.
  auto expected = before.at("y").as<float>(), actual = after.at("y").as<float>();
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], actual[i], 1e-6) << i;
}

TEST(Round, IsTheHosts) {
  Bench bench;
  Builder b("g");
  b.output("y", called(b, "r", b.op("round", {b.input("x", {4})})));
  Graph graph = finished(b);
  EXPECT_NE(bench.error(kLowerToDevice, graph).find("too few for sums that round to integers"), std::string::npos);
}

TEST(WholeNumbers, ThatF32CannotHoldAreRefused) {
  Bench bench;
  Builder b("g");
  auto x = b.input("x", {2}, DType::i64);
  auto big = b.constant(Tensor(Shape{2}, std::vector<std::int64_t>{1, (std::int64_t{1} << 40) + 1}));
  b.output("y", b.concatenate({x, big}, 0));
  b.output("z", b.reshape(big, {1, 2}));
  Graph graph = finished(b);
  EXPECT_NE(bench.error(kLowerToDevice, graph).find("cannot be lowered"), std::string::npos);
}

TEST(Border, NamesTheModelsTypes) {
  Bench bench;
  Builder b("g");
  auto x = b.input("x", {2, 3}, DType::i64);
  b.output("y", b.op("cast", {x}, {{"dtype", std::string("F32")}}));
  b.output("z", b.reshape(x, {3, 2}));
  Graph graph = finished(b);
  bench.run(kLowerToDevice, graph);
  const Node& in = graph.node(graph.inputs()[0]);
  EXPECT_EQ(in.outputs[0].dtype, DType::f32);
  EXPECT_EQ(in.attrs.at("model_type"), graph::Attr(std::string("I64")));
  EXPECT_FALSE(graph.node(graph.outputs()[0]).attrs.contains("model_type"));
  Tensor numbers(Shape{2, 3}, std::vector<std::int64_t>{1, -2, 3, 4, 5, 70000});
  auto out = evaluated(graph, {{"x", numbers}});
  EXPECT_EQ(out.at("y"), numbers.cast(DType::f32));
  EXPECT_EQ(out.at("z"), *numbers.reshaped(Shape{3, 2}));
}

}  // namespace
}  // namespace buda::passes
