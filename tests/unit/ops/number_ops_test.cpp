// SPDX-License-Identifier: Apache-2.0
// Mathematics, activations, comparisons, integers: edge cases that ONNX's own tests do not look at, against values worked out by hand
// or by Python's math module.
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

#include <limits>

namespace buda::ops {
namespace {

constexpr float kNumberOpsInf = std::numeric_limits<float>::infinity();
constexpr float kNumberOpsNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor list(std::vector<T> v) {
  Shape shape{static_cast<std::int64_t>(v.size())};
  return Tensor(std::move(shape), std::move(v));
}

std::vector<bool> truths(const Tensor& t) {
  std::vector<bool> out;
  for (Boolean b : t.as<Boolean>()) out.push_back(static_cast<bool>(b));
  return out;
}

TEST(NumberOps, RoundingGoesToTheEvenNeighbour) {
  expect_near(run("round", {f32({6}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.51f})}), {6}, {0, 2, 2, 0, -2, 3});
  expect_near(run("floor", {f32({2}, {-1.5f, 1.5f})}), {2}, {-2, 1});
  expect_near(run("ceil", {f32({2}, {-1.5f, 1.5f})}), {2}, {-1, 2});
  EXPECT_EQ(elements<std::int64_t>(run("round", {i64({1}, {9007199254740993})})), (Ints{9007199254740993})) << "integers pass untouched";
}

TEST(NumberOps, Mathematics) {
  Tensor half = f32({1}, {0.5f});
  expect_near(run("acos", {half}), {1}, {1.04719755f});
  expect_near(run("atanh", {half}), {1}, {0.54930614f});
  expect_near(run("asinh", {half}), {1}, {0.48121183f});
  expect_near(run("erf", {half}), {1}, {0.52049988f});
  expect_near(run("tan", {half}), {1}, {0.54630249f});
  expect_near(run("cosh", {half}), {1}, {1.12762597f});
  EXPECT_EQ(elements<std::int64_t>(run("sign", {i64({3}, {-5, 0, 7})})), (Ints{-1, 0, 1}));
  EXPECT_TRUE(std::isnan(run("sign", {f32({1}, {kNumberOpsNan})}).as<float>()[0]));
  EXPECT_EQ(error_of("acos", {i64({1}, {1})}), "OP004: a floating-point type is needed, not I64");
}

TEST(NumberOps, ActivationsFarFromZero) {
  Tensor far = f32({3}, {-200, 0, 200});
  expect_near(run("softplus", {far}), {3}, {0, 0.69314718f, 200});
  expect_near(run("elu", {far}, {{"alpha", 2.0}}), {3}, {-2, 0, 200});
  expect_near(run("celu", {f32({1}, {-1})}, {{"alpha", 2.0}}), {1}, {-0.78693868f});
  expect_near(run("selu", {f32({1}, {-1})}), {1}, {-1.11133074f});
  expect_near(run("mish", {far}), {3}, {0, 0, 200});
  expect_near(run("softsign", {far}), {3}, {-200.0f / 201, 0, 200.0f / 201});
  expect_near(run("hard_sigmoid", {far}), {3}, {0, 0.5f, 1});
  expect_near(run("hard_swish", {f32({3}, {-4, 1, 4})}), {3}, {0, 2.0f / 3, 4});
  expect_near(run("thresholded_relu", {f32({2}, {1, 1.25f})}, {{"alpha", 1.0}}), {2}, {0, 1.25f});
  expect_near(run("shrink", {f32({3}, {-2, 0.25f, 2})}, {{"lambda", 1.5}, {"bias", 1.0}}), {3}, {-1, 0, 1});
  expect_near(run("prelu", {f32({2, 2}, {-1, -2, 3, -4}), f32({2}, {0.5f, 10})}), {2, 2}, {-0.5f, -20, 3, -40});
  EXPECT_EQ(error_of("prelu", {f32({2}, {1, 2}), f32({2, 1}, {1, 2})}), "OP003: the slope of shape [2, 1] does not broadcast to x of [2]");
}

TEST(NumberOps, ComparisonsAndNan) {
  Tensor a = f32({3}, {1, kNumberOpsNan, kNumberOpsInf}), b = f32({3}, {1, kNumberOpsNan, 2});
  EXPECT_EQ(truths(run("equal", {a, b})), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(truths(run("greater_equal", {a, b})), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(truths(run("less", {f32({2, 1}, {1, 2}), f32({2}, {1.5f, 3})})), (std::vector<bool>{true, true, false, true}));
  // Neighbours that are one double.
  EXPECT_EQ(truths(run("greater", {i64({1}, {9007199254740993}), i64({1}, {9007199254740992})})), (std::vector<bool>{true}));
  EXPECT_EQ(truths(run("less", {list<std::uint64_t>({1}), list<std::uint64_t>({~std::uint64_t{0}})})), (std::vector<bool>{true}));
  EXPECT_EQ(truths(run("is_nan", {a})), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(truths(run("is_inf", {f32({2}, {kNumberOpsInf, -kNumberOpsInf})}, {{"positive", false}})), (std::vector<bool>{false, true}));
  EXPECT_EQ(error_of("logical_and", {a, b}), "OP004: booleans (BOOL) are needed, not F32");
}

TEST(NumberOps, LogicAndSelection) {
  // A byte that is not 0 is true, whichever it is.
  Tensor p = list<Boolean>({Boolean{2}, Boolean{0}, Boolean{1}}), q = list<Boolean>({Boolean{1}, Boolean{0}, Boolean{0}});
  EXPECT_EQ(truths(run("logical_and", {p, q})), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(truths(run("logical_xor", {p, q})), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(truths(run("logical_not", {p})), (std::vector<bool>{false, true, false}));
  Tensor chosen = run("where", {p, i64({1}, {7}), i64({2, 1}, {-1, -2})});
  EXPECT_EQ(chosen.shape(), (Shape{2, 3}));
  EXPECT_EQ(elements<std::int64_t>(chosen), (Ints{7, -1, 7, 7, -2, 7}));
  EXPECT_EQ(error_of("where", {i64({1}, {1}), i64({1}, {7}), i64({1}, {7})}), "OP004: the condition must be BOOL, not I64");
}

TEST(NumberOps, CastSaturates) {
  Tensor bytes = run("cast", {f32({5}, {300, -300, 1.9f, -1.9f, kNumberOpsNan})}, {{"dtype", std::string("I8")}});
  EXPECT_EQ(elements<std::int8_t>(bytes), (std::vector<std::int8_t>{127, -128, 1, -1, 0}));
  EXPECT_EQ(run("cast", {f32({1}, {1.00390625f})}, {{"dtype", std::string("BF16")}}).as<BFloat16>()[0].bits, 0x3f80) << "ties to even";
  EXPECT_NE(error_of("cast", {f32({1}, {1})}, {{"dtype", std::string("F8")}}).find("OP002"), std::string::npos);
}

TEST(NumberOps, BitsBecomeElementsOfAnotherType) {
  auto bitcast = [](const Tensor& x, const char* dtype) { return run("bitcast", {x}, {{"dtype", std::string(dtype)}}); };
  const Tensor x = f32({2}, {1, -2});
  EXPECT_EQ(bitcast(x, "U32"), Tensor({2}, std::vector<std::uint32_t>{0x3f800000, 0xc0000000}));
  const Tensor halves = bitcast(x, "U16");
  EXPECT_EQ(halves, Tensor({2, 2}, std::vector<std::uint16_t>{0, 0x3f80, 0, 0xc000}));
  EXPECT_EQ(bitcast(halves, "F32"), x);
  EXPECT_NE(error_of("bitcast", {halves}, {{"dtype", std::string("F64")}}).find("OP003"), std::string::npos);
  EXPECT_NE(error_of("bitcast", {x}, {{"dtype", std::string("BOOL")}}).find("OP004"), std::string::npos);
}

TEST(NumberOps, BothRemainders) {
  Ints a{7, -7, 7, -7, 5, std::numeric_limits<std::int64_t>::min()}, b{3, 3, -3, -3, 0, -1};
  EXPECT_EQ(elements<std::int64_t>(run("modulo", {i64({6}, a), i64({6}, b)})), (Ints{1, 2, -2, -1, 0, 0}));
  EXPECT_EQ(elements<std::int64_t>(run("remainder", {i64({6}, a), i64({6}, b)})), (Ints{1, -1, 1, -1, 0, 0}));
  expect_near(run("modulo", {f32({2}, {-5.5f, 5.5f}), f32({2}, {2, -2})}), {2}, {0.5f, -0.5f});
  expect_near(run("remainder", {f32({2}, {-5.5f, 5.5f}), f32({2}, {2, -2})}), {2}, {-1.5f, 1.5f});
}

TEST(NumberOps, Bits) {
  auto u8 = [](std::vector<std::uint8_t> v) { return list(std::move(v)); };
  EXPECT_EQ(elements<std::uint8_t>(run("shift_left", {u8({1, 255, 3}), u8({7, 1, 8})})), (std::vector<std::uint8_t>{128, 254, 0}));
  EXPECT_EQ(elements<std::uint8_t>(run("shift_right", {u8({128, 255}), u8({7, 9})})), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(elements<std::uint8_t>(run("bitwise_not", {u8({0, 170})})), (std::vector<std::uint8_t>{255, 85}));
  EXPECT_EQ(elements<std::uint8_t>(run("bitwise_xor", {u8({12}), u8({10})})), (std::vector<std::uint8_t>{6}));
  EXPECT_EQ(elements<std::int64_t>(run("shift_right", {i64({1}, {-8}), i64({1}, {1})})), (Ints{-4}));
  EXPECT_EQ(error_of("bitwise_and", {f32({1}, {1}), f32({1}, {1})}), "OP004: integers are needed, not F32");
}

TEST(NumberOps, ReductionsOfWholeNumbersAreExact) {
  Tensor x = i64({2, 2}, {9007199254740993, 1, 3, 4});
  EXPECT_EQ(elements<std::int64_t>(run("reduce_prod", {x}, {{"dims", Ints{1}}})), (Ints{9007199254740993, 12}));
  EXPECT_EQ(elements<std::int64_t>(run("reduce_min", {x}, {{"dims", Ints{0}}, {"keep_dims", false}})), (Ints{3, 1}));
  EXPECT_TRUE(std::isnan(run("reduce_min", {f32({2}, {kNumberOpsNan, 1})}).as<float>()[0]));
}

}  // namespace
}  // namespace buda::ops
