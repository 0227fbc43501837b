// SPDX-License-Identifier: Apache-2.0
// The rules of our decomposition plugins: what they build, and that it means the same.
#include "values.hpp"

#include <buda/passes/integers/integer_range.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace buda::passes {
namespace {

struct Plugins : Bench {
  Plugins() { context.decompositions = &plugin_decompositions(); }

  // Decomposes and compares; gives the ops in topological order.
  std::string ops_of(Graph& graph, NamedTensors inputs = {}) {
    expect_equivalence(graph, *this, {&kDecompose}, std::move(inputs));
    std::vector<std::string> ops;
    for (NodeId id : graph.topological_order())
      if (graph.node(id).is_op()) ops.push_back(graph.node(id).op());
    return join(ops, " ");
  }
};

TEST(DecompositionPlugins, AreInTheOrderOfTheirNames) {
  std::vector<std::string> names;
  for (const auto& d : plugin_decompositions()) names.push_back(d.name);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"conv", "divide", "max_pool", "softmax", "topk"}));
}

TEST(Gemm, ScalesWeightsWhereTheyAreKnown) {
  Plugins p;
  Builder b("g");
  auto x = b.input("x", {4, 6});
  auto w = b.parameter("w", varied({3, 6}));
  auto c = b.parameter("c", varied({3}));
  b.output("y", called(b, "fc", b.gemm(x, w, c, {{"alpha", 0.5}, {"beta", 2.0}, {"trans_b", true}})));
  Graph graph = finished(b);
  EXPECT_EQ(p.ops_of(graph), "transpose multiply matmul multiply add");
  EXPECT_EQ(graph.node(graph.find("fc")).op(), "add");
  EXPECT_EQ(graph.node(graph.find("fc.scaled")).op(), "multiply");
}

TEST(Gemm, EveryCombinationMeansTheSame) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (double alpha : {1.0, -0.25})
        for (double beta : {1.0, 0.0, 3.0})
          for (int form = 0; form < 4; ++form) {
            Plugins p;
            Builder b("g");
            auto x = b.input("x", ta ? Shape{5, 2} : Shape{2, 5});
            auto y = b.input("y", tb ? Shape{3, 5} : Shape{5, 3});
            graph::AttrMap attrs = {{"alpha", alpha}, {"beta", beta}, {"trans_a", ta}, {"trans_b", tb}};
            static const Shape kForms[] = {{}, {3}, {2, 1}, {2, 3}};
            b.output("out", b.gemm(x, y, b.input("c", kForms[form]), attrs));
            b.output("plain", b.op("gemm", {x, y}, attrs));
            Graph graph = finished(b);
            std::string ops = p.ops_of(graph);
            EXPECT_EQ(ops.find("gemm"), std::string::npos);
            EXPECT_EQ(ops.find("add") == std::string::npos, beta == 0);
            EXPECT_EQ(std::count(ops.begin(), ops.end(), ' ') + 1 > 2, ta || tb || alpha != 1 || beta != 0) << ops;
          }
}

struct Powers : Plugins {
  // Of a base and an exponent with these ranges, empty for none, and this type of exponents.
  std::string ops(const char* base, const char* exponent, DType type) {
    Builder b("g");
    auto x = b.input("x", {9, 33});
    auto n = b.input("n", {9, 33}, type);
    if (*base != 0) b.node(x).tags[kValueRange] = base;
    if (*exponent != 0) b.node(n).tags[kValueRange] = exponent;
    b.output("y", b.op("power", {x, is_float(type) ? n : b.op("cast", {n}, {{"dtype", std::string("F32")}})}));
    Graph graph = finished(b);
    return ops_of(graph);
  }
};

TEST(Power, ByTheLogarithmWhereTheBaseIsNeverNegative) {
  EXPECT_EQ(Powers().ops("0:3", "", DType::f32), "log multiply exp");
  EXPECT_EQ(Powers().ops("", "", DType::f32), "power");
  EXPECT_EQ(Powers().ops("-1:3", "", DType::f32), "power");
}

