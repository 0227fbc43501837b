// SPDX-License-Identifier: Apache-2.0
// Quantising and back, determinants, and Fourier transforms: by hand, or numpy.fft.
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

#include <limits>

namespace buda::ops {
namespace {

Tensor u8(Shape shape, std::vector<std::uint8_t> v) { return Tensor(std::move(shape), std::move(v)); }
Tensor i8(Shape shape, std::vector<std::int8_t> v) { return Tensor(std::move(shape), std::move(v)); }

TEST(Quantization, RoundsToEvenAndSaturates) {
  Tensor x = f32({8}, {0, 1, 3, 5, -1, 1000, -1000, std::nanf("")});
  EXPECT_EQ(elements<std::uint8_t>(run("quantize", {x, f32({}, {2}), u8({}, {128})})),
            (std::vector<std::uint8_t>{128, 128, 130, 130, 128, 255, 0, 0}));
  EXPECT_EQ(elements<std::int8_t>(run("quantize", {x, f32({1}, {2}), i8({1}, {-3})})),
            (std::vector<std::int8_t>{-3, -3, -1, -1, -3, 127, -128, 0}));
}

TEST(Quantization, RoundsHalvesAwayFromZeroOnRequest) {
  Tensor x = f32({4}, {1, 3, -1, -3});
  EXPECT_EQ(elements<std::int8_t>(run("quantize", {x, f32({}, {2}), i8({}, {0})}, {{"ties", std::string("away")}})),
            (std::vector<std::int8_t>{1, 2, -1, -2}));
}

// Factors 1, 1/2 and 1/4: a product is rounded to the nearest, halves up, and then shifted, halves away from zero. So 5/4 becomes 2.
TEST(Quantization, RequantizesInIntegers) {
  constexpr std::int32_t kHalf = 1 << 30;
  auto scaled = [&](std::vector<std::int32_t> x, std::int32_t shift, std::int8_t zero) {
    auto size = static_cast<std::int64_t>(x.size());
    return elements<std::int8_t>(run("requantize", {i32({size}, std::move(x)), i32({}, {kHalf}), i32({}, {shift}), i8({}, {zero})}));
  };
  EXPECT_EQ(scaled({7, -7, 200, -200}, 1, 0), (std::vector<std::int8_t>{7, -7, 127, -128}));
  EXPECT_EQ(scaled({3, -3, 4}, 0, 10), (std::vector<std::int8_t>{12, 9, 12}));
  EXPECT_EQ(scaled({6, -6, 5, 4}, -1, 0), (std::vector<std::int8_t>{2, -2, 2, 1}));
  // Sums of 64 bits are rounded once, halves up.
  Tensor wide({4}, std::vector<std::int64_t>{3, -3, 5, std::int64_t{1} << 20});
  EXPECT_EQ(elements<std::int32_t>(run("requantize", {wide, i32({}, {kHalf}), i32({}, {0}), i32({}, {1})})),
            (std::vector<std::int32_t>{3, 0, 4, (1 << 19) + 1}));
  EXPECT_EQ(
      elements<std::int32_t>(run("requantize", {i32({2, 2}, {8, 8, 8, 8}), i32({2}, {kHalf, kHalf}), i32({2}, {1, -1}), i32({}, {0})})),
      (std::vector<std::int32_t>{8, 2, 8, 2}));
  EXPECT_EQ(error_of("requantize", {f32({1}, {1}), i32({}, {1}), i32({}, {1}), i8({}, {0})}), "OP004: x is F32; I32 or I64 is needed");
}

TEST(Quantization, AlongAnAxis) {
  Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6}), scale = f32({3}, {1, 0.5f, 2}), zero = u8({3}, {0, 10, 100});
  Tensor q = run("quantize", {x, scale, zero});
  EXPECT_EQ(elements<std::uint8_t>(q), (std::vector<std::uint8_t>{1, 14, 102, 4, 20, 103}));
  expect_near(run("dequantize", {q, scale, zero}), {2, 3}, {1, 2, 4, 4, 5, 6});
  expect_near(run("dequantize", {i32({2, 1}, {7, -7}), f32({2}, {1, 3}), i32({2}, {0, 1})}, {{"dim", std::int64_t{0}}}), {2, 1}, {7, -24});
}

