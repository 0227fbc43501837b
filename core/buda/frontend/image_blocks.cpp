// SPDX-License-Identifier: Apache-2.0
// Blocks of images: reshapes around a transpose.
#include <buda/frontend/image_blocks.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::frontend {
namespace {

using Ref = graph::ValueRef;

constexpr std::int64_t kLargestBlock = std::int64_t{1} << 26, kLargestSize = std::int64_t{1} << 30;

Result<void> check_block(const OpImport& op, const Shape& shape, const Dims& block, const Dims& pairs) {
  bool fits = shape.rank() >= block.size() + 1 && pairs.size() == 2 * block.size();
  for (auto b : block) fits = fits && b >= 1 && b < kLargestBlock;
  for (auto p : pairs) fits = fits && p >= 0 && p < kLargestBlock;
  if (fits) return success();
  return op.refuse(cat("its block ", list_text(block), " and borders ", list_text(pairs), " do not fit its input ", shape.text()));
}

}  // namespace

// [n, r, c, d] as [n, r / b, b, c / b, b, d], of which the two b move before d.
Result<Ref> space_to_depth(OpImport& op, Ref x, const Shape& shape, std::int64_t b) {
  if (shape.rank() != 4 || b < 1 || shape[1] % b != 0 || shape[2] % b != 0)
    return op.refuse(cat("its input ", shape.text(), " cannot be cut into blocks of ", b));
  Ref cut = op.step("cut").reshape(x, Shape{shape[0], shape[1] / b, b, shape[2] / b, b, shape[3]});
  Ref moved = op.step("moved").transpose(cut, {0, 1, 3, 2, 4, 5});
  return op.result().reshape(moved, Shape{shape[0], shape[1] / b, shape[2] / b, b * b * shape[3]});
}

Result<Ref> depth_to_space(OpImport& op, Ref x, const Shape& shape, std::int64_t b) {
  if (shape.rank() != 4 || b < 1 || b > (1 << 15) || shape[3] % (b * b) != 0)
    return op.refuse(cat("its input ", shape.text(), " cannot be cut into blocks of ", b));
  Ref cut = op.step("cut").reshape(x, Shape{shape[0], shape[1], shape[2], b, b, shape[3] / (b * b)});
  Ref moved = op.step("moved").transpose(cut, {0, 1, 3, 2, 4, 5});
  return op.result().reshape(moved, Shape{shape[0], shape[1] * b, shape[2] * b, shape[3] / (b * b)});
}

// [n, s1 / b1, b1, …, rest] with all b before n.
Result<Ref> space_to_batch(OpImport& op, Ref x, const Shape& shape, const Dims& block, const Dims& pairs, double border) {
  BUDA_TRY(check_block(op, shape, block, pairs));
  std::size_t count = block.size();
  Dims before(shape.rank(), 0), after(shape.rank(), 0), cut{shape[0]}, order, result{shape[0]};
  for (std::size_t i = 0; i < count; ++i) {
    before[i + 1] = pairs[2 * i];
    after[i + 1] = pairs[2 * i + 1];
    std::int64_t size = shape[i + 1] + before[i + 1] + after[i + 1], b = block[i];
    if (size % b != 0) return op.refuse(cat("axis ", i + 1, " of its input ", shape.text(), " cannot be cut into blocks of ", b));
    cut.insert(cut.end(), {size / b, b});
    order.push_back(static_cast<std::int64_t>(2 * i + 2));
    result[0] *= b;
    if (result[0] > (std::int64_t{1} << 31)) return op.refuse(cat("its block ", list_text(block), " is too large"));
    result.push_back(size / b);
  }
  order.push_back(0);
  for (std::size_t i = 0; i < count; ++i) order.push_back(static_cast<std::int64_t>(2 * i + 1));
  for (std::size_t axis = count + 1; axis < shape.rank(); ++axis) {
    cut.push_back(shape[axis]);
    order.push_back(static_cast<std::int64_t>(axis + count));
    result.push_back(shape[axis]);
  }
  x = op.step("padded").pad(x, before, after, border);
  x = op.step("cut").reshape(x, Shape(cut));
  x = op.step("moved").transpose(x, order);
  return op.result().reshape(x, Shape(result));
}

Result<Ref> batch_to_space(OpImport& op, Ref x, const Shape& shape, const Dims& block, const Dims& pairs) {
  BUDA_TRY(check_block(op, shape, block, pairs));
  std::size_t count = block.size();
  std::int64_t places = 1;
  Dims cut, order{static_cast<std::int64_t>(count)}, joined;
  for (auto b : block) {
    places *= b;
    cut.push_back(b);
    if (places > kLargestBlock) return op.refuse(cat("its block ", list_text(block), " is too large"));
  }
  if (shape[0] % places != 0) return op.refuse(cat("its input ", shape.text(), " has no blocks of ", list_text(block)));
  cut.push_back(shape[0] / places);
  joined.push_back(shape[0] / places);
  for (std::size_t i = 0; i < count; ++i) {
    order.insert(order.end(), {static_cast<std::int64_t>(count + 1 + i), static_cast<std::int64_t>(i)});
    joined.push_back(shape[i + 1] * block[i]);
  }
  for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
    cut.push_back(shape[axis]);
    if (axis <= count) continue;
    order.push_back(static_cast<std::int64_t>(axis + count));
    joined.push_back(shape[axis]);
  }
  x = op.step("cut").reshape(x, Shape(cut));
  x = op.step("moved").transpose(x, order);
  x = op.step("joined").reshape(x, Shape(joined));
  for (std::size_t i = 0; i < count; ++i) {
    auto axis = static_cast<std::int64_t>(i + 1);
    x = op.step(cat("cropped", axis)).slice(x, axis, pairs[2 * i], joined[i + 1] - pairs[2 * i + 1]);
  }
  return op.result().identity(x);
}

Result<ops::AttrMap> transposed_window(const OpImport& op, const Dims& x, const Dims& kernel, const Dims& result, const Dims& stride,
                                       bool same) {
  std::size_t rank = x.size();
  Dims padding(2 * rank), more(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t size = result[i];
    if (size < 1 || size > kLargestSize || stride[i] < 1 || stride[i] > kLargestSize || kernel[i] > kLargestSize || x[i] > kLargestSize)
      return op.refuse(cat("its result ", list_text(result), " or stride ", list_text(stride), " is impossible"));
    std::int64_t windows = same ? (size + stride[i] - 1) / stride[i] : (size + stride[i] - kernel[i]) / stride[i];
    std::int64_t total = std::max<std::int64_t>(0, (windows - 1) * stride[i] + kernel[i] - size);
    padding[i] = total / 2;
    std::int64_t after = (x[i] - 1) * stride[i] + kernel[i] - padding[i] - size;
    if (after < 0) more[i] = -after;
    padding[rank + i] = std::max<std::int64_t>(after, 0);
  }
  ops::AttrMap attrs;
  if (std::any_of(stride.begin(), stride.end(), [](auto s) { return s != 1; })) attrs["stride"] = stride;
  if (std::any_of(padding.begin(), padding.end(), [](auto p) { return p != 0; })) attrs["padding"] = std::move(padding);
  if (std::any_of(more.begin(), more.end(), [](auto m) { return m != 0; })) attrs["output_padding"] = std::move(more);
  return attrs;
}

}  // namespace buda::frontend