TEST(Power, OfAnyBaseWithSmallIntegersAsExponents) {
  for (const char* range : {"-16:16", "0:5", "-3:-3"}) {
    const std::string ops = Powers().ops("-3:3", range, DType::i32);
    EXPECT_THAT(ops, ::testing::HasSubstr("log")) << range;
    EXPECT_THAT(ops, ::testing::Not(::testing::HasSubstr("power"))) << range;
  }
  EXPECT_THAT(Powers().ops("-3:3", "-17:16", DType::i32), ::testing::HasSubstr("power"));
  EXPECT_THAT(Powers().ops("-3:3", "", DType::u8), ::testing::HasSubstr("power"));
}

TEST(Power, HasTheSignOfOddExponentsAndIsOneForZero) {
  Builder b("g");
  auto n = b.input("n", {2, 8}, DType::i64);
  b.node(n).tags[kValueRange] = "-16:16";
  b.output("y", b.op("power", {b.input("x", {2, 8}), b.op("cast", {n}, {{"dtype", std::string("F32")}})}));
  Graph graph = finished(b);
  Powers p;
  p.run(kDecompose, graph);
  const std::vector<float> x = {-2, -2, -2, -2, 0, 0, -0.5, 3, -1, -1, -1, -1, 2, 2, 1, -1.5};
  const std::vector<std::int64_t> exponents = {0, 1, 2, 3, 0, 2, -3, 4, 15, 16, -15, -16, -16, 16, 7, 11};
  const Tensor made = evaluated(graph, {{"x", Tensor(Shape{2, 8}, x)}, {"n", Tensor(Shape{2, 8}, exponents)}}).at("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double right = std::pow(x[i], exponents[i]);
    EXPECT_NEAR(made.as<float>()[i], right, std::abs(right) * 1e-5) << x[i] << " to the power of " << exponents[i];
  }
}

TEST(Softmax, IsStableUnlessTold) {
  for (bool stable : {true, false})
    for (std::int64_t dim : {0, 1, -1}) {
      Plugins p;
      Builder b("g");
      auto x = b.input("x", {4, 7});
      auto s = called(b, "s", b.softmax(x, dim));
      b.node(s).attrs["stable"] = stable;
      b.output("y", s);
      Graph graph = finished(b);
      EXPECT_EQ(p.ops_of(graph), stable ? "reduce_max subtract exp reduce_sum reciprocal multiply" : "exp reduce_sum reciprocal multiply");
    }
}

TEST(Softmax, LargeNumbersDoNotOverflow) {
  Plugins p;
  Builder b("g");
  b.output("y", b.softmax(b.input("x", {1, 3}), 1));
  b.output("z", b.log_softmax(b.input("x2", {1, 3}), 1));
  Graph graph = finished(b);
  NamedTensors inputs = {{"x", f32({1, 3}, {1000, 999, -1000})}, {"x2", f32({1, 3}, {1000, 999, -1000})}};
  p.run(kDecompose, graph);
  NamedTensors out = evaluated(graph, inputs);
  auto y = out.at("y").as<float>(), z = out.at("z").as<float>();
  EXPECT_NEAR(y[0], 0.7310586, 1e-6);
  EXPECT_NEAR(y[1], 0.2689414, 1e-6);
  EXPECT_EQ(y[2], 0);
  EXPECT_NEAR(z[0], -0.3132617, 1e-6);
  EXPECT_NEAR(z[2], -2000.3132617, 1e-3);
}

