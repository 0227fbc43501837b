// SPDX-License-Identifier: Apache-2.0
// Custom operators of MediaPipe's models: a transposed convolution with a bias, and pools that keep where their maxima were, with what puts
// them back. Their options are structures of 32-bit integers.
#include "node_import.hpp"
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace buda::tflite_frontend {
namespace {

using Ref = NodeImport::Ref;
using frontend::Dims;

constexpr std::int32_t kSamePadding = 1, kValidPadding = 2;

Result<std::vector<std::int32_t>> custom_integers(const NodeImport& n, std::size_t count) {
  const std::string_view bytes = n.custom_options();
  if (bytes.size() < 4 * count) return n.refuse(cat("its options have ", bytes.size(), " bytes; ", 4 * count, " are needed"));
  std::vector<std::int32_t> out(count);
  std::memcpy(out.data(), bytes.data(), 4 * count);
  if (out[0] != kSamePadding && out[0] != kValidPadding)
    return n.refuse(cat("its padding is ", out[0], "; 1 (same) and 2 (valid) are known"));
  for (std::size_t i = 1; i < count; ++i)
    if (out[i] < 1 || out[i] > (1 << 20)) return n.refuse(cat("its strides or windows have ", out[i]));
  return out;
}

// Inputs: x, weights [outputs, rows, columns, inputs], bias. Options: padding, strides of columns and rows.
Result<void> import_transpose_conv_bias(NodeImport& n) {
  BUDA_ASSIGN(auto options, custom_integers(n, 3));
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape w, n.shape(1));
  BUDA_ASSIGN(Shape b, n.shape(2));
  if (x.rank() != 4 || w.rank() != 4 || w[3] != x[3] || b != Shape{w[0]})
    return n.refuse(
        cat("its input is ", x.text(), ", its weights ", w.text(), " and its bias ", b.text(), ", which do not fit each other"));
  const Dims stride{options[2], options[1]};
  Dims padding(4, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t total = options[0] == kValidPadding ? 0 : std::max<std::int64_t>(0, w[i + 1] - (x[i + 1] - 1) % stride[i] - 1);
    padding[i] = total / 2;
    padding[2 + i] = total - total / 2;
  }
  Ref image = n.channels_first(n.number(0)), kernel = n.number(1), bias = n.number(2);
  kernel = n.step("weights.first").transpose(kernel, {3, 0, 1, 2});
  n.output_number(n.channels_last(n.result().op("conv2d_transpose", {image, kernel, bias}, {{"stride", stride}, {"padding", padding}})));
  return success();
}

// ---- pools; options: padding, strides of columns and rows, columns and rows of the window

struct Blocks {
  std::int64_t rows = 1, columns = 1;  // of a window
  bool same = false;
};

Result<Blocks> blocks_of(const NodeImport& n) {
  BUDA_ASSIGN(auto options, custom_integers(n, 5));
  if (options[1] != options[3] || options[2] != options[4])
    return n.refuse(cat("its windows of ", options[4], " x ", options[3], " elements have strides of ", options[2], " x ", options[1],
                        "; windows that lie next to each other are supported"));
  return Blocks{options[4], options[3], options[0] == kSamePadding};
}

// Images [samples, rows, columns, channels] as [samples, windows, windows, channels, elements of a window]; what is missing at the borders
// is the smallest number.
Result<Ref> windows_of_image(NodeImport& n, Ref image, const Shape& x, const Blocks& blocks) {
  Dims before(4, 0), after(4, 0), counts;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = x[i + 1], block = i == 0 ? blocks.rows : blocks.columns;
    const std::int64_t count = blocks.same ? (size + block - 1) / block : size / block, missing = count * block - size;
    if (count < 1) return n.refuse(cat("its input ", x.text(), " is smaller than its windows"));
    counts.push_back(count);
    if (missing > 0) {
      before[i + 1] = missing / 2;
      after[i + 1] = missing - missing / 2;
    } else if (missing < 0) {
      image = n.step(i == 0 ? "rows" : "columns").slice(image, static_cast<std::int64_t>(i) + 1, 0, count * block);
    }
  }
  if (std::any_of(after.begin(), after.end(), [](std::int64_t v) { return v != 0; }))
    image = n.step("bordered").pad(image, before, after, std::numeric_limits<float>::lowest());
  Ref apart = n.step("apart").reshape(image, Shape{x[0], counts[0], blocks.rows, counts[1], blocks.columns, x[3]});
  Ref turned = n.step("turned").transpose(apart, {0, 1, 3, 5, 2, 4});
  return n.step("windows").reshape(turned, Shape{x[0], counts[0], counts[1], x[3], blocks.rows * blocks.columns});
}

