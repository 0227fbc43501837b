// SPDX-License-Identifier: Apache-2.0
// quantized-models: real numbers in place of integers, at most the roundings that are left out away from them.
#include "values.hpp"

#include <buda/graph/tags/placement.hpp>

#include <cmath>

namespace buda::passes {
namespace {

Tensor whole(Shape shape, std::vector<std::int32_t> elements, DType type = DType::i32) {
  return Tensor(std::move(shape), std::move(elements)).cast(type);
}

// Integers from `least` to `most` that are the same in each run.
Tensor drawn(const Shape& shape, DType type, int least, int most, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::int32_t> v(static_cast<std::size_t>(*shape.volume()));
  for (std::int32_t& x : v) x = least + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
  return whole(shape, std::move(v), type);
}

ValueRef wide(Builder& b, ValueRef x) { return b.op("cast", {x}, {{"dtype", std::string("I32")}}); }
ValueRef centred(Builder& b, ValueRef x, std::int32_t zero) {
  auto i32 = wide(b, x);
  auto point = b.constant(whole({}, {zero}));
  return b.subtract(i32, point);
}

// multiplier * 2^(shift - 31), one or one for each channel.
ValueRef requantized(Builder& b, ValueRef sum, std::vector<double> factors, std::int32_t zero, DType type = DType::i8,
                     std::int64_t dim = 1) {
  std::vector<std::int32_t> multipliers, shifts;
  for (double f : factors) {
    int shift = 0;
    double fraction = std::frexp(f, &shift);
    multipliers.push_back(static_cast<std::int32_t>(std::lround(fraction * 2147483647.0)));
    shifts.push_back(shift);
  }
  Shape shape = factors.size() == 1 ? Shape{} : Shape{static_cast<std::int64_t>(factors.size())};
  auto m = b.constant(whole(shape, multipliers)), s = b.constant(whole(shape, shifts));
  auto z = b.constant(whole({}, {zero}, type));
  return b.op("requantize", {sum, m, s, z}, factors.size() == 1 ? graph::AttrMap{} : graph::AttrMap{{"dim", dim}});
}

ValueRef dequantized(Builder& b, ValueRef q, float scale, std::int32_t zero, DType type = DType::i8) {
  auto s = b.constant(scale);
  auto z = b.constant(whole({}, {zero}, type));
  return b.op("dequantize", {q, s, z});
}

ValueRef quantized(Builder& b, ValueRef x, float scale, std::int32_t zero, DType type = DType::i8) {
  auto s = b.constant(scale);
  auto z = b.constant(whole({}, {zero}, type));
  return b.op("quantize", {x, s, z});
}

// The ops of the graph that the device computes, in order.
std::string device_ops(const Graph& graph) {
  std::string out;
  for (NodeId id : graph.topological_order())
    if (const Node& n = graph.node(id); n.is_op() && !graph::on_host(n)) out += (out.empty() ? "" : " ") + n.op();
  return out;
}

// Runs the pass, and expects that outputs move by no more than `most`, and that no op of the device sees integers but to convert them.
void expect_near(Graph& graph, const NamedTensors& inputs, double most) {
  Bench bench;
  NamedTensors before = evaluated(graph, inputs);
  EXPECT_TRUE(bench.run(kQuantizedModels, graph).changed());
  NamedTensors after = evaluated(graph, inputs);
  for (const auto& [name, expected] : before) {
    ASSERT_EQ(after.at(name).dtype(), expected.dtype());
    std::vector<float> x = expected.to_f32(), y = after.at(name).to_f32();
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], most) << name << '[' << i << "]\n" << listing(graph);
  }
  for (NodeId id : graph.ids()) {
    const Node& n = graph.node(id);
    if (n.is_op() && !graph::on_host(n)) EXPECT_TRUE(is_float(n.outputs[0].dtype)) << listing(graph);
  }
  EXPECT_FALSE(bench.run(kQuantizedModels, graph).changed()) << "it is done at once";
}

TEST(QuantizedModels, QuantizeAndDequantizeOnlyLimit) {
  Builder b("g");
  auto x = b.input("x", {3, 50});
  b.output("y", called(b, "d", dequantized(b, quantized(b, x, 0.01f, 3), 0.01f, 3)));
  Graph graph = finished(b);
  expect_near(graph, {{"x", varied({3, 50})}}, 0.00501);
  EXPECT_EQ(device_ops(graph), "clip");
  EXPECT_TRUE(graph.find("d").valid()) << "the result keeps its name";
}

