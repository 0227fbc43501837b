// SPDX-License-Identifier: Apache-2.0
// Windows that slide along axes, as values of their own: what they show is gathered.
#include "call.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <numeric>

namespace buda::torchscript {
namespace {

// Of `count` windows of `size` elements; [count, size], or [size, count].
struct Windows {
  std::int64_t count = 0, size = 0, step = 1, dilation = 1;

  Tensor places(bool by_element) const {
    std::vector<std::int64_t> out;
    const std::int64_t outer = by_element ? size : count, inner = by_element ? count : size;
    for (std::int64_t i = 0; i < outer; ++i)
      for (std::int64_t k = 0; k < inner; ++k) out.push_back((by_element ? k : i) * step + (by_element ? i : k) * dilation);
    return Tensor(Shape{outer, inner}, std::move(out));
  }
};

constexpr std::int64_t kMaxPlaces = 1 << 24;

// Nothing where no window fits.
std::optional<Windows> windows_along(std::int64_t length, std::int64_t size, std::int64_t step, std::int64_t dilation) {
  if (size < 1 || step < 1 || dilation < 1 || size > length || dilation > kMaxPlaces) return std::nullopt;
  const std::int64_t reach = dilation * (size - 1) + 1;
  if (reach > length) return std::nullopt;
  Windows out{(length - reach) / step + 1, size, step, dilation};
  if (out.count > kMaxPlaces / size) return std::nullopt;
  return out;
}

// [..., count, ..., size]
Result<Value> slide_unfold(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(auto axis, n.axis_or("dimension", 0, shape.rank()));
  BUDA_ASSIGN(auto size, n.integer("size"));
  BUDA_ASSIGN(auto step, n.integer("step"));
  if (shape.rank() == 0) return n.refuse("its input is a single number");
  auto windows = windows_along(shape[static_cast<std::size_t>(axis)], size, step, 1);
  if (!windows)
    return n.refuse(cat("windows of ", size, " elements with steps of ", step, " do not fit axis ", axis, " of ", shape.text()));
  Ref x = n.ref("self"), at = n.constant(windows->places(false));
  Ref parts = n.step("parts").op("gather", {x, at}, {{"dim", axis}});
  Dims order(shape.rank() + 1);
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis + 1);
  order.push_back(axis + 1);
  return n.tensor(n.result().transpose(parts, std::move(order)));
}

// The windows of images as columns: [N, C * kernel, windows].
Result<Value> slide_im2col(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(Dims kernel, n.sizes_or("kernel_size", 2, 1));
  BUDA_ASSIGN(Dims dilation, n.sizes_or("dilation", 2, 1));
  BUDA_ASSIGN(Dims padding, n.sizes_or("padding", 2, 0));
  BUDA_ASSIGN(Dims stride, n.sizes_or("stride", 2, 1));
  if (shape.rank() != 3 && shape.rank() != 4) return n.refuse(cat("its input is ", shape.text(), "; images are needed"));
  Ref x = n.ref("self");
  Dims sizes(shape.begin(), shape.end());
  if (shape.rank() == 3) {
    sizes.insert(sizes.begin(), 1);
    x = n.step("batch").reshape(x, Shape(sizes));
  }
  std::optional<Windows> along[2];
  for (std::size_t i = 0; i < 2; ++i) {
    if (padding[i] < 0 || padding[i] > kMaxPlaces) return n.refuse(cat("its padding is ", padding[i]));
    along[i] = windows_along(sizes[2 + i] + 2 * padding[i], kernel[i], stride[i], dilation[i]);
    if (!along[i])
      return n.refuse(cat("windows of ", kernel[0], " by ", kernel[1], " elements do not fit an input of shape ", shape.text()));
  }
  if (padding[0] != 0 || padding[1] != 0) x = n.step("pad").pad(x, {0, 0, padding[0], padding[1]}, {0, 0, padding[0], padding[1]});
  Ref rows = n.constant(along[0]->places(true)), columns = n.constant(along[1]->places(true));
  x = n.step("rows").op("gather", {x, rows}, {{"dim", std::int64_t{2}}});
  x = n.step("columns").op("gather", {x, columns}, {{"dim", std::int64_t{4}}});
  x = n.step("order").transpose(x, {0, 1, 2, 4, 3, 5});
  Dims result{sizes[0], sizes[1] * kernel[0] * kernel[1], along[0]->count * along[1]->count};
  if (shape.rank() == 3) result.erase(result.begin());
  return n.tensor(n.result().reshape(x, Shape(std::move(result))));
}

constexpr OpImporter kSlidingOps[] = {
    {"im2col", "self kernel_size dilation padding stride", slide_im2col},
    {"unfold", "self dimension size step", slide_unfold, "", "a copy, not a view"},
};

}  // namespace

std::span<const OpImporter> sliding_ops() { return kSlidingOps; }

}  // namespace buda::torchscript