TEST(Softmax, OptionTurnsTheMaximumOff) {
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  plugin::Registries registries;
  plugin::SearchPath path;
  path.directories = {(std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/buda/plugins/abi1").string()};
  ASSERT_TRUE(plugin::load_plugins(path, {plugin::Kind::decomposition}, registries, host).ok());
  schema::OptionValues off;
  off.set("stable", "false");
  auto set = plugin::make_decompositions(registries, {{"decomposition.softmax", off}}, host);
  ASSERT_TRUE(set.ok()) << Bench::message(set.failure());
  Plugins p;
  p.context.decompositions = &*set;
  Builder b("g");
  b.output("y", b.softmax(b.input("x", {2, 3}), -1));
  Graph graph = finished(b);
  EXPECT_EQ(p.ops_of(graph), "exp reduce_sum reciprocal multiply");
}

TEST(Layernorm, MeansTheSame) {
  for (std::int64_t dim : {-1, -2, 0})
    for (int parts = 1; parts <= 3; ++parts) {
      Plugins p;
      Builder b("g");
      std::vector<Edge> in = {b.input("x", {3, 4, 5})};
      if (parts > 1) in.push_back(b.parameter("w", varied({5}, 2)));
      if (parts > 2) in.push_back(b.parameter("b", varied({5}, 3)));
      b.output("y", b.op("layernorm", in, {{"dim", dim}, {"epsilon", 1e-3}}));
      Graph graph = finished(b);
      EXPECT_EQ(p.ops_of(graph).substr(0, 61), "reduce_avg subtract square reduce_avg add sqrt reciprocal mul");
    }
}

TEST(GeluTanh, OnlyTheApproximationIsReplaced) {
  Plugins p;
  Builder b("g");
  auto x = b.input("x", {200});
  b.output("y", b.gelu(x, "tanh"));
  b.output("z", b.gelu(x));
  Graph graph = finished(b);
  EXPECT_EQ(p.ops_of(graph), "gelu square multiply add multiply sigmoid multiply");
}

TEST(Math, MinimumAndDivide) {
  Plugins p;
  Builder b("g");
  auto x = b.input("x", {4, 5}), y = b.input("y", {5});
  b.output("m", b.minimum(x, y));
  b.output("d", b.divide(x, y));
  Graph graph = finished(b);
  EXPECT_EQ(p.ops_of(graph), "negative negative maximum negative reciprocal multiply");
}

// -2.5 / (5 / 255) lies a little above -127.5, as a division in fp32 gives it, and below it with a reciprocal that is rounded first.
TEST(Math, QuotientsThatAreRoundedNextAreExact) {
  Plugins p;
  Builder b("g");
  auto x = b.input("x", {64}), range = b.input("range", {});
  auto scale = b.divide(range, b.constant(Tensor::scalar(255.0f)));
  b.output("y", b.op("round", {b.divide(x, scale)}));
  b.output("z", b.op("quantize", {x, scale, b.constant(Tensor::scalar(128.0f).cast(DType::u8))}));
  Graph graph = finished(b);
  std::vector<float> numbers;
  for (int i = 0; i < 64; ++i) numbers.push_back(static_cast<float>(i - 32) * 0.25f);
  NamedTensors inputs{{"x", f32({64}, numbers)}, {"range", Tensor::scalar(5.0f)}};
  expect_equivalence(graph, p, {&kDecompose, &kCpuFallback, &kLowerToDevice}, inputs);
}

TEST(Math, PowersByTheirExponent) {
  struct Case {
    float exponent;
    const char* ops;
  };
  NamedTensors positive = {{"x", f32({3}, {0.5f, 1.0f, 3.0f})}};
  for (const Case& c : {Case{2, "square"}, Case{0.5f, "sqrt"}, Case{-1, "reciprocal"}, Case{3, "power"}, Case{-3, "power reciprocal"},
                        Case{1.5f, "log multiply exp"}, Case{100, "abs log multiply exp"}, Case{-0.5f, "sqrt reciprocal"}}) {
    Plugins p;
    Builder b("g");
    b.output("y", b.power(b.input("x", {3}), b.constant(c.exponent)));
    Graph graph = finished(b);
    EXPECT_EQ(p.ops_of(graph, positive), c.ops) << c.exponent;
  }
}

// Whole numbers among exponents give what they should of negative bases, and no chip can tell whole numbers: only a base that is never
// negative is raised there.
TEST(Math, PowersOfRunTimeExponents) {
  NamedTensors inputs = {{"x", f32({3}, {0.5f, 1.0f, 3.0f})}, {"e", f32({2, 3}, {1, 2, 3, -1, 0.5f, 0})}};
  for (bool never_negative : {false, true}) {
    Plugins p;
    Builder b("g");
    auto x = b.input("x", {3});
    b.output("y", b.power(never_negative ? b.abs(x) : x, b.input("e", {2, 3})));
    Graph graph = finished(b);
    EXPECT_EQ(p.ops_of(graph, inputs), never_negative ? "abs log multiply exp" : "power");
  }
}

}  // namespace
}  // namespace buda::passes
