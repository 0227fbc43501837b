// The families of decomposition plugins, op by op: decomposed and lowered they mean what they meant.
#include "harness.hpp"

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

struct Case {
  std::string op;
  std::vector<Shape> shapes = {{3, 40}};
  AttrMap attrs = {};
  double least = -3, most = 3;
  DType dtype = DType::f32;
  std::vector<DType> dtypes = {};  // by input, where they differ
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.op << ' ' << c.shapes[0].text() << ' ' << dtype_name(c.dtype);
}

class Families : public testing::TestWithParam<Case> {};

TEST_P(Families, KeepTheirMeaning) {
  const Case& c = GetParam();
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
  expect_meaning_kept(graph, bench, {&kDecompose, &kLowerToDevice}, std::move(inputs));
}

using Dims = std::vector<std::int64_t>;

INSTANTIATE_TEST_SUITE_P(Compare, Families,
                         testing::Values(Case{"greater", {{3, 40}, {3, 40}}}, Case{"less", {{3, 40}, {1, 40}}},
                                         Case{"greater_equal", {{3, 40}, {3, 40}}, {}, -3, 3, DType::i32}, Case{"less_equal", {{5}, {5}}},
                                         Case{"equal", {{64, 64}, {64, 64}}, {}, -3, 3, DType::i64},
                                         Case{"logical_and", {{8, 8}, {8, 8}}, {}, 0, 1.9, DType::boolean},
                                         Case{"logical_or", {{8, 8}, {8, 8}}, {}, -1, 1, DType::boolean},
                                         Case{"logical_xor", {{8, 8}, {8, 8}}, {}, -1, 1, DType::boolean},
                                         Case{"logical_not", {{8, 8}}, {}, -1, 1, DType::boolean}, Case{"sign", {{40}}},
                                         Case{"sign", {{40}}, {}, -3, 3, DType::i8},
                                         Case{"where", {{4, 9}, {4, 9}, {1, 9}}, {}, -3, 3, DType::f32, {DType::boolean}}));

INSTANTIATE_TEST_SUITE_P(Convert, Families,
                         testing::Values(Case{"cast", {{40}}, {{"dtype", std::string("I32")}}, -9, 9},
                                         Case{"cast", {{40}}, {{"dtype", std::string("BOOL")}}, -3, 3, DType::i32},
                                         Case{"cast", {{40}}, {{"dtype", std::string("U8")}}, 0, 9},
                                         Case{"cast", {{40}}, {{"dtype", std::string("F32")}}, 0, 9, DType::i64},
                                         Case{"cast", {{40}}, {{"dtype", std::string("F16")}}, 0, 1, DType::f16}));

INSTANTIATE_TEST_SUITE_P(
    WholeNumbers, Families,
    testing::Values(Case{"add", {{40}, {40}}, {}, -99, 99, DType::i64}, Case{"multiply", {{40}, {40}}, {}, -99, 99, DType::i32},
                    Case{"maximum", {{40}, {40}}, {}, -99, 99, DType::i8}, Case{"minimum", {{40}, {40}}, {}, 0, 99, DType::u8},
                    Case{"abs", {{40}}, {}, -99, 99, DType::i16}, Case{"clip", {{40}}, {{"min", -2.0}, {"max", 5.0}}, -9, 9, DType::i8},
                    Case{"add", {{40}, {40}}, {}, 0, 255.9, DType::u8}, Case{"subtract", {{40}, {40}}, {}, 0, 255.9, DType::u8},
                    Case{"multiply", {{40}, {40}}, {}, 0, 255.9, DType::u8}, Case{"add", {{40}, {40}}, {}, -128, 127, DType::i8},
                    Case{"multiply", {{40}, {40}}, {}, -128, 127, DType::i8}, Case{"subtract", {{40}, {40}}, {}, -32768, 32767, DType::i16},
                    Case{"add", {{40}, {40}}, {}, 0, 65535.9, DType::u16}, Case{"matmul", {{4, 40}, {40, 3}}, {}, -99, 99, DType::i32},
                    Case{"matmul", {{2, 4, 5}, {2, 5, 3}}, {}, -99, 99, DType::i64},
                    Case{"conv2d", {{1, 2, 5, 5}, {3, 2, 3, 3}}, {{"padding", Dims{1, 1, 1, 1}}}, -99, 99, DType::i32},
                    Case{"max_pool2d", {{1, 2, 5, 5}}, {{"kernel", Dims{2, 2}}}, 0, 255, DType::u8},
                    Case{"reduce_sum", {{3, 40}}, {{"dims", Dims{1}}}, -99, 99, DType::i32}));

INSTANTIATE_TEST_SUITE_P(
    WholeDivision, Families,
    testing::Values(Case{"divide", {{99}, {99}}, {}, -9999, 9999, DType::i32}, Case{"divide", {{99}, {99}}, {}, -9, 9, DType::i64},
                    Case{"divide", {{99}, {99}}, {}, 0, 255.9, DType::u8}, Case{"remainder", {{99}, {99}}, {}, -99, 99, DType::i64},
                    Case{"remainder", {{99}, {99}}, {}, -9, 9, DType::i8}, Case{"modulo", {{99}, {99}}, {}, -99, 99, DType::i16},
                    Case{"modulo", {{99}, {99}}, {}, -9, 9, DType::i32}, Case{"modulo", {{99}, {99}}, {}, 0, 9999, DType::u64},
                    Case{"power", {{99}, {99}}, {}, -5, 5, DType::i32}, Case{"power", {{99}, {99}}, {}, 0, 3, DType::i64},
                    Case{"shift_left", {{99}, {99}}, {}, 0, 9, DType::u8}, Case{"shift_left", {{99}, {99}}, {}, 0, 11, DType::i32},
                    Case{"shift_left", {{99}, {99}}, {}, 0, 15, DType::u16}, Case{"shift_right", {{99}, {99}}, {}, 0, 23, DType::u32},
                    Case{"shift_right", {{99}, {99}}, {}, 0, 20, DType::i64}));

