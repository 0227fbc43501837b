// SPDX-License-Identifier: Apache-2.0
// precise-positions: which angles, coordinates and roundings go to the host with what they are made of, and which stay.
#include "values.hpp"

#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/passes/integers/integer_range.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/passes/precision/op_estimates.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace buda::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Ref = Builder::Ref;

struct PrecisePositions : testing::Test, Bench {
  std::string moved(const std::function<void(Builder&)>& build) {
    Builder b("g");
    build(b);
    graph = finished(b);
    return moved();
  }

  std::string moved() {
    report = run(kPrecisePositions, graph);
    std::vector<std::string> names;
    for (NodeId id : graph.topological_order())
      if (graph.node(id).is_op() && graph::on_host(graph.node(id))) names.push_back(graph.node(id).name());
    return join(names, " ");
  }

  std::string told() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : sink.diagnostics()) out.push_back(cat(d.code, ": ", d.message));
    return join(out, "\n");
  }

  Graph graph;
  PassReport report;
};

Tensor frequencies(std::int64_t n, double slowest) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<float>(std::pow(slowest, static_cast<double>(i) / static_cast<double>(n - 1))));
  return Tensor(Shape{1, n}, std::move(values));
}

Ref as_float(Builder& b, const std::string& name, Edge x) { return called(b, name, b.op("cast", {x}, {{"dtype", std::string("F32")}})); }

// cos(position * frequency), which a product reads.
void angles(Builder& b, Edge positions, const Tensor& table) {
  auto a = called(b, "a", b.multiply(positions, b.constant(table)));
  auto c = called(b, "c", b.op("cosine", {a}));
  auto w = b.parameter("w", varied({table.shape()[1], 32}, 1));
  b.output("y", b.matmul(c, w));
}

TEST_F(PrecisePositions, AnglesOfRunTimePositionsGoWithWhatTheyAreMadeOf) {
  EXPECT_EQ(moved([](Builder& b) { angles(b, as_float(b, "f", b.input("p", {32, 1}, DType::i64)), frequencies(32, 1e-4)); }), "f a c");
  EXPECT_THAT(told(), HasSubstr("PA090: 'cosine' and 2 ops before it run on the host: an angle up to"));
}

TEST_F(PrecisePositions, ProductsOfOneColumnAreElementwise) {
  EXPECT_EQ(moved([](Builder& b) {
              auto f = as_float(b, "f", b.input("p", {32, 1}, DType::i32));
              auto a = called(b, "a", b.matmul(f, b.parameter("table", frequencies(32, 1e-4))));
              b.output("y", called(b, "s", b.op("sine", {a})));
            }),
            "f a s");
}

TEST_F(PrecisePositions, PositionsThatAreFewStay) {
  Builder b("g");
  angles(b, as_float(b, "f", b.input("p", {32, 1}, DType::i64)), frequencies(32, 1e-4));
  graph = finished(b);
  graph.node(graph.find("p")).tags["value_range"] = "0:3";
  EXPECT_EQ(moved(), "");
  graph.node(graph.find("p")).tags["value_range"] = "0:5";
  EXPECT_EQ(moved(), "f a c");
}

TEST_F(PrecisePositions, AnInputOfFloatsIsATimeWhereFrequenciesSaySo) {
  EXPECT_EQ(moved([](Builder& b) { angles(b, b.input("t", {32, 1}), frequencies(32, 1e-4)); }), "a c");
  EXPECT_EQ(moved([](Builder& b) { angles(b, b.input("t", {32, 1}), frequencies(32, 0.5)); }), "");
  EXPECT_EQ(moved([](Builder& b) { b.output("y", called(b, "s", b.op("sine", {b.input("x", {32, 32})}))); }), "");
}

TEST_F(PrecisePositions, SmallResultsOfWhatIsMovedGoAlongAndProductsStay) {
  EXPECT_EQ(moved([](Builder& b) {
              auto f = as_float(b, "f", b.input("p", {32, 1}, DType::i64));
              auto x = b.input("x", {32, 64});
              auto a = called(b, "a", b.multiply(f, b.constant(frequencies(32, 1e-4))));
              auto c = called(b, "c", b.op("cosine", {a}));
              auto s = called(b, "s", b.op("sine", {a}));
              auto both = called(b, "both", b.op("concatenate", {c, s}, {{"dim", std::int64_t{1}}}));
              b.output("y", b.multiply(x, both));
            }),
            "f a c s both");
}

