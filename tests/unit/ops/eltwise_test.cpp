// SPDX-License-Identifier: Apache-2.0
// Elementwise operations against values from PyTorch (float64) and from first principles.
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

#include <limits>

namespace buda::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(EltwiseBinary, BroadcastsAsNumPy) {
  // (2,1,3) with (4,1): each pair is written out.
  Tensor a = f32({2, 1, 3}, {1, 2, 3, 4, 5, 6}), b = f32({4, 1}, {10, 20, 30, 40});
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k) expected.push_back((i * 3 + k + 1) - (j + 1) * 10);
  expect_near(run("subtract", {a, b}), {2, 4, 3}, expected);
  expect_near(run("add", {f32({}, {5}), f32({2, 2}, {1, 2, 3, 4})}), {2, 2}, {6, 7, 8, 9});
  expect_near(run("multiply", {f32({2, 2}, {1, 2, 3, 4}), f32({1}, {-2})}), {2, 2}, {-2, -4, -6, -8});
  expect_near(run("add", {f32({2, 0}, {}), f32({2, 1}, {1, 2})}), {2, 0}, {});
}

TEST(EltwiseBinary, LargeTensorsInChunksEqualSmallOnes) {
  // More than one chunk, with a row broadcast against a column.
  Tensor row = counting({1, 700}), column = counting({300, 1});
  auto one = try_run(Level::tensor, "add", {row, column}, {}, 1), four = try_run(Level::tensor, "add", {row, column}, {}, 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(*one, *four);
  auto v = one->as<float>();
  for (std::size_t i = 0; i < 300; i += 37)
    for (std::size_t j = 0; j < 700; j += 41) ASSERT_EQ(v[i * 700 + j], static_cast<float>(i + j));
}

TEST(EltwiseBinary, FloatingPointCornerCases) {
  auto max = elements<float>(run("maximum", {f32({4}, {1, kNan, 3, -kInf}), f32({4}, {2, 0, kNan, -5})}));
  EXPECT_EQ(max[0], 2);
  EXPECT_TRUE(std::isnan(max[1]));
  EXPECT_TRUE(std::isnan(max[2]));
  EXPECT_EQ(max[3], -5);
  auto min = elements<float>(run("minimum", {f32({3}, {1, kNan, 3}), f32({3}, {2, 0, kNan})}));
  EXPECT_EQ(min[0], 1);
  EXPECT_TRUE(std::isnan(min[1]));
  EXPECT_TRUE(std::isnan(min[2]));
  auto quotient = elements<float>(run("divide", {f32({3}, {1, -1, 0}), f32({3}, {0, 0, 0})}));
  EXPECT_EQ(quotient[0], kInf);
  EXPECT_EQ(quotient[1], -kInf);
  EXPECT_TRUE(std::isnan(quotient[2]));
  expect_near(run("power", {f32({3}, {2, 9, 2}), f32({3}, {10, 0.5, -1})}), {3}, {1024, 3, 0.5});
}

TEST(EltwiseBinary, IntegersAreExactAndWrap) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max(), kMin = std::numeric_limits<std::int64_t>::min();
  auto sum = elements<std::int64_t>(run("add", {i64({2}, {kMax, (1LL << 53) + 1}), i64({2}, {1, 2})}));
  EXPECT_EQ(sum[0], kMin);
  EXPECT_EQ(sum[1], (1LL << 53) + 3);
  auto quotient = elements<std::int64_t>(run("divide", {i64({4}, {-7, 7, kMin, 5}), i64({4}, {2, -2, -1, 0})}));
  EXPECT_EQ(quotient[0], -3);
  EXPECT_EQ(quotient[1], -3);
  EXPECT_EQ(quotient[2], kMin);
  EXPECT_EQ(quotient[3], 0);
  auto power = elements<std::int32_t>(run("power", {i32({5}, {3, -2, 2, -1, 7}), i32({5}, {4, 3, -1, -3, 0})}));
  EXPECT_EQ(power, (std::vector<std::int32_t>{81, -8, 0, -1, 1}));
  Tensor u8(Shape{2}, std::vector<std::uint8_t>{200, 3});
  auto wrapped = elements<std::uint8_t>(run("add", {u8, u8}));
  EXPECT_EQ(wrapped[0], 144);  // 400 mod 256
  Tensor big(Shape{1}, std::vector<std::uint64_t>{0xfffffffffffffff0}), small(Shape{1}, std::vector<std::uint64_t>{16});
  EXPECT_EQ(run("divide", {big, small}).as<std::uint64_t>()[0], 0x0fffffffffffffffu);
  EXPECT_EQ(run("maximum", {big, small}).as<std::uint64_t>()[0], 0xfffffffffffffff0u);
}

TEST(EltwiseBinary, SmallFloatsComputeInFp32) {
  // 1 + 2^-11 is not a half; the sum of the converted values is rounded once.
  Tensor a = f32({2}, {1.0f, 2048.0f}).cast(DType::f16), b = f32({2}, {0.00048828125f, 1.0f}).cast(DType::f16);
  Tensor sum = run("add", {a, b});
  EXPECT_EQ(sum.dtype(), DType::f16);
  EXPECT_EQ(sum.to_f32(), (std::vector<float>{1.0f, 2048.0f}));
  Tensor d(Shape{1}, std::vector<double>{1e-300});
  EXPECT_EQ(run("multiply", {d, d}).dtype(), DType::f64);
}