INSTANTIATE_TEST_SUITE_P(Activations, Families,
                         testing::Values(Case{"elu", {{3, 40}}, {{"alpha", 1.5}}}, Case{"celu", {{3, 40}}, {{"alpha", 2.0}}}, Case{"selu"},
                                         Case{"softplus", {{3, 40}}, {}, -90, 90}, Case{"mish"}, Case{"softsign"}, Case{"hard_sigmoid"},
                                         Case{"hard_swish"}, Case{"prelu", {{2, 3, 40}, {3, 1}}}, Case{"thresholded_relu"},
                                         Case{"shrink", {{3, 40}}, {{"lambda", 1.0}, {"bias", 0.25}}}, Case{"shrink"}));

INSTANTIATE_TEST_SUITE_P(Mathematics, Families,
                         testing::Values(Case{"tan", {{40}}, {}, -1, 1}, Case{"sinh"}, Case{"cosh"}, Case{"asinh", {{40}}, {}, -50, 50},
                                         Case{"acosh", {{40}}, {}, 1, 50}, Case{"atanh", {{40}}, {}, -0.99, 0.99},
                                         Case{"atan", {{40}}, {}, -50, 50}, Case{"asin", {{40}}, {}, -1, 1},
                                         Case{"acos", {{40}}, {}, -1, 1}, Case{"erf"}, Case{"floor", {{40}}, {}, -9, 9},
                                         Case{"ceil", {{40}}, {}, -9, 9}, Case{"round", {{40}}, {}, -9, 9},
                                         Case{"floor", {{40}}, {}, -9, 9, DType::i32}, Case{"remainder", {{40}, {40}}, {}, -9, 9},
                                         Case{"modulo", {{40}, {40}}, {}, -9, 9}, Case{"divide", {{40}, {40}}, {}, 1, 9}));

INSTANTIATE_TEST_SUITE_P(Norms, Families,
                         testing::Values(Case{"batchnorm", {{2, 3, 4, 40}, {3}, {3}, {3}, {3}}, {}, 0.5, 2},
                                         Case{"batchnorm", {{7, 3}, {3}, {3}, {3}, {3}}, {}, 0.5, 2},
                                         Case{"lrn", {{2, 5, 40}}, {{"size", std::int64_t{3}}}},
                                         Case{"lrn", {{1, 5, 3, 3}}, {{"size", std::int64_t{2}}}},
                                         Case{"layernorm", {{2, 3, 40}}, {{"dim", std::int64_t{-1}}}}));

INSTANTIATE_TEST_SUITE_P(Reduce, Families,
                         testing::Values(Case{"reduce_min", {{3, 40}}, {{"dims", Dims{1}}}},
                                         Case{"reduce_min", {{3, 2, 40}}, {{"dims", Dims{0, 1}}}},
                                         Case{"reduce_min", {{3, 40}}, {{"dims", Dims{}}}, -9, 9, DType::i32},
                                         Case{"reduce_max", {{3, 40}}, {{"dims", Dims{1}}, {"keep_dims", false}}, -9, 9, DType::i8},
                                         Case{"reduce_sum", {{5, 2, 3, 4}}, {{"dims", Dims{0}}, {"keep_dims", false}}},
                                         Case{"reduce_avg", {{5, 2, 3, 4}}, {{"dims", Dims{}}}},
                                         Case{"reduce_sum", {{3, 2, 40}}, {{"dims", Dims{1}}, {"keep_dims", false}}}));

INSTANTIATE_TEST_SUITE_P(
    Index, Families,
    testing::Values(Case{"argmax", {{3, 40}}}, Case{"argmax", {{3, 4, 5}}, {{"dim", std::int64_t{0}}, {"keep_dims", false}}},
                    Case{"argmax", {{3, 40}}, {{"last", true}}, -1, 1, DType::i8}, Case{"argmin", {{3, 40}}},
                    Case{"gather_elements", {{4, 7}, {4, 1}}, {{"dim", std::int64_t{1}}}, 0, 6.9, DType::f32, {DType::f32, DType::i64}},
                    Case{"cumsum", {{3, 40}}}, Case{"cumsum", {{3, 40}}, {{"dim", std::int64_t{0}}, {"exclusive", true}}},
                    Case{"cumsum", {{40}}, {{"reverse", true}}}, Case{"cumsum", {{4, 3, 5}}, {{"dim", std::int64_t{0}}}},
                    Case{"triangle", {{2, 5, 7}}, {{"diagonal", std::int64_t{1}}}},
                    Case{"triangle", {{5, 7}}, {{"upper", false}}, -9, 9, DType::i64}, Case{"topk", {{3, 40}}, {{"k", std::int64_t{1}}}}));

INSTANTIATE_TEST_SUITE_P(
    Quantization, Families,
    testing::Values(Case{"quantize", {{3, 40}, {}, {}}, {}, 0.1, 3, DType::f32, {DType::f32, DType::f32, DType::u8}},
                    Case{"dequantize", {{2, 3, 4}, {3}, {3}}, {}, 0, 99, DType::i8, {DType::i8, DType::f32, DType::i8}}));

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

TEST(Round, NeedsFloat32) {
  Bench bench;
  bench.device = grayskull_like();
  Builder b("g");
  b.output("y", called(b, "r", b.op("round", {b.input("x", {4})})));
  Graph graph = finished(b);
  EXPECT_NE(bench.error(kLowerToDevice, graph).find("does not compute in Float32, which rounding needs"), std::string::npos);
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