// The second result is the number of the largest element in its window, row by row, plus 0.1.
Result<void> import_pool_with_argmax(NodeImport& n) {
  BUDA_ASSIGN(Blocks blocks, blocks_of(n));
  BUDA_ASSIGN(Shape x, n.shape(0));
  if (x.rank() != 4) return n.refuse(cat("its input is ", x.text(), "; four axes are needed"));
  Ref image = n.number(0);
  BUDA_ASSIGN(Ref windows, windows_of_image(n, image, x, blocks));
  n.output_number(n.result().reduce_max(windows, {-1}, false));
  if (!n.has_output(1)) return success();
  Ref place = n.step("place").op("argmax", {windows}, {{"dim", std::int64_t{-1}}, {"keep_dims", false}});
  Ref number = n.cast(place, DType::f32, "number"), tenth = n.step("tenth").constant(0.1F);
  n.output_number(n.step("indices").add(number, tenth), 1);
  return success();
}

// Each value goes to the place in its window that its index names; zeros elsewhere.
Result<void> import_unpool(NodeImport& n) {
  BUDA_ASSIGN(Blocks blocks, blocks_of(n));
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape at, n.shape(1));
  const std::int64_t elements = blocks.rows * blocks.columns;
  if (x.rank() != 4 || at != x || elements > 4096) return n.refuse(cat("its input is ", x.text(), " and its indices ", at.text()));
  std::vector<float> numbers(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  Ref values = n.number(0), indices = n.number(1);
  Ref whole = n.step("whole").op("floor", {indices});
  Ref column = n.step("column").unsqueeze(whole, {4}), places = n.step("places").constant(Tensor(Shape{elements}, std::move(numbers)));
  Ref hit = n.step("hit").op("equal", {column, places});
  Ref mask = n.cast(hit, DType::f32, "mask");
  values = n.step("values").unsqueeze(values, {4});
  Ref windows = n.step("windows").op("multiply", {values, mask}, {{"masks", true}});
  Ref apart = n.step("apart").reshape(windows, Shape{x[0], x[1], x[2], x[3], blocks.rows, blocks.columns});
  Ref turned = n.step("turned").transpose(apart, {0, 1, 4, 2, 5, 3});
  n.output_number(n.result().reshape(turned, Shape{x[0], x[1] * blocks.rows, x[2] * blocks.columns, x[3]}));
  return success();
}

struct CustomOp {
  std::string_view name;
  OpImporter importer;
};

constexpr CustomOp kCustomOps[] = {
    {"Convolution2DTransposeBias", {Code::CUSTOM, import_transpose_conv_bias, {}, Exactness::rounded, "of MediaPipe"}},
    {"MaxPoolingWithArgmax2D", {Code::CUSTOM, import_pool_with_argmax, {}, Exactness::rounded, "of MediaPipe; windows next to each other"}},
    {"MaxUnpooling2D", {Code::CUSTOM, import_unpool, {}, Exactness::rounded, "of MediaPipe; windows next to each other"}},
};

}  // namespace

const OpImporter* find_custom_importer(std::string_view name) {
  for (const CustomOp& op : kCustomOps)
    if (op.name == name) return &op.importer;
  return nullptr;
}

std::vector<std::string_view> custom_op_names() {
  std::vector<std::string_view> out;
  for (const CustomOp& op : kCustomOps) out.push_back(op.name);
  return out;
}

}  // namespace buda::tflite_frontend
