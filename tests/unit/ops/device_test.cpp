// SPDX-License-Identifier: Apache-2.0
// Device ops on whole tiles, manipulations on edges, and the model's border.
#include "running.hpp"

#include <buda/ops/device/device_layout.hpp>
#include <buda/tensor/tensor.hpp>

#include <functional>

namespace buda::ops {
namespace {

using graph::Tm;
using graph::TmDim;

// f(w, z, r, c) for every element.
Tensor made(const Shape& s, const std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& f) {
  std::vector<float> v;
  for (std::int64_t w = 0; w < s[0]; ++w)
    for (std::int64_t z = 0; z < s[1]; ++z)
      for (std::int64_t r = 0; r < s[2]; ++r)
        for (std::int64_t c = 0; c < s[3]; ++c) v.push_back(static_cast<float>(f(w, z, r, c)));
  return Tensor(s, std::move(v));
}

double at(const Tensor& t, std::int64_t w, std::int64_t z, std::int64_t r, std::int64_t c) {
  const Shape& s = t.shape();
  return double{t.as<float>()[static_cast<std::size_t>(((w * s[1] + z) * s[2] + r) * s[3] + c)]};
}

void expect_elements(const Tensor& t, const Shape& shape,
                     const std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& f) {
  ASSERT_EQ(t.shape(), shape);
  EXPECT_EQ(t, made(shape, f));
}

// Each place has a number of its own that a float holds exactly.
double number(std::int64_t w, std::int64_t z, std::int64_t r, std::int64_t c) {
  return static_cast<double>(((w * 10 + z) * 100 + r) * 100 + c);
}

TEST(ApplyTms, EachAsTheTableSays) {
  const Shape s{2, 4, 64, 96};
  Tensor x = made(s, number);
  auto apply = [&](Tm tm) {
    auto out = apply_tms(x, {tm});
    EXPECT_TRUE(out.ok());
    return out ? *out : Tensor();
  };
  expect_elements(apply(Tm::broadcast(TmDim::r, 2)), {2, 4, 128, 96},
                  [](auto w, auto z, auto r, auto c) { return number(w, z, r % 64, c); });
  expect_elements(apply(Tm::broadcast(TmDim::c, 3)), {2, 4, 64, 288},
                  [](auto w, auto z, auto r, auto c) { return number(w, z, r, c % 96); });
  expect_elements(apply(Tm::broadcast(TmDim::z, 2)), {2, 8, 64, 96}, [](auto w, auto z, auto r, auto c) { return number(w, z % 4, r, c); });
  expect_elements(apply(Tm::transpose()), {2, 4, 96, 64}, [](auto w, auto z, auto r, auto c) { return number(w, z, c, r); });
  expect_elements(apply(Tm::hslice(3)), {2, 12, 64, 32},
                  [](auto w, auto z, auto r, auto c) { return number(w, z / 3, r, z % 3 * 32 + c); });
  expect_elements(apply(Tm::vslice(2)), {2, 8, 32, 96}, [](auto w, auto z, auto r, auto c) { return number(w, z / 2, z % 2 * 32 + r, c); });
  expect_elements(apply(Tm::hstack(2)), {2, 2, 64, 192},
                  [](auto w, auto z, auto r, auto c) { return number(w, z * 2 + c / 96, r, c % 96); });
  expect_elements(apply(Tm::vstack(4)), {2, 1, 256, 96},
                  [](auto w, auto z, auto r, auto c) { return number(w, z * 4 + r / 64, r % 64, c); });
  expect_elements(apply(Tm::pad(1, 0, -2)), {2, 4, 96, 96},
                  [](auto w, auto z, auto r, auto c) { return r < 64 ? number(w, z, r, c) : -2; });
  expect_elements(apply(Tm::unpad(1, 2)), {2, 4, 32, 32}, number);
}

TEST(ApplyTms, ListsGoFromLeftToRight) {
  Tensor x = made({1, 2, 64, 32}, number);
  auto there_and_back = apply_tms(x, {Tm::vslice(2), Tm::transpose(), Tm::transpose(), Tm::vstack(2)});
  ASSERT_TRUE(there_and_back);
  EXPECT_EQ(*there_and_back, x);
  auto bad = apply_tms(x, {Tm::hstack(2), Tm::hslice(3)});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.failure().diagnostics()[0].message,
            "'hslice: 3' cannot be applied to a value of shape [1, 1, 64, 64]: its 64 columns do not divide into 3 parts of whole tiles");
}

TEST(DeviceLayout, ModelShapesInFourAxes) {
  EXPECT_EQ(*four_axes({}), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(*four_axes({10}), (Shape{1, 1, 1, 10}));
  EXPECT_EQ(*four_axes({2, 3, 4, 5}), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(*four_axes({7, 2, 3, 4, 5, 6}), (Shape{42, 4, 5, 6}));
  EXPECT_EQ(*tiled_shape({7, 33}), (Shape{1, 1, 32, 64}));
  EXPECT_EQ(*tiled_shape({3, 7, 32, 64}), (Shape{3, 7, 32, 64}));
  EXPECT_FALSE(four_axes({1LL << 40, 1LL << 40, 1, 1, 1}));
  EXPECT_FALSE(tiled_shape({4, 0}));
}

TEST(DeviceLayout, PadsAndCuts) {
  Tensor x = made({1, 2, 3, 40}, number);
  auto model = x.reshaped({2, 3, 40});
  ASSERT_TRUE(model);
  auto device = to_device(*model, {1, 2, 32, 64});
  ASSERT_TRUE(device);
  expect_elements(*device, {1, 2, 32, 64}, [](auto w, auto z, auto r, auto c) { return r < 3 && c < 40 ? number(w, z, r, c) : 0; });
  auto back = from_device(*device, {2, 3, 40});
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, *model);
  auto aligned = to_device(counting({32, 32}), {1, 1, 32, 32});
  ASSERT_TRUE(aligned);
  EXPECT_FALSE(to_device(*model, {1, 3, 32, 64}));
  EXPECT_FALSE(from_device(*device, {2, 33, 40}));
  EXPECT_FALSE(from_device(*device, {2, -1, 40}));
}

TEST(DeviceOps, MatmulWithBiasAndRelu) {
  Tensor a = made({2, 1, 32, 64}, [](auto w, auto, auto r, auto c) { return r == c ? w + 1 : 0; });
  Tensor b = made({1, 1, 64, 32}, [](auto, auto, auto r, auto c) { return r * 0.5 - c; });
  // Only row 0 of the bias' tile counts.
  Tensor bias = made({1, 1, 32, 32}, [](auto, auto, auto r, auto c) { return r == 0 ? c * 0.25 : 1000; });
  expect_elements(run_device("matmul", {a, b, bias}, {{"bias", true}}), {2, 1, 32, 32},
                  [](auto w, auto, auto r, auto c) { return (w + 1) * (r * 0.5 - c) + c * 0.25; });
  expect_elements(run_device("matmul", {a, b}, {{"relu_en", true}, {"relu_threshold", 2.0}}), {2, 1, 32, 32},
                  [](auto w, auto, auto r, auto c) {
                    double v = (w + 1) * (r * 0.5 - c);
                    return v > 2 ? v : 0;
                  });
  expect_elements(run_device("matmul", {a, b}, {{"relu_en", true}, {"relu_mode", std::string("max")}, {"relu_threshold", 3.0}}),
                  {2, 1, 32, 32}, [](auto w, auto, auto r, auto c) { return std::min(std::max((w + 1) * (r * 0.5 - c), 0.0), 3.0); });
}

TEST(DeviceOps, BiasOfSeveralTileRows) {
  Tensor a = made({1, 1, 64, 32}, [](auto, auto, auto, auto) { return 0; }), b = made({1, 1, 32, 32}, number);
  Tensor bias = made({1, 1, 64, 32}, number);
  expect_elements(run_device("matmul", {a, b, bias}, {{"bias", true}}), {1, 1, 64, 32},
                  [](auto, auto, auto r, auto c) { return number(0, 0, r / 32 * 32, c); });
}

TEST(DeviceOps, MatmulAccumulatesAlongZ) {
  Tensor a = made({1, 4, 32, 32}, [](auto, auto z, auto r, auto c) { return r == c ? z + 1 : 0; });
  Tensor b = made({1, 4, 32, 32}, [](auto, auto z, auto, auto c) { return z * 10 + c; });
  // Slices 0,1 and 2,3: 1*c + 2*(10+c), 3*(20+c) + 4*(30+c).
  expect_elements(run_device("matmul", {a, b}, {{"accumulate", true}, {"z", std::int64_t{2}}}), {1, 2, 32, 32},
                  [](auto, auto z, auto, auto c) { return z == 0 ? 20 + 3 * c : 180 + 7 * c; });
}

TEST(DeviceOps, ReduceLeavesOneLineAmongZeros) {
  Tensor x = made({1, 2, 64, 32}, [](auto, auto z, auto r, auto c) {
    return -1.0 - static_cast<double>(z) - static_cast<double>(std::abs(r - 40)) - c * 0.5;
  });
  expect_elements(run_device("reduce", {x}, {{"dim", std::string("r")}}), {1, 2, 32, 32},
                  [](auto, auto z, auto r, auto c) { return r == 0 ? -1.0 - static_cast<double>(z) - c * 0.5 : 0; });
  expect_elements(run_device("reduce", {x}, {{"dim", std::string("c")}}), {1, 2, 64, 32}, [](auto, auto z, auto r, auto c) {
    return c == 0 ? -1.0 - static_cast<double>(z) - static_cast<double>(std::abs(r - 40)) : 0;
  });
  Tensor y = made({1, 4, 32, 32}, [](auto, auto z, auto r, auto c) { return z == 2 ? r : c; });
  expect_elements(run_device("reduce", {y}, {{"dim", std::string("z")}}), {1, 1, 32, 32},
                  [](auto, auto, auto r, auto c) { return std::max(r, c); });
  expect_elements(run_device("reduce", {y}, {{"dim", std::string("z")}, {"z", std::int64_t{2}}}), {1, 2, 32, 32},
                  [](auto, auto z, auto r, auto c) { return z == 0 ? c : std::max(r, c); });
}

TEST(DeviceOps, OneValueForTheWholeBatch) {
  Tensor x = made({3, 1, 32, 32}, number), scale = made({1, 1, 32, 32}, [](auto, auto, auto, auto c) { return c; });
  expect_elements(run_device("multiply", {x, scale}), {3, 1, 32, 32},
                  [](auto w, auto z, auto r, auto c) { return number(w, z, r, c) * static_cast<double>(c); });
}

TEST(DeviceOps, VectorUnit) {
  auto first = [](const std::string& op, double x, const AttrMap& attrs = {}) {
    return at(run_device(op, {made({1, 1, 32, 32}, [x](auto, auto, auto, auto) { return x; })}, attrs), 0, 0, 5, 7);
  };
  EXPECT_NEAR(first("gelu_derivative", -1), -0.0833154706, 1e-7);
  EXPECT_NEAR(first("gelu_derivative", 0.5), 0.867495125, 1e-6);
  EXPECT_NEAR(first("gelu", 0.5, {{"approximate_mode", true}}), 0.345731231, 1e-6);
  EXPECT_NEAR(first("lrelu", -2, {{"slope", 0.25}}), -0.5, 0);
  EXPECT_NEAR(first("power", -2, {{"exp", std::int64_t{3}}}), -8, 0);
  EXPECT_NEAR(first("power", 2, {{"exp", std::int64_t{-1}}}), 0.5, 0);
  EXPECT_NEAR(first("reciprocal", 4), 0.25, 0);
  EXPECT_NEAR(first("datacopy", 4), 4, 0);
}

TEST(DeviceOps, Refusals) {
  Tensor tile = made({1, 1, 32, 32}, number), wide = made({1, 1, 32, 64}, number);
  auto error = [](const std::string& op, const std::vector<Tensor>& in, const AttrMap& attrs = {}) {
    return error_of(op, in, attrs, Level::device);
  };
  EXPECT_EQ(
      error("add", {wide, tile}),
      "OP003: input 1 arrives as [1, 1, 32, 32] where [1, 1, 32, 64] is needed; on a device nothing broadcasts by itself, but edges can");
  EXPECT_EQ(error("add", {f32({1}, {1}), f32({1}, {1})}), "OP003: a device op takes values of four axes, not [1]");
  EXPECT_EQ(error("matmul", {tile, tile}, {{"bias", true}}), "OP003: 'bias' is set, but there is no third input");
  EXPECT_EQ(error("matmul", {tile, tile, tile}), "OP003: there is a third input, but 'bias' is not set");
  EXPECT_EQ(
      error("matmul", {wide, tile}),
      "OP003: the operands arrive as [1, 1, 32, 64] and [1, 1, 32, 32]; (w, z, r, k) and (w, z, k, c) are needed, with the same z and k, "
      "and w may be 1");
  EXPECT_EQ(error("matmul", {tile, tile}, {{"accumulate", true}, {"z", std::int64_t{2}}}),
            "OP003: z = 1 slices cannot be accumulated in groups of 2");
  EXPECT_EQ(error("reduce", {tile}, {{"dim", std::string("w")}}), "OP002: attribute 'dim' of 'reduce' cannot be 'w'; allowed: r, c, z");
  EXPECT_EQ(error("reduce", {tile}, {{"dim", std::string("r")}, {"type", std::string("sum")}}),
            "OP002: attribute 'type' of 'reduce' cannot be 'sum'; allowed: max");
  EXPECT_EQ(error("softmax", {tile}), "OP005: there is no operation 'softmax' at device level");
}

}  // namespace
}  // namespace buda::ops