TEST(Quantization, Refusals) {
  Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(error_of("quantize", {x, f32({2}, {1, 1}), u8({2}, {0, 0})}), "OP003: there are 2 scales for 3 slices along axis 1 of [2, 3]");
  EXPECT_EQ(error_of("quantize", {x, f32({2}, {1, 1}), u8({1}, {0})}),
            "OP003: the scale is [2] and the zero point [1]; their shapes have to be equal");
  EXPECT_EQ(error_of("dequantize", {u8({1}, {0}), f32({1}, {1}), i8({1}, {0})}),
            "OP004: x is U8 and the zero point I8; one integer type of at most 32 bits is needed");
}

TEST(Quantization, RoundsToEightBitFloats) {
  Tensor x = f32({6}, {1.0625f, 1.1875f, -300, 1e6f, 0.0009765625f, std::numeric_limits<float>::infinity()});
  auto rounded = [&](const char* format, bool saturate) {
    return elements<float>(run("round_float8", {x}, {{"format", std::string(format)}, {"saturate", saturate}}));
  };
  // Ties go to the even mantissa; the smallest steps are 2^-9 and 2^-16.
  EXPECT_EQ(rounded("E4M3FN", true), (std::vector<float>{1, 1.25f, -288, 448, 0, 448}));
  EXPECT_EQ(rounded("E5M2", true), (std::vector<float>{1, 1.25f, -320, 57344, 0.0009765625f, 57344}));
  auto open = rounded("E5M2", false);
  EXPECT_TRUE(std::isinf(open[3]) && std::isinf(open[5]));
  auto fnuz = rounded("E4M3FNUZ", true);
  EXPECT_EQ(fnuz[2], -240);
  EXPECT_TRUE(std::isnan(fnuz[5]));
}

TEST(LinearAlgebra, Determinants) {
  expect_near(run("determinant", {f32({2, 3, 3}, {0, 2, 1, 1, 0, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})}), {2}, {13, 0}, 1e-5);
  expect_near(run("determinant", {f32({0, 0}, {})}), {}, {1});
  EXPECT_EQ(error_of("determinant", {f32({2}, {1, 2})}), "OP003: x is [2]; its last two axes must make square matrices");
}

TEST(Spectral, AsNumpy) {
  // numpy.fft.rfft([1, 2, 4, -1, 3, 0])
  expect_near(run("dft", {f32({6, 1}, {1, 2, 4, -1, 3, 0})}, {{"dim", std::int64_t{0}}, {"onesided", true}}), {4, 2},
              {9, 0, -0.5, -2.5980762, -4.5, -0.8660254, 7, 0});
  // numpy.fft.ifft([1j, 2, 3 - 1j], 4), a line with zeros at its end
  expect_near(run("dft", {f32({3, 2}, {0, 1, 2, 0, 3, -1})}, {{"dim", std::int64_t{0}}, {"length", std::int64_t{4}}, {"inverse", true}}),
              {4, 2}, {1.25, 0, -0.75, 1, 0.25, 0, -0.75, 0});
}

// A transform and its inverse, of lengths with all kinds of factors, along an axis in the middle.
TEST(Spectral, ThereAndBack) {
  for (std::int64_t n : {1, 2, 7, 12, 30, 64, 97}) {
    Tensor x = counting({2, n, 3, 2});
    AttrMap attrs{{"dim", std::int64_t{1}}};
    Tensor y = run("dft", {x}, attrs);
    attrs["inverse"] = true;
    Tensor back = run("dft", {y}, attrs);
    ASSERT_EQ(back.shape(), x.shape());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(back.as<float>()[i], x.as<float>()[i], 1e-3) << n << ' ' << i;
  }
}

TEST(Spectral, Refusals) {
  EXPECT_EQ(error_of("dft", {f32({2, 3}, {1, 2, 3, 4, 5, 6})}),
            "OP003: x is [2, 3]; its last axis must hold one number (real) or two (real and imaginary part)");
  EXPECT_EQ(error_of("dft", {f32({2, 1}, {1, 2})}),
            "OP003: the last axis holds the parts of a number; there is nothing to transform along it");
  EXPECT_EQ(error_of("dft", {f32({2, 2}, {1, 2, 3, 4})}, {{"dim", std::int64_t{0}}, {"onesided", true}}),
            "OP003: one side is enough for transforms of real numbers alone, and not for inverse ones");
}

}  // namespace
}  // namespace buda::ops
