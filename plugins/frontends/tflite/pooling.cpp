// SPDX-License-Identifier: Apache-2.0
// Pools over the rows and columns of images.
#include "node_import.hpp"
#include "quantized.hpp"
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using frontend::Dims;

Result<frontend::WindowArguments> pool_window(NodeImport& n) {
  const auto& o = n.options<format::Pool2DOptions>();
  BUDA_ASSIGN(Shape x, n.shape(0));
  return window_of(n, x, {o.filter_height(), o.filter_width()}, {o.stride_h(), o.stride_w()}, {1, 1}, o.padding());
}

ops::AttrMap pool_attrs(const frontend::WindowArguments& window) {
  ops::AttrMap attrs = window.attrs();
  attrs["kernel"] = window.kernel;
  return attrs;
}

// The integers are in the order of the numbers that they stand for, so that the largest is the largest.
Result<void> import_max_pool(NodeImport& n) {
  BUDA_ASSIGN(auto window, pool_window(n));
  auto activation = n.options<format::Pool2DOptions>().activation();
  if (n.is_exact() && n.input_info(0).is_quantized()) {
    StoredRange range = stored_range(n.output_info(0), activation);
    Ref x = n.channels_first(n.input(0));
    Ref y = n.before(activation).op("max_pool2d", {x}, pool_attrs(window));
    if (activation != format::Activation::NONE) y = n.result().clip(y, range.least, range.most);
    n.output(n.channels_last(y));
    return success();
  }
  Ref x = n.channels_first(n.number(0));
  Ref y = n.before(activation).op("max_pool2d", {x}, pool_attrs(window));
  BUDA_ASSIGN(y, n.activated(y, activation));
  n.output_number(n.channels_last(y));
  return success();
}

// For each window along one axis: how many of its elements lie inside.
std::vector<std::int32_t> counts_inside(const frontend::WindowArguments& w, std::size_t axis, std::int64_t size, std::int64_t windows) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < windows; ++i) {
    std::int64_t start = i * w.stride[axis] - w.padding[axis];
    out.push_back(static_cast<std::int32_t>(std::min(start + w.kernel[axis], size) - std::max<std::int64_t>(start, 0)));
  }
  return out;
}

// The sum of each window divided by the number of its elements, halves away from zero. The sum is a convolution with ones.
Result<void> average_integers(NodeImport& n, const frontend::WindowArguments& window, format::Activation activation) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(Dims windows, frontend::window_counts(n, {shape[1], shape[2]}, window));
  constexpr std::int64_t kMaxPlaces = std::int64_t{1} << 26;
  if (windows[0] > kMaxPlaces || windows[1] > kMaxPlaces || windows[0] * windows[1] > kMaxPlaces)
    return n.refuse(cat("its result has more than ", kMaxPlaces, " places"));
  auto rows = counts_inside(window, 0, shape[1], windows[0]), columns = counts_inside(window, 1, shape[2], windows[1]);
  std::vector<std::int32_t> count, half;
  for (auto r : rows)
    for (auto c : columns) {
      count.push_back(std::max(r * c, 1));
      half.push_back(r * c / 2);
    }
  Shape places{windows[0], windows[1]};
  Shape kernel{shape[3], 1, window.kernel[0], window.kernel[1]};
  std::int64_t taps = kernel.volume().value_or(0);
  if (taps < 1 || taps > kMaxPlaces) return n.refuse(cat("its window ", list_text(window.kernel), " is too large"));
  Ref x = n.cast(n.channels_first(n.input(0)), DType::i32, "x");
  Ref ones = n.step("ones").constant(Tensor(kernel, std::vector<std::int32_t>(static_cast<std::size_t>(taps), 1)));
  ops::AttrMap attrs = window.attrs();
  if (shape[3] != 1) attrs["groups"] = shape[3];
  Ref sum = n.step("sum").op("conv2d", {x, ones}, std::move(attrs));
  Ref counts = n.step("count").constant(Tensor(places, std::move(count)));
  Ref halves = n.step("half").constant(Tensor(places, std::move(half)));
  Ref zero = n.step("zero").constant(Tensor::scalar<std::int32_t>(0));
  Ref positive = n.step("is_positive").op("greater", {sum, zero});
  Ref up = n.step("up").add(sum, halves);
  Ref down = n.step("down").subtract(sum, halves);
  Ref moved = n.step("moved").op("where", {positive, up, down});
  Ref mean = n.step("mean").divide(moved, counts);
  StoredRange range = stored_range(n.output_info(0), activation);
  Ref inside = n.step("inside").clip(mean, range.least, range.most);
  n.output(n.channels_last(n.result().op("cast", {inside}, {{"dtype", std::string(dtype_name(*n.output_info(0).dtype))}})));
  return success();
}

Result<void> import_average_pool(NodeImport& n) {
  BUDA_ASSIGN(auto window, pool_window(n));
  auto activation = n.options<format::Pool2DOptions>().activation();
  if (n.is_exact() && n.input_info(0).is_quantized()) return average_integers(n, window, activation);
  ops::AttrMap attrs = pool_attrs(window);
  attrs["count_include_pad"] = false;
  Ref x = n.channels_first(n.number(0));
  Ref y = n.before(activation).op("avg_pool2d", {x}, std::move(attrs));
  BUDA_ASSIGN(y, n.activated(y, activation));
  n.output_number(n.channels_last(y));
  return success();
}

Result<void> import_l2_pool(NodeImport& n) {
  BUDA_ASSIGN(auto window, pool_window(n));
  auto activation = n.options<format::Pool2DOptions>().activation();
  ops::AttrMap attrs = pool_attrs(window);
  attrs["count_include_pad"] = false;
  Ref x = n.channels_first(n.number(0));
  Ref squares = n.step("squares").square(x);
  Ref mean = n.step("mean").op("avg_pool2d", {squares}, std::move(attrs));
  BUDA_ASSIGN(Ref y, n.activated(n.before(activation).sqrt(mean), activation));
  n.output_number(n.channels_last(y));
  return success();
}

constexpr OpImporter kPoolingOps[] = {
    {Code::AVERAGE_POOL_2D, import_average_pool, {}, Exactness::exact},
    {Code::L2_POOL_2D, import_l2_pool},
    {Code::MAX_POOL_2D, import_max_pool, {}, Exactness::exact},
};

}  // namespace

std::span<const OpImporter> pooling_ops() { return kPoolingOps; }

}  // namespace buda::tflite_frontend
