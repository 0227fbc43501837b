// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools, resizes and norms of channels, on values [samples, channels, sizes…].
#include "random_ops.hpp"

#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kRandomSpatialOpsMostElements = 12000;

class SpatialOps {
 public:
  explicit SpatialOps(RandomPool& pool) : pool_(pool) {}

  void step() {
    RandomValue x = pool_.recent();
    if (x.rank() < 3) return;
    axes_ = x.rank() - 2;
    if (*x.shape().volume() > kRandomSpatialOpsMostElements) return;
    switch (pool_.pick(6)) {
      case 0:
      case 1:
        return convolution(x);
      case 2:
        return transposed(x);
      case 3:
        return window(x);
      case 4:
        return resized(x);
      default:
        return norm(x);
    }
  }

 private:
  // The windows of an op along the spatial axes, so that at least one fits.
  struct Windows {
    Dims kernel, stride, dilation, padding;
    bool padded = false;
  };

  Windows windows(const RandomValue& x, bool dilated) {
    Windows w;
    Dims before, after;
    for (std::size_t i = 0; i < axes_; ++i) {
      std::int64_t kernel = pool_.between(1, 3);
      std::int64_t dilation = dilated && pool_.chance(20) ? 2 : 1, reach = (kernel - 1) * dilation + 1;
      // Less than the kernel, so that no window lies in the border alone.
      std::int64_t first = pool_.chance(50) ? pool_.between(0, kernel - 1) : 0, last = pool_.chance(50) ? pool_.between(0, kernel - 1) : 0;
      if (x.shape()[2 + i] + first + last < reach) kernel = dilation = 1, first = last = 0;
      w.kernel.push_back(kernel);
      w.stride.push_back(pool_.between(1, 3));
      w.dilation.push_back(dilation);
      before.push_back(first);
      after.push_back(last);
      w.padded = w.padded || first + last > 0;
    }
    w.padding = before;
    w.padding.insert(w.padding.end(), after.begin(), after.end());
    return w;
  }

  static constexpr const char* kAxesNames[] = {"", "1d", "2d", "3d"};
  std::string name(const std::string& before, const std::string& after = "") const { return before + kAxesNames[axes_] + after; }

  std::int64_t groups_of(std::int64_t channels) {
    if (pool_.chance(60)) return 1;
    return pool_.chance(50) || channels % 2 != 0 ? channels : 2;
  }

  void convolution(const RandomValue& x) {
    Windows w = windows(x, true);
    std::int64_t channels = x.shape()[1], groups = groups_of(channels);
    std::int64_t out = groups * pool_.between(1, groups > 4 ? 2 : 5);
    Shape weights{out, channels / groups};
    for (std::int64_t k : w.kernel) weights.push_back(k);
    std::vector<RandomValue> inputs = {x, pool_.known(scaled(weights, out))};
    if (pool_.chance(60)) inputs.push_back(pool_.known(pool_.numbers({out})));
    std::string op = name("conv");
    pool_.take(op.c_str(), inputs, {{"stride", w.stride}, {"dilation", w.dilation}, {"padding", w.padding}, {"groups", groups}});
  }

  void transposed(const RandomValue& x) {
    std::int64_t channels = x.shape()[1], groups = groups_of(channels), out = pool_.between(1, 3);
    Shape weights{channels, out};
    Dims stride;
    for (std::size_t i = 0; i < axes_; ++i) {
      weights.push_back(pool_.between(1, 3));
      stride.push_back(pool_.between(1, 2));
    }
    std::string op = name("conv", "_transpose");
    pool_.take(op.c_str(), {x, pool_.known(scaled(weights, channels / groups))}, {{"stride", stride}, {"groups", groups}});
  }

  // Weights whose sums stay of the size of the data.
  Tensor scaled(const Shape& shape, std::int64_t results) {
    double terms = static_cast<double>(*shape.volume()) / static_cast<double>(results), scale = 1 / std::sqrt(std::max(terms, 1.0));
    return pool_.numbers(shape, -scale, scale);
  }

  void window(const RandomValue& x) {
    Windows w = windows(x, false);
    bool max = pool_.chance(50);
    graph::AttrMap attrs = {{"kernel", w.kernel}, {"stride", w.stride}, {"padding", w.padding}, {"ceil_mode", pool_.chance(25)}};
    if (!max) attrs["count_include_pad"] = pool_.chance(50);
    std::string op = name(max ? "max_pool" : "avg_pool");
    pool_.take(op.c_str(), {x}, attrs);
  }

  void resized(const RandomValue& x) {
    Dims shape = x.shape().dims();
    std::int64_t volume = *x.shape().volume();
    for (std::size_t i = 2; i < shape.size(); ++i) {
      std::int64_t size = shape[i], times = pool_.between(1, 3);
      shape[i] = pool_.chance(70) ? size * times : std::max<std::int64_t>(1, size * 2 / 3);
      if (volume / size * shape[i] > kRandomSpatialOpsMostElements) shape[i] = size;
      volume = volume / size * shape[i];
    }
    graph::AttrMap attrs = {{"shape", shape}, {"method", std::string(pool_.chance(50) ? "nearest" : "linear")}};
    if (pool_.chance(50)) attrs["coordinates"] = std::string("asymmetric");
    pool_.take("resize", {x}, attrs);
  }

  void norm(const RandomValue& x) {
    std::int64_t channels = x.shape()[1];
    auto row = [&](double least, double most) { return pool_.known(pool_.numbers({channels}, least, most)); };
    // One after the other: the order of arguments is the compiler's.
    RandomValue weights = row(-1, 1), bias = row(-1, 1), mean = row(-1, 1), variance = row(0.5, 2);
    pool_.take("batchnorm", {x, weights, bias, mean, variance});
  }

  RandomPool& pool_;
  std::size_t axes_ = 0;
};

}  // namespace

void spatial_step(RandomPool& pool) { SpatialOps(pool).step(); }

}  // namespace buda::passes