TEST_F(PrecisePositions, WhatComesFromANetworkStays) {
  EXPECT_EQ(moved([](Builder& b) {
              auto h = b.matmul(b.input("x", {32, 64}), b.parameter("v", varied({64, 32}, 1)));
              angles(b, b.multiply(h, b.constant(Tensor::scalar(1000.0f))), frequencies(32, 1e-4));
            }),
            "");
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(PrecisePositions, StatesOfTheDeviceStayThere) {
  Builder b("g");
  auto p = b.input("p", {32, 1});
  b.output("next", b.add(p, b.constant(Tensor::scalar(1.0f))));
  angles(b, p, frequencies(32, 1e-4));
  graph = finished(b);
  graph.node(graph.find("p")).tags[graph::kLoopback] = "next";
  EXPECT_EQ(moved(), "");
}

TEST_F(PrecisePositions, KnownAnglesAreOfNoConcern) {
  EXPECT_EQ(moved([](Builder& b) {
              auto t = b.op("sine", {b.multiply(b.constant(Tensor::scalar(5000.0f)), b.constant(frequencies(32, 1e-4)))});
              b.output("y", b.multiply(b.input("x", {32, 32}), t));
            }),
            "");
}

// What a grid from -1 to 1 takes of a row of so many pixels.
std::function<void(Builder&)> weights_of_samples(std::int64_t size) {
  return [size](Builder& b) {
    std::vector<float> pixels;
    for (std::int64_t i = 0; i < size; ++i) pixels.push_back(static_cast<float>(i));
    auto ramp = called(b, "ramp", b.constant(Tensor(Shape{size, 1}, std::move(pixels))));
    auto at = called(b, "at", b.multiply(b.input("g", {1, 64}), b.constant(Tensor::scalar(static_cast<float>(size) / 2))));
    auto off = called(b, "off", b.subtract(at, ramp));
    auto far = called(b, "far", b.op("abs", {off}));
    auto near = called(b, "near", b.subtract(b.constant(Tensor::scalar(1.0f)), far));
    b.output("y", b.matmul(b.input("x", {32, size}), called(b, "hat", b.relu(near))));
  };
}

TEST_F(PrecisePositions, WeightsOfSamplesFollowTheSizeOfTheImage) {
  EXPECT_EQ(moved(weights_of_samples(8)), "");
  EXPECT_EQ(moved(weights_of_samples(1024)), "at off far near hat");
}

// Too many pixels for 8 bits, and few enough for the 10 that a product reads of a Float32.
TEST_F(PrecisePositions, WeightsOfSamplesOfMediumImagesAreKeptInFloat32) {
  EXPECT_EQ(moved(weights_of_samples(48)), "");
  for (const char* name : {"g", "ramp", "at", "off", "far", "near", "hat"})
    EXPECT_TRUE(graph.node(graph.find(name)).tags.contains(kExact)) << name;
  EXPECT_FALSE(graph.node(graph.find("x")).tags.contains(kExact));
  EXPECT_EQ(report.note, "5 ops in Float32");
  device = grayskull_like();
  EXPECT_EQ(moved(weights_of_samples(48)), "at off far near hat");
}

TEST_F(PrecisePositions, WhatIsFarOutsideOfTheImageIsNotLookedAt) {
  // Numbers from -1,000 to 1,000, of which those from 0 to 3 count.
  EXPECT_EQ(moved([](Builder& b) {
              auto g = b.input("g", {1, 64});
              b.node(g).tags[kValueRange] = "-1000:1000";
              auto inside = b.op("clip", {b.multiply(g, b.constant(Tensor::scalar(0.5f)))}, {{"min", 0.0}, {"max", 3.0}});
              b.output("y", b.relu(b.subtract(inside, b.constant(Tensor::scalar(2.0f)))));
            }),
            "");
}

// x > 0 as decompositions write it.
TEST_F(PrecisePositions, ComparisonsOfLargeNumbersStay) {
  EXPECT_EQ(moved([](Builder& b) {
              auto x = b.input("x", {32, 32});
              b.node(x).tags[kValueRange] = "-1000:1000";
              auto limited = b.op("clip", {x}, {{"min", 0.0}, {"max", 1.0}});
              auto amplified = b.multiply(limited, b.constant(Tensor::scalar(0x1p127f)));
              auto truth = b.op("clip", {amplified}, {{"min", 0.0}, {"max", 1.0}});
              b.output("y", b.relu(b.subtract(b.multiply(truth, b.constant(Tensor::scalar(4.0f))), b.constant(Tensor::scalar(3.0f)))));
            }),
            "");
}

TEST_F(PrecisePositions, WhetherAnExponentIsOddNeedsAllOfItsDigits) {
  auto powers = [](const char* base, const char* exponent) {
    return [=](Builder& b) {
      auto x = b.input("x", {32, 32});
      auto n = b.input("n", {32, 32}, DType::i32);
      if (*base != 0) b.node(x).tags[kValueRange] = base;
      b.node(n).tags[kValueRange] = exponent;
      b.output("y", called(b, "p", b.op("power", {x, as_float(b, "f", n)})));
    };
  };
  EXPECT_EQ(moved(powers("", "-300:300")), "f p");
  EXPECT_EQ(moved(powers("", "-16:16")), "");
  EXPECT_EQ(moved(powers("0:2", "-300:300")), "");
}

TEST_F(PrecisePositions, RoundingLooksAtTheRange) {
  auto rounded = [](float factor) {
    return [factor](Builder& b) {
      auto scaled = called(b, "scaled", b.multiply(b.input("x", {32, 32}), b.constant(Tensor::scalar(factor))));
      b.output("y", called(b, "r", b.op("round", {scaled})));
    };
  };
  EXPECT_EQ(moved(rounded(2)), "");
  EXPECT_EQ(moved(rounded(255)), "scaled r");
}

// What integers are part of is exact-integers' business, but for angles.
TEST_F(PrecisePositions, LimitsOfIntegersAreLeft) {
  EXPECT_EQ(moved([](Builder& b) {
              auto f = as_float(b, "f", b.input("p", {32, 1}, DType::i64));
              auto half = b.multiply(f, b.constant(Tensor::scalar(0.5f)));
              b.output("y", b.op("clip", {half}, {{"min", 0.0}, {"max", 1.0}}));
            }),
            "");
}

TEST_F(PrecisePositions, ParametersThatTheDeviceReadsTooHaveACopy) {
  EXPECT_EQ(moved([](Builder& b) {
              auto table = b.parameter("table", frequencies(32, 1e-4));
              auto a = called(b, "a", b.multiply(as_float(b, "f", b.input("p", {32, 1}, DType::i64)), table));
              b.output("y", b.op("sine", {a}));
              b.output("z", called(b, "on_device", b.multiply(b.input("x", {32, 32}), table)));
            }),
            "f a sine");
  EXPECT_EQ(graph.node(graph.node(graph.find("a")).inputs()[1].source.node).name(), "table.host");
  EXPECT_EQ(graph.node(graph.node(graph.find("on_device")).inputs()[1].source.node).name(), "table");
}

TEST_F(PrecisePositions, WithoutFallbackItWarns) {
  context.fallback.enabled = false;
  EXPECT_EQ(moved([](Builder& b) { angles(b, as_float(b, "f", b.input("p", {32, 1}, DType::i64)), frequencies(32, 1e-4)); }), "");
  EXPECT_THAT(told(), HasSubstr("PA091: 'cosine': an angle up to"));
}

TEST_F(PrecisePositions, Float32HoldsMore) {
  Builder b("g");
  angles(b, as_float(b, "f", b.input("p", {32, 1}, DType::i64)), frequencies(32, 1e-4));
  graph = finished(b);
  graph.node(graph.find("p")).tags["value_range"] = "0:31";
  context.formats.standard = DataFormat::float32;
  EXPECT_EQ(moved(), "");
  device = grayskull_like();
  EXPECT_EQ(moved(), "f a c");
}

// The interval and the error of random elementwise ops hold for random numbers.
TEST(Estimates, HoldForWhatOpsMake) {
  struct Case {
    Estimate made;
    double (*op)(double, double);
  };
  auto check = [](const Estimate& a, const Estimate& b) {
    const std::vector<Case> cases = {{sum(a, b), [](double x, double y) { return x + y; }},
                                     {sum(a, negative(b)), [](double x, double y) { return x - y; }},
                                     {product(a, b), [](double x, double y) { return x * y; }},
                                     {absolute(a), [](double x, double) { return std::abs(x); }},
                                     {larger(a, b), [](double x, double y) { return std::max(x, y); }},
                                     {smaller(a, b), [](double x, double y) { return std::min(x, y); }},
                                     {limited(a, -1, 2), [](double x, double) { return std::clamp(x, -1.0, 2.0); }},
                                     {rounded_to_integers(a), [](double x, double) { return std::round(x); }},
                                     {within(-1, 1, a), [](double x, double) { return std::sin(x); }}};
    const auto error_at = [](const Estimate& e, double v) { return std::min(e.error, e.fixed_error() + e.share * std::abs(v)); };
    for (std::size_t c = 0; c < cases.size(); ++c)
      for (int i = 0; i <= 8; ++i)
        for (int j = 0; j <= 8; ++j)
          for (int k = 0; k < 4; ++k) {
            const double x = a.least + a.width() * i / 8, y = b.least + b.width() * j / 8;
            const double wrong_x = x + (k % 2 == 0 ? 1 : -1) * error_at(a, x), wrong_y = y + (k / 2 == 0 ? 1 : -1) * error_at(b, y);
            const double right = cases[c].op(x, y), wrong = cases[c].op(wrong_x, wrong_y);
            EXPECT_GE(right, cases[c].made.least) << c;
            EXPECT_LE(right, cases[c].made.most) << c;
            // The product of both errors is left out.
            EXPECT_LE(std::abs(right - wrong), error_at(cases[c].made, right) + a.error * b.error + 1e-12) << c;
          }
  };
  check({-3, 5, 0.25, false}, {0.5, 4, 0.125, false});
  // Errors that grow with the numbers.
  check({-3, 5, 0.25, false, 0.05, 0.04}, {0.5, 4, 0.125, false, 0.005, 0.03});
  check({-3, 5, 0.25, false, 0.05, 0.04}, {0.5, 4, 0.125, false});
}

}  // namespace
}  // namespace buda::passes