TEST(QuantizedModels, FromOneScaleToAnother) {
  Builder b("g");
  auto x = b.input("x", {2, 30});
  b.output("y", dequantized(b, quantized(b, x, 0.01f, 200, DType::u8), 0.02f, 10, DType::u8));
  Graph graph = finished(b);
  expect_near(graph, {{"x", varied({2, 30})}}, 0.0101);
}

TEST(QuantizedModels, ScalesOfSlices) {
  Builder b("g");
  auto x = b.input("x", {3, 4, 5});
  auto scales = b.constant(f32({4}, {0.01f, 0.02f, 0.03f, 0.1f}));
  auto zeros = b.constant(whole({4}, {0, 1, -5, 7}, DType::i8));
  auto q = b.op("quantize", {x, scales, zeros}), d = b.op("dequantize", {q, scales, zeros});
  b.output("y", d);
  Graph graph = finished(b);
  expect_near(graph, {{"x", varied({3, 4, 5})}}, 0.0501);
}

TEST(QuantizedModels, ConvolutionsTakeInTheirFactors) {
  Builder b("g");
  auto x = b.input("x", {1, 3, 6, 6}, DType::i8);
  auto w = b.parameter("w", drawn({4, 3, 3, 3}, DType::i8, -127, 127, 2));
  auto bias = b.parameter("bias", drawn({4}, DType::i32, -500, 500, 3));
  auto in = centred(b, x, -4), weights = wide(b, w);
  auto sum = b.op("conv2d", {in, weights, bias}, {{"padding", std::vector<std::int64_t>{1, 1, 1, 1}}});
  auto y = b.clip(requantized(b, sum, {0.002, 0.003, 0.001, 0.0005}, -128), -128, 100);
  b.output("y", dequantized(b, b.transpose(y, {0, 2, 3, 1}), 0.5f, -128));
  Graph graph = finished(b);
  expect_near(graph, {{"x", drawn({1, 3, 6, 6}, DType::i8, -128, 127, 1)}}, 0.2501);
  EXPECT_EQ(device_ops(graph), "cast add multiply multiply conv2d clip transpose multiply");
}

TEST(QuantizedModels, ProductsWithABiasBehind) {
  Builder b("g");
  auto x = b.input("x", {4, 20}, DType::u8);
  auto w = b.parameter("w", drawn({6, 20}, DType::i8, -127, 127, 2));
  auto bias = b.parameter("bias", drawn({6}, DType::i32, -900, 900, 3));
  auto in = centred(b, x, 120), columns = b.transpose(wide(b, w), {1, 0});
  auto sum = b.add(b.matmul(in, columns), bias);
  auto y = requantized(b, sum, {0.001}, 3);
  auto next = b.matmul(centred(b, y, 3), b.transpose(wide(b, b.parameter("v", drawn({5, 6}, DType::i8, -127, 127, 4))), {1, 0}));
  b.output("y", requantized(b, next, {0.002, 0.001, 0.003, 0.004, 0.002}, -7));
  Graph graph = finished(b);
  // An output of integers is rounded by the host; what was left out before adds up over the six products.
  expect_near(graph, {{"x", drawn({4, 20}, DType::u8, 0, 255, 1)}}, 2.01);
  EXPECT_EQ(device_ops(graph).find("quantize"), std::string::npos);
}

// As TensorFlow Lite adds: both on a finer scale, then on that of the result.
TEST(QuantizedModels, SumsOfTwoScales) {
  Builder b("g");
  auto x = b.input("x", {2, 40}, DType::i8), y = b.input("y", {2, 40}, DType::i8);
  auto fine = [&](ValueRef v, std::int32_t zero, double factor) {
    auto up = b.multiply(centred(b, v, zero), b.constant(whole({}, {1 << 20})));
    return requantized(b, up, {factor}, 0, DType::i32);
  };
  auto first = fine(x, -3, 0.5), second = fine(y, 7, 0.3);
  auto sum = requantized(b, b.add(first, second), {1.2 / (1 << 20)}, 5);
  b.output("y", dequantized(b, sum, 0.1f, 5));
  Graph graph = finished(b);
  expect_near(graph, {{"x", drawn({2, 40}, DType::i8, -128, 127, 1)}, {"y", drawn({2, 40}, DType::i8, -128, 127, 2)}}, 0.0501);
}