TEST(EltwiseBinary, Refusals) {
  EXPECT_EQ(error_of("add", {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({2}, {1, 2})}),
            "OP003: the shapes [2, 3] and [2] cannot be broadcast together: aligned at the right, sizes must be equal or 1");
  EXPECT_EQ(error_of("add", {f32({1}, {1}), i64({1}, {1})}), "OP004: inputs must have one element type; input 0 is F32, input 1 is I64");
  Tensor flag(Shape{1}, std::vector<Boolean>{{1}});
  EXPECT_EQ(error_of("multiply", {flag, flag}), "OP004: numbers are needed, not BOOL");
  EXPECT_EQ(error_of("add", {f32({1}, {1})}), "OP001: 'add' takes 2 inputs, not 1");
}

TEST(EltwiseUnary, AgreesWithPyTorch) {
  Tensor x = f32({7}, {-3, -1, -0.5, 0, 0.5, 1, 3});
  auto check = [&](const std::string& op, const std::vector<double>& expected, const AttrMap& attrs = {}) {
    SCOPED_TRACE(op);
    expect_near(run(op, {x}, attrs), {7}, expected, 2e-7);
  };
  check("exp", {0.0497870684, 0.367879441, 0.60653066, 1.0, 1.64872127, 2.71828183, 20.0855369});
  check("tanh", {-0.995054754, -0.761594156, -0.462117157, 0.0, 0.462117157, 0.761594156, 0.995054754});
  check("sigmoid", {0.0474258732, 0.268941421, 0.377540669, 0.5, 0.622459331, 0.731058579, 0.952574127});
  check("sine", {-0.141120008, -0.841470985, -0.479425539, 0.0, 0.479425539, 0.841470985, 0.141120008});
  check("cosine", {-0.989992497, 0.540302306, 0.877582562, 1.0, 0.877582562, 0.540302306, -0.989992497});
  check("abs", {3, 1, 0.5, 0, 0.5, 1, 3});
  check("relu", {0, 0, 0, 0, 0.5, 1, 3});
  check("leaky_relu", {-0.6, -0.2, -0.1, 0, 0.5, 1, 3}, {{"alpha", 0.2}});
  check("negative", {3, 1, 0.5, 0, -0.5, -1, -3});
  check("square", {9, 1, 0.25, 0, 0.25, 1, 9});
  check("nop", {-3, -1, -0.5, 0, 0.5, 1, 3});
  check("clip", {-0.75, -0.75, -0.5, 0, 0.5, 1, 2}, {{"min", -0.75}, {"max", std::int64_t{2}}});
  check("gelu", {-0.00404969409, -0.158655254, -0.154268769, 0.0, 0.345731231, 0.841344746, 2.99595031});
  check("gelu", {-0.00363739208, -0.158808009, -0.15428599, 0.0, 0.34571401, 0.841191991, 2.99636261},
        {{"approximate", std::string("tanh")}});
  Tensor y = f32({4}, {0.25, 1, 2, 9});
  expect_near(run("log", {y}), {4}, {-1.38629436, 0.0, 0.693147181, 2.19722458});
  expect_near(run("sqrt", {y}), {4}, {0.5, 1.0, 1.41421356, 3.0});
  expect_near(run("reciprocal", {y}), {4}, {4, 1, 0.5, 0.111111111});
}

TEST(EltwiseUnary, KeepsItsDigitsAtTheEnds) {
  auto gelu = elements<float>(run("gelu", {f32({2}, {-6, -20})}));
  EXPECT_NEAR(gelu[0] / -5.919525869479969e-09, 1, 1e-5);
  EXPECT_EQ(gelu[1], -0.0f);
  auto sigmoid = elements<float>(run("sigmoid", {f32({4}, {-100, 100, -kInf, kInf})}));
  EXPECT_NEAR(sigmoid[0] / 3.7200759760208356e-44, 1, 0.05);  // a denormal float has few digits
  EXPECT_EQ(sigmoid[1], 1);
  EXPECT_EQ(sigmoid[2], 0);
  EXPECT_EQ(sigmoid[3], 1);
  EXPECT_TRUE(std::isnan(run("relu", {f32({1}, {kNan})}).as<float>()[0]));
  EXPECT_TRUE(std::isnan(run("clip", {f32({1}, {kNan})}, {{"min", 0.0}}).as<float>()[0]));
  EXPECT_TRUE(std::signbit(run("negative", {f32({1}, {0})}).as<float>()[0]));
}

TEST(EltwiseUnary, IntegersWhereTheyMakeSense) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  auto abs = elements<std::int64_t>(run("abs", {i64({2}, {-5, kMin})}));
  EXPECT_EQ(abs[0], 5);
  EXPECT_EQ(abs[1], kMin);
  auto clipped = elements<std::int64_t>(run("clip", {i64({4}, {-9, 0, 5, 9})}, {{"min", -1.5}, {"max", 5.5}}));
  EXPECT_EQ(clipped, (Ints{-1, 0, 5, 5}));
  EXPECT_EQ(run("clip", {i64({1}, {kMin})}).as<std::int64_t>()[0], kMin);
  EXPECT_EQ(run("relu", {i32({2}, {-4, 4})}).as<std::int32_t>()[0], 0);
  EXPECT_EQ(error_of("exp", {i64({1}, {1})}), "OP004: a floating-point type is needed, not I64");
  EXPECT_EQ(run("nop", {Tensor(Shape{1}, std::vector<Boolean>{{1}})}).dtype(), DType::boolean);
}

}  // namespace
}  // namespace buda::ops
