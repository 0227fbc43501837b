// SPDX-License-Identifier: Apache-2.0
// Resizing and sampling: by hand, or with numbers from PyTorch 1.13 (interpolate, grid_sample, torchvision's roi_align and roi_pool).
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

namespace buda::ops {
namespace {

const Tensor kMap = f32({1, 1, 2, 3}, {1, 2, 4, 3, -1, 0});
using Reals = std::vector<double>;

AttrMap resizing(Ints shape, std::string method, std::string coordinates) {
  return {{"shape", std::move(shape)}, {"method", std::move(method)}, {"coordinates", std::move(coordinates)}};
}

TEST(Resize, LinearAndCubicAsPyTorch) {
  expect_near(run("resize", {kMap}, resizing({1, 1, 3, 5}, "linear", "align_corners")), {1, 1, 3, 5},
              {1, 1.5, 2, 3, 4, 2, 1.25, 0.5, 1.25, 2, 3, 1, -1, -0.5, 0});
  AttrMap attrs = resizing({1, 1, 4, 4}, "linear", "half_pixel");
  attrs["scales"] = Reals{1, 1, 2, 1.5};  // not the ratio of the sizes
  expect_near(
      run("resize", {kMap}, attrs), {1, 1, 4, 4},
      {1, 1.5, 2.333333, 3.666667, 1.5, 1.375, 1.541667, 2.708333, 2.5, 1.125, -0.0416666, 0.7916667, 3, 1, -0.8333333, -0.1666666});
  expect_near(run("resize", {kMap}, resizing({1, 1, 3, 5}, "cubic", "pytorch_half_pixel")), {1, 1, 3, 5},
              {0.6887225, 1.232543, 2.260417, 3.640793, 4.547557, 2.144, 1.31, 0.5000001, 1.31, 2.144, 3.599278, 1.387457, -1.260416,
               -1.02079, -0.2595548},
              1e-5);
}

TEST(Resize, NearestRounds) {
  Tensor x = counting({4});
  auto with = [&](std::string nearest, std::string coordinates) {
    return run("resize", {x}, {{"shape", Ints{6}}, {"nearest", std::move(nearest)}, {"coordinates", std::move(coordinates)}});
  };
  // Coordinates 0, 2/3, 4/3, 2, 8/3, 10/3; half a pixel: -1/6, 1/2, 7/6, 11/6, 5/2, 19/6.
  expect_near(with("floor", "asymmetric"), {6}, {0, 0, 1, 2, 2, 3});
  expect_near(with("ceil", "asymmetric"), {6}, {0, 1, 2, 2, 3, 3});
  expect_near(with("round_prefer_floor", "half_pixel"), {6}, {0, 0, 1, 2, 2, 3});
  expect_near(with("round_prefer_ceil", "half_pixel"), {6}, {0, 1, 1, 2, 3, 3});
  // Whatever is copied: integers beyond 2^53, booleans.
  Tensor big = i64({2}, {(std::int64_t{1} << 60) + 1, -7});
  EXPECT_EQ(elements<std::int64_t>(run("resize", {big}, {{"shape", Ints{3}}, {"coordinates", std::string("asymmetric")}})),
            (Ints{(std::int64_t{1} << 60) + 1, -7, -7}));
}

// PyTorch excludes what lies outside, and has another cubic coefficient here.
TEST(Resize, AntialiasStretchesTheFilter) {
  Tensor x = f32({8}, {1, 4, 2, 8, 5, 7, 1, 3});
  auto shrunk = [&](std::string method) {
    return run(
        "resize", {x},
        {{"shape", Ints{3}}, {"method", std::move(method)}, {"antialias", true}, {"exclude_outside", true}, {"cubic_coefficient", -0.5}});
  };
  expect_near(shrunk("linear"), {3}, {2.9737f, 5.6429f, 3.3158f}, 1e-4);
  expect_near(shrunk("cubic"), {3}, {2.6671f, 5.9318f, 3.2658f}, 1e-4);
  // An axis that grows is as without.
  AttrMap grown{{"shape", Ints{12}}, {"method", std::string("linear")}};
  Tensor plain = run("resize", {x}, grown);
  grown["antialias"] = true;
  EXPECT_EQ(elements<float>(run("resize", {x}, grown)), elements<float>(plain));
}

TEST(Resize, CropsAndExtrapolates) {
  AttrMap attrs = resizing({5}, "linear", "tf_crop_and_resize");
  attrs["roi"] = Reals{0.5, 1.5};
  attrs["extrapolation"] = 9.0;
  // Coordinates 1.5, 2.25, 3, 3.75, 4.5 of 0 to 3.
  expect_near(run("resize", {counting({4})}, attrs), {5}, {1.5, 2.25, 3, 9, 9});
}

TEST(Resize, ExcludesWhatLiesOutside) {
  AttrMap attrs = resizing({2}, "cubic", "asymmetric");
  attrs["cubic_coefficient"] = -0.5;
  attrs["exclude_outside"] = true;
  attrs["scales"] = Reals{2};
  // At 0.5 the weights are -1/16, 9/16, 9/16, -1/16; the first lies outside.
  expect_near(run("resize", {f32({3}, {1, 2, 4})}, attrs), {2}, {1, (9.0 + 18 - 4) / 17});
}

TEST(Resize, OddCases) {
  EXPECT_EQ(run("resize", {f32({0}, {})}, {{"shape", Ints{0}}}).shape(), (Shape{0}));
  AttrMap tiny{{"shape", Ints{3}}, {"scales", Reals{1e-300}}, {"coordinates", std::string("asymmetric")}};
  expect_near(run("resize", {counting({2})}, tiny), {3}, {0, 1, 1});
  EXPECT_EQ(error_of("resize", {f32({0}, {})}, {{"shape", Ints{2}}}), "OP003: axis 0 of [0] has no elements to take 2 from");
  EXPECT_EQ(error_of("resize", {kMap}, {{"shape", Ints{2}}}), "OP003: 'shape' [2] is not a legal shape for a value of 4 axes");
  EXPECT_EQ(error_of("resize", {counting({2})}, {{"shape", Ints{2}}, {"scales", Reals{-1}}}),
            "OP003: the scale of axis 0 is -1; it must be positive");
}

TEST(GridSample, AsPyTorch) {
  Tensor grid = f32({1, 2, 2, 2}, {-1, -1, 0.3f, -0.2f, 1.4f, 0.9f, -1.7f, 2.6f});
  struct Case {
    const char *mode, *padding;
    std::vector<double> edges, corners;  // align_corners false, true
  };
  const Case cases[] = {{"bilinear", "zeros", {0.25, 1.865, 0, 0}, {1, 1.28, 0.12, 0.18}},
                        {"bilinear", "border", {1, 1.865, 0, 3}, {1, 1.28, 0.2, 3}},
                        {"bilinear", "reflection", {1, 1.865, -0.1, 1.55}, {1, 1.28, -0.22, 1.4}},
                        {"nearest", "zeros", {1, 2, 0, 0}, {1, 2, 0, 0}},
                        {"nearest", "border", {1, 2, 0, 3}, {1, 2, 0, 3}},
                        {"nearest", "reflection", {1, 2, 0, 2}, {1, 2, 0, 2}},
                        {"bicubic", "zeros", {0.06542969, 2.448256, 0.02624401, 0}, {1, 1.5227, 0.2168835, 0.1996381}},
                        {"bicubic", "border", {0.6748047, 1.886476, -0.432, 3}, {1, 1.182114, 0.2694933, 3.242671}},
                        {"bicubic", "reflection", {0.2617188, 1.886476, -0.8203183, 1.397821}, {1, 1.39787, -0.5384187, 1.322367}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.mode) + ' ' + c.padding);
    AttrMap attrs{{"mode", std::string(c.mode)}, {"padding", std::string(c.padding)}};
    expect_near(run("grid_sample", {kMap, grid}, attrs), {1, 1, 2, 2}, c.edges, 1e-5);
    attrs["align_corners"] = true;
    expect_near(run("grid_sample", {kMap, grid}, attrs), {1, 1, 2, 2}, c.corners, 1e-5);
  }
}

TEST(GridSample, PlacesThatAreNone) {
  float nan = std::nanf(""), huge = 3e38f;
  Tensor grid = f32({1, 1, 2, 2}, {nan, 0, huge, -huge});
  for (const char* mode : {"nearest", "bilinear", "bicubic"}) {
    auto y = elements<float>(run("grid_sample", {kMap, grid}, {{"mode", std::string(mode)}}));
    EXPECT_EQ(y, (std::vector<float>{0, 0})) << mode;
  }
  EXPECT_EQ(error_of("grid_sample", {kMap, f32({1, 1, 2}, {0, 0})}),
            "OP003: x is [1, 1, 2, 3] and the grid [1, 1, 2]; [n, c, h, w] and [n, rows, columns, 2] are needed, or the same with one or "
            "three axes");
}

TEST(GridSample, Volumes) {
  Tensor volume = counting({1, 1, 2, 2, 2}), grid = f32({1, 1, 1, 2, 3}, {0, 0, 0, 0.5f, -1, 2});
  expect_near(run("grid_sample", {volume, grid}, {{"align_corners", true}, {"padding", std::string("border")}}), {1, 1, 1, 1, 2},
              {3.5f, 4.75f});
  expect_near(run("grid_sample", {volume, grid}), {1, 1, 1, 1, 2}, {3.5f, 0});
}

Tensor region_map() {
  std::vector<float> v;
  constexpr float kFactors[] = {1, -1, 2, 1, 0.5f};
  for (std::size_t i = 0; i < 20; ++i) v.push_back(static_cast<float>(i) * kFactors[i % 5]);
  return f32({1, 1, 4, 5}, v);
}

TEST(Regions, AlignedAndPooledAsTorchvision) {
  Tensor regions = f32({2, 4}, {0.5f, 0.25f, 3.5f, 2.75f, -1, -1, 6, 5}), batch = i64({2}, {0, 0});
  expect_near(run("roi_align", {region_map(), regions, batch}, {{"pooled", Ints{2, 2}}}), {2, 1, 2, 2},
              {-0.7265625, 6.1875, -1.898438, 15.5625, 0.828125, 3.273438, 4.65625, 11.75});
  AttrMap old{{"pooled", Ints{2, 2}},
              {"spatial_scale", 0.5},
              {"sampling_ratio", std::int64_t{2}},
              {"coordinates", std::string("output_half_pixel")}};
  expect_near(run("roi_align", {region_map(), regions, batch}, old), {2, 1, 2, 2},
              {-1.171875, 1.148438, -1.953125, 1.539062, -0.1132812, 4.890625, 1.234375, 13.875});
  Tensor with_sample = f32({2, 5}, {0, 0.5f, 0.25f, 3.5f, 2.75f, 0, -1, -1, 6, 5});
  expect_near(run("max_roi_pool", {region_map(), with_sample}, {{"pooled", Ints{2, 2}}}), {2, 1, 2, 2}, {14, 8, 34, 18, 24, 13, 34, 18});
}

TEST(Regions, ImpossibleOnes) {
  AttrMap attrs{{"pooled", Ints{1, 1}}};
  EXPECT_EQ(error_of("roi_align", {region_map(), f32({1, 4}, {0, 0, 1, 1}), i64({1}, {1})}, attrs),
            "OP003: region 0 is one of sample 1; there are 1");
  EXPECT_EQ(error_of("roi_align", {region_map(), f32({1, 4}, {0, 0, 1e30f, 1}), i64({1}, {0})}, attrs),
            "OP003: region 0 needs more than 1048576 samples for a bin");
  EXPECT_EQ(error_of("max_roi_pool", {region_map(), f32({1, 5}, {-1, 0, 0, 1, 1})}, attrs),
            "OP003: region 0 is one of sample -1; there are 1");
  expect_near(run("max_roi_pool", {region_map(), f32({1, 5}, {0, 1e30f, 0, 1e30f, 1})}, attrs), {1, 1, 1, 1}, {0});
}

}  // namespace
}  // namespace buda::ops