TEST(QuantizedModels, RoundedQuotients) {
  Builder b("g");
  auto x = b.input("x", {1, 4, 6, 6});
  auto q = quantized(b, x, 0.01f, -128);
  auto ones = b.constant(whole({4, 1, 6, 6}, std::vector<std::int32_t>(4 * 36, 1)));
  auto sum = b.op("conv2d", {wide(b, q), ones}, {{"groups", std::int64_t{4}}});
  auto half = b.constant(whole({1, 1}, {18})), zero = b.constant(whole({}, {0}));
  auto positive = b.op("greater", {sum, zero}), up = b.add(sum, half), down = b.subtract(sum, half);
  auto mean = b.divide(b.op("where", {positive, up, down}), b.constant(whole({1, 1}, {36})));
  auto stored = b.op("cast", {b.clip(mean, -128, 127)}, {{"dtype", std::string("I8")}});
  b.output("y", dequantized(b, b.reshape(stored, {1, 4}), 0.01f, -128));
  Graph graph = finished(b);
  expect_near(graph, {{"x", varied({1, 4, 6, 6})}}, 0.0101);
}

// Each step multiplies two values, as a recurrent cell does, and scales by 2^-15: the product of all scales is beyond an F32.
TEST(QuantizedModels, ScalesOfRecurrencesStayModerate) {
  Builder b("g");
  auto x = b.input("x", {2, 8}, DType::i16);
  auto state = wide(b, x);
  for (int step = 0; step < 12; ++step) {
    auto kept = requantized(b, b.multiply(state, wide(b, x)), {1.0 / (1 << 15)}, 0, DType::i16);
    state = b.add(wide(b, kept), wide(b, x));
  }
  b.output("sum", b.op("reduce_sum", {state}, {{"dims", std::vector<std::int64_t>{1}}}));
  b.output("y", requantized(b, state, {0.25}, 0, DType::i16));
  Graph graph = finished(b);
  expect_near(graph, {{"x", drawn({2, 8}, DType::i16, -16000, 16000, 1)}}, 16);
}

TEST(QuantizedModels, MovementsKeepZeroPoints) {
  Builder b("g");
  auto x = b.input("x", {1, 2, 4, 4}), y = b.input("y", {1, 2, 4, 4});
  auto q = b.pad(quantized(b, x, 0.01f, 20), {0, 0, 1, 1}, {0, 0, 1, 1}, 20);
  auto p = b.pad(quantized(b, y, 0.02f, -5), {0, 0, 1, 1}, {0, 0, 1, 1}, -5);
  auto pooled = b.max_pool2d(q, {2, 2}), other = b.slice(p, 2, 0, 5);
  auto joined = b.concatenate({b.slice(pooled, 3, 0, 4), b.slice(other, 3, 0, 4)}, 1);
  b.output("y", dequantized(b, joined, 0.01f, 20));
  Graph graph = finished(b);
  expect_near(graph, {{"x", varied({1, 2, 4, 4})}, {"y", varied({1, 2, 4, 4}, 2)}}, 0.0101);
}

TEST(QuantizedModels, IndicesComeFromTheHost) {
  Builder b("g");
  auto x = b.input("x", {2, 9});
  auto q = b.transpose(quantized(b, x, 0.01f, 0), {1, 0});
  b.output("most", b.argmax(q, 0));
  b.output("y", dequantized(b, q, 0.01f, 0));
  Graph graph = finished(b);
  Bench bench;
  NamedTensors inputs{{"x", varied({2, 9})}};
  NamedTensors before = evaluated(graph, inputs);
  bench.run(kQuantizedModels, graph);
  EXPECT_EQ(evaluated(graph, inputs).at("most").to_f32(), before.at("most").to_f32());
}

TEST(QuantizedModels, WeightsAreQuantizedAsTheyWere) {
  Builder b("g");
  auto x = b.input("x", {2, 8});
  auto w = b.parameter("w", varied({8, 4}));
  b.output("y", b.matmul(x, dequantized(b, quantized(b, w, 0.1f, 0), 0.1f, 0)));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_FALSE(bench.run(kQuantizedModels, graph).changed());
}

TEST(QuantizedModels, UnknownScalesStay) {
  Builder b("g");
  auto x = b.input("x", {2, 8}), scale = b.input("scale", {});
  auto zero = b.constant(whole({}, {0}, DType::i8));
  b.output("y", b.op("dequantize", {b.op("quantize", {x, scale, zero}), scale, zero}));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_FALSE(bench.run(kQuantizedModels, graph).changed());
}

TEST(QuantizedModels, OrTheHostComputesThem) {
  Builder b("g");
  auto x = b.input("x", {4, 20});
  auto columns = b.transpose(wide(b, b.parameter("w", drawn({6, 20}, DType::i8, -127, 127, 2))), {1, 0});
  auto product = b.matmul(centred(b, quantized(b, x, 0.02f, 0), 0), columns);
  b.output("y", b.relu(dequantized(b, requantized(b, product, {0.001}, 3), 0.1f, 3)));
  Graph graph = finished(b);
  Bench bench;
  bench.context.quantized = QuantizedModels::host;
  NamedTensors inputs{{"x", varied({4, 20})}};
  NamedTensors before = evaluated(graph, inputs);
  EXPECT_TRUE(bench.run(kQuantizedModels, graph).changed());
  EXPECT_EQ(evaluated(graph, inputs).at("y").to_f32(), before.at("y").to_f32());
  EXPECT_EQ(device_ops(graph), "cast transpose relu");
}

// ---- products in Int8

struct Int8Bench : Bench {
  Int8Bench() {
    device.features.int32_accumulate = true;
    device.formats.insert(device.formats.end(), {DataFormat::int8, DataFormat::int32});
    context.quantized = QuantizedModels::int8;
    context.decompositions = &plugin_decompositions();
  }

  // Runs the pass, and then those that decompose and lower. Outputs move by no more than `most`; lowering changes nothing.
  void expect_near(Graph& graph, const NamedTensors& inputs, double most, std::string_view note) {
    NamedTensors before = evaluated(graph, inputs);
    EXPECT_NE(run(kQuantizedModels, graph).note.find(note), std::string::npos) << listing(graph);
    NamedTensors after = evaluated(graph, inputs);
    for (const auto& [name, expected] : before) {
      std::vector<float> x = expected.to_f32(), y = after.at(name).to_f32();
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], most) << name << '[' << i << "]\n" << listing(graph);
    }
    passed_ = device_ops(graph);
    expect_equivalence(graph, *this, {&kDecompose, &kConstantFolding, &kLowerToDevice}, inputs);
  }

  // What the pass leaves for the device.
  const std::string& ops() const { return passed_; }

 private:
  std::string passed_;
};

ValueRef product(Builder& b, ValueRef q, std::int32_t zero, const Shape& weights, std::uint64_t seed) {
  auto w = b.parameter(cat("w", seed), drawn(weights, DType::i8, -127, 127, seed));
  auto bias = b.parameter(cat("bias", seed), drawn({weights[0]}, DType::i32, -900, 900, seed + 1));
  return b.add(b.matmul(centred(b, q, zero), b.transpose(wide(b, w), {1, 0})), bias);
}

TEST(Int8Products, OfMatricesHandOnTheirIntegers) {
  for (DType type : {DType::i8, DType::u8}) {
    Builder b("g");
    const std::int32_t zero = type == DType::i8 ? -128 : 0, most = zero + 255;
    auto x = b.input("x", {4, 20}, type);
    auto y = requantized(b, product(b, x, zero + 5, {6, 20}, 2), {0.001}, zero, type);
    auto z = requantized(b, product(b, y, zero, {5, 6}, 4), {0.002, 0.001, 0.003, 0.004, 0.002}, zero + 90, type);
    b.output("z", dequantized(b, z, 1, zero + 90, type));
    Graph graph = finished(b);
    Int8Bench bench;
    // The largest integer is left out; what is rounded otherwise counts with weights of up to 127 * 0.004.
    bench.expect_near(graph, {{"x", drawn({4, 20}, type, zero, most, 1)}}, 2.01, "2 of 2 products are computed in Int8");
    EXPECT_EQ(bench.ops(), "cast to_int8 int8_matmul int8_matmul clip") << "between the products nothing is a real number";
  }
}

TEST(Int8Products, OfConvolutionsKnowTheirBorder) {
  for (std::int64_t border : {0, 1}) {
    Builder b("g");
    auto x = b.input("x", {1, 3, 6, 6}, DType::i8);
    auto w = b.parameter("w", drawn({4, 3, 3, 3}, DType::i8, -127, 127, 2));
    auto v = b.parameter("v", drawn({2, 4, 1, 1}, DType::i8, -127, 127, 4));
    auto bias = b.parameter("bias", drawn({4}, DType::i32, -500, 500, 3));
    auto sum = b.op("conv2d", {centred(b, x, -100), wide(b, w), bias}, {{"padding", std::vector<std::int64_t>(4, border)}});
    auto y = b.clip(requantized(b, sum, {0.002, 0.003, 0.001, 0.0005}, -128), -128, 127);
    auto last = requantized(b, b.op("conv2d", {centred(b, y, -128), wide(b, v)}), {0.004, 0.005}, 3);
    b.output("y", dequantized(b, b.transpose(last, {0, 2, 3, 1}), 0.5f, 3));
    Graph graph = finished(b);
    Int8Bench bench;
    bench.expect_near(graph, {{"x", drawn({1, 3, 6, 6}, DType::i8, -128, 127, 1)}}, 1.01, "2 of 2");
    EXPECT_EQ(bench.ops(), "cast to_int8 int8_conv2d int8_conv2d clip transpose multiply");
  }
}

// A value that a product reads in Int8, and another op as a number.
TEST(Int8Products, AreRealNumbersWhereOthersReadThem) {
  Builder b("g");
  auto x = b.input("x", {4, 20}, DType::i8);
  auto y = requantized(b, product(b, x, 3, {6, 20}, 2), {0.001}, -7);
  b.output("y", b.abs(dequantized(b, y, 1, -7)));
  b.output("z", dequantized(b, requantized(b, product(b, y, -7, {5, 6}, 4), {0.002}, 0), 1, 0));
  Graph graph = finished(b);
  Int8Bench bench;
  bench.expect_near(graph, {{"x", drawn({4, 20}, DType::i8, -128, 127, 1)}}, 1.01, "2 of 2");
  EXPECT_NE(bench.ops().find("from_int8"), std::string::npos) << bench.ops();
}

// As ONNX has them: floating-point products of what is quantised and dequantised.
TEST(Int8Products, OfDequantizedOperands) {
  Builder b("g");
  auto x = b.input("x", {4, 64});
  auto h = dequantized(b, quantized(b, x, 0.02f, 128, DType::u8), 0.02f, 128, DType::u8);
  for (std::int64_t size : {96, 10}) {
    const std::int64_t k = size == 96 ? 64 : 96;
    auto w = b.parameter(cat("w", size), drawn({k, size}, DType::i8, -127, 127, static_cast<std::uint64_t>(size)));
    auto bias = b.parameter(cat("bias", size), varied({size}));
    auto sum = b.add(b.matmul(h, dequantized(b, w, 0.003f, 0)), bias);
    h = size == 96 ? dequantized(b, quantized(b, b.relu(sum), 0.02f, -128), 0.02f, -128) : sum;
  }
  b.output("y", h);
  Graph graph = finished(b);
  Int8Bench bench;
  bench.expect_near(graph, {{"x", varied({4, 64})}}, 0.1, "2 of 2");
  EXPECT_EQ(bench.ops(), "to_int8 int8_matmul int8_matmul");
}

TEST(Int8Products, AreCountedWhereTheyAreNone) {
  Builder b("g");
  auto x = b.input("x", {1, 4, 6, 6}, DType::i8);
  auto depthwise = b.parameter("w", drawn({4, 1, 3, 3}, DType::i8, -127, 127, 2));
  auto least = b.parameter("v", drawn({2, 4, 1, 1}, DType::i8, -128, -128, 4));
  auto sum = b.op("conv2d", {centred(b, x, 0), wide(b, depthwise)}, {{"groups", std::int64_t{4}}});
  auto y = requantized(b, sum, {0.002}, -128);
  b.output("y", dequantized(b, requantized(b, b.op("conv2d", {centred(b, y, -128), wide(b, least)}), {0.004}, 3), 0.5f, 3));
  Graph graph = finished(b);
  Int8Bench bench;
  bench.expect_near(graph, {{"x", drawn({1, 4, 6, 6}, DType::i8, -128, 127, 1)}}, 1.01,
                    "0 of 2 products are computed in Int8; of the others 1 have channels in groups, 1 have weights beyond -127 to 127");
}

TEST(Int8Products, NeedADeviceThatMultipliesIntegers) {
  Builder b("g");
  auto x = b.input("x", {4, 20}, DType::i8);
  b.output("y", dequantized(b, requantized(b, product(b, x, 3, {6, 20}, 2), {0.001}, 0), 1, 0));
  Graph graph = finished(b);
  Bench bench;
  bench.context.quantized = QuantizedModels::int8;
  bench.run(kQuantizedModels, graph);
  ASSERT_EQ(bench.sink.diagnostics().size(), 1u);
  EXPECT_EQ(bench.sink.diagnostics()[0].code, "PA037");
  EXPECT_EQ(device_ops(graph).find("int8"), std::string::npos) << listing(graph);
}

}  // namespace
}  // namespace buda::passes
